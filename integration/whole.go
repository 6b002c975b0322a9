package integration

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// ErrNotWhole says that an answer lacks something that is needed. "There are no namespaces" and
// "the namespaces are null because of a fault" must never look the same: an integration that
// takes the second for the first deletes everything.
var ErrNotWhole = errors.New("the answer is not whole")

// Ask sends a query and returns its answer, see [DecodeAnswer].
func Ask[T any](ctx context.Context, query QueryFunc, text string, variables map[string]any) (T, error) {
	var into T
	raw, err := query(ctx, text, variables)
	if err != nil {
		return into, err
	}
	return into, DecodeAnswer(raw, &into)
}

// DecodeAnswer reads the data of an answer into a pointer, as encoding/json does, and checks
// that they are whole:
//
//	var data struct {
//		Namespaces []struct {
//			Name   string            `json:"name"`
//			Delete *bool             `json:"delete"`           // may be null
//			Labels map[string]string `json:"labels,omitempty"` // may be null or missing
//		} `json:"namespaces"`
//	}
//
// A field must be there and must not be null, and nor may an item of a list. A pointer, an
// interface and a [json.RawMessage] may be null; a field with omitempty may also be missing.
// Names of keys must be written exactly. What the type does not name is left out. The error
// says where the answer is wrong, such as data.namespaces[2].name, and is [ErrNotWhole] if
// something is missing or null.
func DecodeAnswer(raw []byte, into any) error {
	to := reflect.TypeOf(into)
	if to == nil || to.Kind() != reflect.Pointer || reflect.ValueOf(into).IsNil() {
		return errors.New("an answer can only be decoded into a pointer")
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var value any
	if err := dec.Decode(&value); err != nil {
		return fmt.Errorf("decoding the data of the answer: %w", err)
	}
	if err := checkWhole(value, to.Elem(), "data"); err != nil {
		return err
	}
	if err := json.Unmarshal(raw, into); err != nil {
		return fmt.Errorf("decoding the data of the answer: %w", err)
	}
	return nil
}

var (
	rawMessage  = reflect.TypeFor[json.RawMessage]()
	unmarshaler = reflect.TypeFor[json.Unmarshaler]()
)

// checkWhole returns an error if a value lacks something that a type needs.
func checkWhole(v any, t reflect.Type, at string) error {
	isNull := v == nil
	switch {
	case t == rawMessage, t.Kind() == reflect.Interface, isNull && t.Kind() == reflect.Pointer:
		return nil
	case isNull:
		return fmt.Errorf("%s is null: %w", at, ErrNotWhole)
	case t.Kind() == reflect.Pointer:
		return checkWhole(v, t.Elem(), at)
	case reflect.PointerTo(t).Implements(unmarshaler):
		return nil
	}
	switch t.Kind() {
	case reflect.Struct:
		o, ok := v.(map[string]any)
		if !ok {
			return wrongKind(v, at, "an object")
		}
		return checkFields(o, t, at)
	case reflect.Map:
		o, ok := v.(map[string]any)
		if !ok {
			return wrongKind(v, at, "an object")
		}
		for _, key := range slices.Sorted(maps.Keys(o)) {
			if err := checkWhole(o[key], t.Elem(), at+"."+key); err != nil {
				return err
			}
		}
	case reflect.Slice, reflect.Array:
		list, ok := v.([]any)
		if !ok {
			return wrongKind(v, at, "a list")
		}
		for i, item := range list {
			if err := checkWhole(item, t.Elem(), at+"["+strconv.Itoa(i)+"]"); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkFields returns an error if an object lacks something that a struct needs.
func checkFields(o map[string]any, t reflect.Type, at string) error {
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && name == "" && f.Type.Kind() == reflect.Struct:
			if err := checkFields(o, f.Type, at); err != nil {
				return err
			}
			continue
		case !f.IsExported(), name == "-" && options == "":
			continue
		case name == "":
			name = f.Name
		}
		for key := range o {
			if key != name && strings.EqualFold(key, name) { // encoding/json would take it for name
				return fmt.Errorf("%s has the key %q, which is not %q", at, key, name)
			}
		}
		v, ok := o[name]
		isOptional := strings.Contains(options, "omitempty") || strings.Contains(options, "omitzero")
		switch {
		case v == nil && isOptional:
		case !ok:
			return fmt.Errorf("%s.%s is missing: %w", at, name, ErrNotWhole)
		default:
			if err := checkWhole(v, f.Type, at+"."+name); err != nil {
				return err
			}
		}
	}
	return nil
}

// wrongKind returns the error about a value that is of another kind than a type wants.
func wrongKind(v any, at, want string) error {
	is := "an object"
	switch v.(type) {
	case string:
		is = "a string"
	case json.Number:
		is = "a number"
	case bool:
		is = "a truth value"
	case []any:
		is = "a list"
	}
	return fmt.Errorf("%s is %s, and must be %s", at, is, want)
}
