package native

import (
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
)

// checkComparable returns an error if a value cannot be written as JSON, or if JSON leaves out a
// part of it. Two bodies that differ there alone would count as the same, and a change would be
// skipped; two targets would, and a secret would go to another address.
func checkComparable(v any) error {
	if _, err := json.Marshal(v); err != nil {
		return err
	}
	return checkValue(reflect.ValueOf(v), 0)
}

// maxDepth is how deep values may be nested. JSON refuses values that hold themselves.
const maxDepth = 100

var (
	marshaler     = reflect.TypeFor[json.Marshaler]()
	textMarshaler = reflect.TypeFor[encoding.TextMarshaler]()
)

func checkValue(v reflect.Value, depth int) error {
	if depth > maxDepth {
		return fmt.Errorf("it is nested more than %d levels deep", maxDepth)
	}
	if !v.IsValid() || v.Type().Implements(marshaler) || v.Type().Implements(textMarshaler) {
		return nil
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		return checkValue(v.Elem(), depth+1)
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			if err := checkValue(v.Index(i), depth+1); err != nil {
				return err
			}
		}
	case reflect.Map:
		for _, k := range v.MapKeys() {
			if err := checkValue(v.MapIndex(k), depth+1); err != nil {
				return err
			}
		}
	case reflect.Struct:
		return checkStruct(v, depth)
	}
	return nil
}

func checkStruct(v reflect.Value, depth int) error {
	for i := range v.NumField() {
		f := v.Type().Field(i)
		if !f.IsExported() && !f.Anonymous || f.Tag.Get("json") == "-" {
			return fmt.Errorf("the field %s of %s is not a part of its JSON, so a difference there would not be seen", f.Name,
				v.Type())
		}
		if err := checkValue(v.Field(i), depth+1); err != nil {
			return err
		}
	}
	return nil
}
