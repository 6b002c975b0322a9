package saas

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"
)

// An ordered is a JSON object whose keys keep their order. Of equal keys the last value counts,
// at the place of the first, as in Python.
type ordered struct {
	keys   []string
	values map[string]any
}

// set puts a value.
func (o *ordered) set(key string, value any) {
	if _, known := o.values[key]; !known {
		o.keys = append(o.keys, key)
	}
	o.values[key] = value
}

// MarshalJSON implements [json.Marshaler].
func (o *ordered) MarshalJSON() ([]byte, error) { return json.Marshal(o.values) }

// maxDepth is how deep values may be nested that the data hold as JSON texts.
const maxDepth = 200

// errDeep says that a value is nested too deep.
var errDeep = fmt.Errorf("it is nested more than %d levels deep", maxDepth)

// readJSON reads one JSON text; objects become *ordered and numbers json.Number.
func readJSON(text string) (any, error) {
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	v, err := readValue(dec, 0)
	if err != nil {
		return nil, err
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, errors.New("it has more than one value")
	}
	return v, nil
}

// readValue reads the next value of a decoder.
func readValue(dec *json.Decoder, depth int) (any, error) {
	token, err := dec.Token()
	if err != nil {
		return nil, err
	}
	d, isDelim := token.(json.Delim)
	switch {
	case depth > maxDepth:
		return nil, errDeep
	case !isDelim:
		return token, nil
	case d == '[':
		out := []any{}
		for dec.More() {
			v, err := readValue(dec, depth+1)
			if err != nil {
				return nil, err
			}
			out = append(out, v)
		}
		_, err = dec.Token()
		return out, err
	default:
		out := &ordered{values: map[string]any{}}
		for dec.More() {
			key, err := dec.Token()
			if err != nil {
				return nil, err
			}
			v, err := readValue(dec, depth+1)
			if err != nil {
				return nil, err
			}
			out.set(key.(string), v)
		}
		_, err = dec.Token()
		return out, err
	}
}

// A pythonWriter writes JSON as json.dumps of Python does.
type pythonWriter struct {
	bytes.Buffer
	item, key string // what stands between items, and behind a key
	sorted    bool   // keys are sorted by code point, else they keep their order
}

// sortedJSON returns a value as json.dumps(value, sort_keys=True) writes it.
func sortedJSON(value any) []byte {
	w := pythonWriter{item: ", ", key: ": ", sorted: true}
	w.value(value)
	return w.Bytes()
}

// compactJSON returns a value as json.dumps(value, separators=(",", ":")) writes it.
func compactJSON(value any) string {
	w := pythonWriter{item: ",", key: ":"}
	w.value(value)
	return w.String()
}

// value writes a value.
func (w *pythonWriter) value(value any) {
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
		w.WriteString(pythonNumber(string(v)))
	case float64:
		w.WriteString(pythonFloat(v))
	case []any:
		writeList(w, v)
	case []string:
		writeList(w, v)
	case map[string]any:
		w.object(slices.Sorted(maps.Keys(v)), v)
	case *ordered:
		keys := v.keys
		if w.sorted {
			keys = slices.Sorted(slices.Values(keys))
		}
		w.object(keys, v.values)
	default:
		panic(fmt.Sprintf("saas: no JSON for %T", value)) // a mistake of this package
	}
}

// writeList writes a list; nil is null.
func writeList[V any](w *pythonWriter, list []V) {
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
func (w *pythonWriter) object(keys []string, values map[string]any) {
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
func (w *pythonWriter) text(s string) {
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

// pythonNumber returns a number of JSON as Python writes it after reading it: an integer keeps its
// digits, everything else is a float.
func pythonNumber(text string) string {
	if !strings.ContainsAny(text, ".eE") {
		if n, ok := new(big.Int).SetString(text, 10); ok {
			return n.String()
		}
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) {
		return text
	}
	return pythonFloat(f)
}

// pythonFloat returns a float as repr of Python: the shortest digits, with an exponent below
// 0.0001 and from 1e16 on.
func pythonFloat(f float64) string {
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

// number returns the text of a number as a number.
func number(text string) json.Number { return json.Number(text) }
