package template

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
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

// Fill returns a value of JSON with values in place of references, in texts and in keys of
// maps. Names without a value stay. The value is not changed.
func Fill(value any, values map[string]string) (any, error) {
	f := &filler{values: values, left: maxFilled}
	return f.fill(value)
}

// A filler fills in values. It counts how many bytes of texts it may still write.
type filler struct {
	values      map[string]string
	left, depth int
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
		name := f.text(key)
		if _, isTwice := out[name]; isTwice {
			return nil, fmt.Errorf("two keys become the key %.80q", name)
		}
		out[name] = filled
	}
	return out, f.checkSize()
}

// scalar returns the value that a text becomes.
func (f *filler) scalar(text string) (any, error) {
	name, isWhole := wholeName(text)
	if !isWhole {
		out := f.text(text)
		return out, f.checkSize()
	}
	value, ok := f.values[name]
	if !ok {
		return text, nil
	}
	f.left -= len(value)
	return decodeOrText(value), f.checkSize()
}

// text returns a text with values in place of references. It returns "" once all texts
// together are too large.
func (f *filler) text(text string) string {
	var out strings.Builder
	for {
		begin, end := findReference(text)
		if end < 0 {
			break
		}
		value, ok := f.values[text[begin+2:end-1]]
		if !ok {
			value = text[begin:end]
		}
		if f.left -= begin + len(value); f.left < 0 {
			return ""
		}
		out.WriteString(text[:begin])
		out.WriteString(value)
		text = text[end:]
	}
	f.left -= len(text)
	if out.Len() == 0 {
		return text
	}
	out.WriteString(text)
	return out.String()
}

func (f *filler) checkSize() error {
	if f.left < 0 {
		return errTooLarge
	}
	return nil
}

// decodeOrText returns what a text means in JSON, or the text itself if it means nothing.
func decodeOrText(text string) any {
	dec := json.NewDecoder(bytes.NewReader([]byte(text)))
	dec.UseNumber()
	var out any
	if dec.Decode(&out) != nil || !errors.Is(dec.Decode(new(any)), io.EOF) {
		return text
	}
	return out
}
