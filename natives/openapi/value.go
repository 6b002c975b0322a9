package openapi

import (
	"encoding/json"
	"slices"
	"strconv"

	"github.com/app-sre/prcheck/internal/jsonpointer"
)

// A Kind is the kind of a JSON value.
type Kind uint8

// The kinds of JSON values.
const (
	Null Kind = iota
	Bool
	Number
	String
	Array
	Object
)

// A Value is a value of a JSON document. A nil Value stands for a value that is missing, and
// all methods work on it.
type Value struct {
	Kind   Kind
	text   string // the decoded string, or the literal
	names  []string
	items  []*Value
	index  map[string]int // of objects with many members
	parent *Value
}

// manyMembers is the number of members from which on an object has an index.
const manyMembers = 12

// Get returns the member of an object, nil if there is none.
func (v *Value) Get(name string) *Value {
	if v == nil || v.Kind != Object {
		return nil
	}
	if i := v.find(name); i >= 0 {
		return v.items[i]
	}
	return nil
}

func (v *Value) find(name string) int {
	if v.index != nil {
		if i, ok := v.index[name]; ok {
			return i
		}
		return -1
	}
	for i, n := range v.names {
		if n == name {
			return i
		}
	}
	return -1
}

// Names returns the names of the members of an object, as they are ordered in the document.
func (v *Value) Names() []string {
	if v == nil {
		return nil
	}
	return v.names
}

// Items returns the items of a list, or the values of the members of an object.
func (v *Value) Items() []*Value {
	if v == nil {
		return nil
	}
	return v.items
}

// Text returns the text of a string, and "" of everything else.
func (v *Value) Text() string {
	if v == nil || v.Kind != String {
		return ""
	}
	return v.text
}

// Strings returns the strings of a list. Other items are left out.
func (v *Value) Strings() []string {
	if v == nil || v.Kind != Array {
		return nil
	}
	out := make([]string, 0, len(v.items))
	for _, item := range v.items {
		if item.Kind == String {
			out = append(out, item.text)
		}
	}
	return out
}

// Is reports whether a value is true.
func (v *Value) Is() bool { return v != nil && v.Kind == Bool && v.text == "true" }

// IsObject reports whether a value is an object.
func (v *Value) IsObject() bool { return v != nil && v.Kind == Object }

// MarshalJSON returns the text of a value, without blanks, and with the members and numbers
// as the document has them.
func (v *Value) MarshalJSON() ([]byte, error) { return v.append(nil) }

func (v *Value) append(out []byte) ([]byte, error) {
	if v == nil {
		return append(out, "null"...), nil
	}
	switch v.Kind {
	case String:
		return appendString(out, v.text)
	case Array, Object:
		return v.appendItems(out)
	default:
		return append(out, v.text...), nil
	}
}

func (v *Value) appendItems(out []byte) ([]byte, error) {
	begin, end := byte('['), byte(']')
	if v.Kind == Object {
		begin, end = '{', '}'
	}
	out = append(out, begin)
	for i, item := range v.items {
		var err error
		if i > 0 {
			out = append(out, ',')
		}
		if v.Kind == Object {
			if out, err = appendString(out, v.names[i]); err != nil {
				return nil, err
			}
			out = append(out, ':')
		}
		if out, err = item.append(out); err != nil {
			return nil, err
		}
	}
	return append(out, end), nil
}

func appendString(out []byte, text string) ([]byte, error) {
	raw, err := json.Marshal(text)
	return append(out, raw...), err
}

// Pointer returns the JSON pointer of a value in its document.
func (v *Value) Pointer() string {
	if v == nil || v.parent == nil {
		return ""
	}
	p := v.parent
	i := slices.Index(p.items, v)
	if i < 0 { // it is being read, and will be the next one
		i = len(p.items)
	}
	if p.Kind == Object {
		return jsonpointer.Append(p.Pointer(), p.names[i])
	}
	return p.Pointer() + "/" + strconv.Itoa(i)
}

// At returns the value at a JSON pointer below a value, nil if there is none.
func (v *Value) At(pointer string) *Value {
	if pointer != "" && pointer[0] != '/' {
		return nil
	}
	for _, part := range jsonpointer.Split(pointer) {
		if v == nil {
			return nil
		}
		if v.Kind != Array {
			v = v.Get(part)
			continue
		}
		i, err := strconv.Atoi(part)
		if err != nil || i < 0 || i >= len(v.items) || strconv.Itoa(i) != part {
			return nil
		}
		v = v.items[i]
	}
	return v
}

// Decode returns a value as map[string]any, []any, json.Number, string, bool or nil. Numbers
// stay as the document has them.
func (v *Value) Decode() any {
	if v == nil {
		return nil
	}
	switch v.Kind {
	case Bool:
		return v.text == "true"
	case Number:
		return json.Number(v.text)
	case String:
		return v.text
	case Array:
		out := make([]any, len(v.items))
		for i, item := range v.items {
			out[i] = item.Decode()
		}
		return out
	case Object:
		out := make(map[string]any, len(v.items))
		for i, item := range v.items {
			out[v.names[i]] = item.Decode()
		}
		return out
	}
	return nil
}
