package pyjson

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// An Object is a JSON object whose keys keep their order. Of equal keys the last value counts, at the place of the
// first, as in Python.
type Object struct {
	Keys   []string
	Values map[string]any
}

// Set puts a value.
func (o *Object) Set(key string, value any) {
	if _, known := o.Values[key]; !known {
		o.Keys = append(o.Keys, key)
	}
	o.Values[key] = value
}

// MarshalJSON implements [json.Marshaler].
func (o *Object) MarshalJSON() ([]byte, error) { return json.Marshal(o.Values) }

// MaxDepth is how deep values may be nested.
const MaxDepth = 200

// ErrDeep says that a value is nested too deep.
var ErrDeep = fmt.Errorf("it is nested more than %d levels deep", MaxDepth)

// Read reads one JSON text: objects become [*Object], and numbers [json.Number].
func Read(text string) (any, error) {
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
	case depth > MaxDepth:
		return nil, ErrDeep
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
		out := &Object{Values: map[string]any{}}
		for dec.More() {
			key, err := dec.Token()
			if err != nil {
				return nil, err
			}
			v, err := readValue(dec, depth+1)
			if err != nil {
				return nil, err
			}
			out.Set(key.(string), v)
		}
		_, err = dec.Token()
		return out, err
	}
}
