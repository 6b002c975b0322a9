package template

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
)

// The limits of what is filled in. A value may stand in many places, so a small template could
// become very large.
const (
	maxFilled = 16 << 20 // bytes of all texts
	maxDepth  = 100
)

// errTooLarge says that the texts of a template have become too large.
var errTooLarge = fmt.Errorf("with its values it is larger than %d MiB", maxFilled>>20)

// errTooSlow says that the values of a text take too long to be filled in.
var errTooSlow = errors.New("a text has too many references beside a $ that is none, or with values that have one; " +
	"divide it")

// Fill returns a value of JSON with values in place of references, in texts and in keys of
// maps. Names without a value stay. The value is not changed.
func Fill(value any, values map[string]string) (any, error) {
	f := &filler{values: values, left: maxFilled}
	out, err := f.fill(value)
	if out == (becameNull{}) {
		return nil, err
	}
	return out, err
}

// A filler fills in values. It counts how many bytes of texts it may still write.
type filler struct {
	values      map[string]string
	left, depth int
	isSlow      bool // a text has too many references for its size
}

func (f *filler) fill(value any) (any, error) {
	if f.depth++; f.depth > maxDepth {
		return nil, fmt.Errorf("it is nested deeper than %d levels", maxDepth)
	}
	defer func() { f.depth-- }()
	switch value := value.(type) {
	case string:
		return f.scalar(value)
	case []any:
		out := make([]any, len(value))
		for i := range value {
			var err error
			if out[i], err = f.fill(value[i]); err != nil {
				return nil, err
			}
			if out[i] == (becameNull{}) {
				return nil, fmt.Errorf("%.80q is null, which no item of a list can become", value[i])
			}
		}
		return out, nil
	case map[string]any:
		return f.fillMap(value)
	}
	return value, nil
}

func (f *filler) fillMap(in map[string]any) (any, error) {
	out := make(map[string]any, len(in))
	var keys []string // those that may become others
	for key, value := range in {
		if strings.Contains(key, "${") {
			keys = append(keys, key)
			continue
		}
		filled, err := f.fill(value)
		if err != nil {
			return nil, err
		}
		f.left -= len(key)
		out[key] = filled
	}
	slices.Sort(keys)
	for _, key := range keys {
		filled, err := f.fill(in[key])
		if err != nil {
			return nil, err
		}
		name, err := f.key(key)
		if err != nil {
			return nil, err
		}
		if _, isTwice := out[name]; isTwice {
			return nil, fmt.Errorf("two keys become the key %.80q", name)
		}
		out[name] = filled
	}
	for key, filled := range out {
		if filled == (becameNull{}) {
			delete(out, key)
		}
	}
	return out, f.checkSize()
}

// becameNull stands for a reference in double braces whose value is null. A field of it is left out.
type becameNull struct{}

// key returns the key that a key becomes.
func (f *filler) key(text string) (string, error) {
	value, err := f.scalar(text)
	if err != nil {
		return "", err
	}
	name, isText := value.(string)
	if !isText {
		return "", fmt.Errorf("the key %.80q becomes one that is no text", text)
	}
	return name, nil
}

// scalar returns the value that a text becomes.
func (f *filler) scalar(text string) (any, error) {
	if name, isWhole := wholeName(text); isWhole {
		if value, ok := f.values[name]; ok {
			f.left -= len(value)
			out, err := decode(name, value)
			return out, errors.Join(err, f.checkSize())
		}
	}
	out := f.text(text)
	return out, f.checkSize()
}

// maxScanned is how many bytes are looked at for a text whose values can make new references.
const maxScanned = 256 << 20

// text returns a text with values in place of the references that it has at first. Each value takes the place
// of the first equal reference that is there by then, so a value that holds a later reference is filled in,
// too. text returns "" once all texts together are too large.
func (f *filler) text(text string) string {
	names, makesNone := f.references(text)
	var done strings.Builder // what holds no reference any more
	rest, scanned := text, 0
	for _, name := range names {
		before, after, _ := strings.Cut(rest, "${"+name+"}")
		value := f.values[name]
		if makesNone {
			done.WriteString(before)
			done.WriteString(value)
			rest = after
		} else {
			rest = before + value + after
			scanned += len(rest)
		}
		if scanned > maxScanned {
			f.isSlow = true
		}
		if f.isSlow || done.Len()+len(rest) > f.left {
			f.left = -1
			return ""
		}
	}
	f.left -= done.Len() + len(rest)
	return done.String() + rest
}

// references returns the names of the references of a text that have a value, and whether no value can make
// a new one of them.
func (f *filler) references(text string) (names []string, makesNone bool) {
	makesNone = true
	for {
		begin, end := findReference(text)
		if end < 0 {
			return names, makesNone
		}
		name := text[begin+2 : end-1]
		value, isKnown := f.values[name]
		if isKnown {
			names = append(names, name)
		}
		makesNone = makesNone && !strings.Contains(text[:begin], "$") && !strings.Contains(value, "$")
		text = text[end:]
	}
}

func (f *filler) checkSize() error {
	switch {
	case f.isSlow:
		return errTooSlow
	case f.left < 0:
		return errTooLarge
	}
	return nil
}

// maxExact is the largest number up to which each whole number is one of double precision.
const maxExact = 1 << 53

// decode returns what the value of a parameter means as JSON, with numbers in double precision, or else
// between quotes.
func decode(name, text string) (out any, err error) {
	if json.Unmarshal([]byte(text), &out) != nil {
		if err := json.Unmarshal([]byte(`"`+text+`"`), &out); err != nil {
			return nil, fmt.Errorf("the value of %s is no JSON, and no text between quotes", name)
		}
	}
	if out == nil {
		return becameNull{}, nil
	}
	return whole(out), nil
}

// whole returns a value of JSON with whole numbers as they are in documents.
func whole(value any) any {
	switch value := value.(type) {
	case float64:
		if n := int64(value); math.Abs(value) <= maxExact && float64(n) == value && !math.Signbit(value) == (n >= 0) {
			return n
		}
	case []any:
		for i := range value {
			value[i] = whole(value[i])
		}
	case map[string]any:
		for key := range value {
			value[key] = whole(value[key])
		}
	}
	return value
}
