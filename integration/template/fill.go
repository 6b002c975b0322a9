package template

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// A reference names a parameter. A whole reference is a text that becomes a value of any type.
var (
	reference      = regexp.MustCompile(`\$\{[a-zA-Z0-9_]+\}`)
	wholeReference = regexp.MustCompile(`^\$\{\{([a-zA-Z0-9_]+)\}\}$`)
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
	for _, key := range slices.Sorted(maps.Keys(in)) {
		value, err := f.fill(in[key])
		if err != nil {
			return nil, err
		}
		name := f.text(key)
		if _, isTwice := out[name]; isTwice {
			return nil, fmt.Errorf("two keys become the key %.80q", name)
		}
		out[name] = value
	}
	return out, nil
}

// scalar returns the value that a text becomes.
func (f *filler) scalar(text string) (any, error) {
	found := wholeReference.FindStringSubmatch(text)
	if found == nil {
		out := f.text(text)
		return out, f.checkSize()
	}
	value, ok := f.values[found[1]]
	if !ok {
		return text, nil
	}
	f.left -= len(value)
	return decodeOrText(value), f.checkSize()
}

// text returns a text with values in place of references. It returns "" once all texts
// together are too large.
func (f *filler) text(text string) string {
	if !strings.Contains(text, "${") {
		f.left -= len(text)
		return text
	}
	var out strings.Builder
	end := 0
	for _, at := range reference.FindAllStringIndex(text, -1) {
		value, ok := f.values[text[at[0]+2:at[1]-1]]
		if !ok {
			continue
		}
		if f.left -= at[0] - end + len(value); f.left < 0 {
			return ""
		}
		out.WriteString(text[end:at[0]])
		out.WriteString(value)
		end = at[1]
	}
	f.left -= len(text) - end
	out.WriteString(text[end:])
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
