package pyjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"
)

// A writer writes JSON.
type writer struct {
	bytes.Buffer
	item, key string // what stands between items, and behind a key
	sorted    bool   // keys are sorted by code point, else they keep their order
}

// Sorted returns a value as json.dumps(value, sort_keys=True) writes it.
func Sorted(value any) []byte {
	w := writer{item: ", ", key: ": ", sorted: true}
	w.value(value)
	return w.Bytes()
}

// Compact returns a value as json.dumps(value, separators=(",", ":")) writes it.
func Compact(value any) string {
	w := writer{item: ",", key: ":"}
	w.value(value)
	return w.String()
}

// CompactSorted returns a value as json.dumps(value, separators=(",", ":"), sort_keys=True) writes it.
func CompactSorted(value any) string {
	w := writer{item: ",", key: ":", sorted: true}
	w.value(value)
	return w.String()
}

// value writes a value.
func (w *writer) value(value any) {
	switch v := value.(type) {
	case nil:
		w.WriteString("null")
	case bool:
		w.WriteString(strconv.FormatBool(v))
	case string:
		w.text(v)
	case *string:
		if v == nil {
			w.WriteString("null")
			return
		}
		w.text(*v)
	case int:
		w.WriteString(strconv.Itoa(v))
	case json.Number:
		w.WriteString(Number(string(v)))
	case float64:
		w.WriteString(float(v))
	case []any:
		writeList(w, v)
	case []string:
		writeList(w, v)
	case map[string]any:
		w.object(slices.Sorted(maps.Keys(v)), v)
	case *Object:
		keys := v.Keys
		if w.sorted {
			keys = slices.Sorted(slices.Values(keys))
		}
		w.object(keys, v.Values)
	default:
		panic(fmt.Sprintf("pyjson: no JSON for %T", value)) // a mistake of the caller
	}
}

// writeList writes a list; nil is null.
func writeList[V any](w *writer, list []V) {
	if list == nil {
		w.WriteString("null")
		return
	}
	w.WriteByte('[')
	for i, v := range list {
		if i > 0 {
			w.WriteString(w.item)
		}
		w.value(v)
	}
	w.WriteByte(']')
}

// object writes an object.
func (w *writer) object(keys []string, values map[string]any) {
	w.WriteByte('{')
	for i, key := range keys {
		if i > 0 {
			w.WriteString(w.item)
		}
		w.text(key)
		w.WriteString(w.key)
		w.value(values[key])
	}
	w.WriteByte('}')
}

// text writes a text in quotes, with escapes for all but printable ASCII.
func (w *writer) text(s string) {
	const hex = "0123456789abcdef"
	escape := func(unit uint16) {
		w.WriteString(`\u`)
		for shift := 12; shift >= 0; shift -= 4 {
			w.WriteByte(hex[unit>>shift&0xf])
		}
	}
	w.WriteByte('"')
	for _, r := range s {
		short := strings.IndexRune("\"\\\n\r\t\f\b", r)
		switch {
		case short >= 0:
			w.WriteByte('\\')
			w.WriteByte(`"\nrtfb`[short])
		case r >= ' ' && r <= '~':
			w.WriteByte(byte(r))
		case r <= 0xffff:
			escape(uint16(r))
		default:
			escape(uint16(0xd800 + (r-0x10000)>>10))
			escape(uint16(0xdc00 + (r-0x10000)&0x3ff))
		}
	}
	w.WriteByte('"')
}

// Number returns a number of JSON as Python writes it after reading it: an integer keeps its digits, everything else is
// a float. An integer of more than 4,000 digits stays as it is written.
func Number(text string) string {
	if !strings.ContainsAny(text, ".eE") {
		if len(text) > maxDigits {
			return text
		}
		if n, ok := new(big.Int).SetString(text, 10); ok {
			return n.String() // -0 is 0
		}
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) {
		return text
	}
	return float(f)
}

// maxDigits bounds how long an integer is read.
const maxDigits = 4000

// float returns a float as repr of Python: the shortest digits, with an exponent below
// 0.0001 and from 1e16 on.
func float(f float64) string {
	text := strconv.FormatFloat(f, 'e', -1, 64)
	mantissa, exponent, ok := strings.Cut(text, "e")
	if !ok {
		return strings.NewReplacer("+Inf", "Infinity", "-Inf", "-Infinity").Replace(text)
	}
	n, _ := strconv.Atoi(exponent)
	if n < -4 || n >= 16 {
		return mantissa + "e" + exponent
	}
	text = strconv.FormatFloat(f, 'f', -1, 64)
	if !strings.Contains(text, ".") {
		text += ".0"
	}
	return text
}
