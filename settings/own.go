package settings

import (
	"encoding"
	"errors"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// Own are the settings that a native integration reads itself. The zero value is no
// settings.
type Own struct {
	File string // name of the settings file
	At   string // where they stand in the file, such as integrations.a.settings
	Line int    // 0 if there are none
	node *yaml.Node
}

// IsZero reports whether there are no settings.
func (s Own) IsZero() bool { return s.node == nil }

// Mistake returns an error about a value of the settings, with file and line. The path leads
// to the value by keys and positions ("0" is the first item); without a path the error is
// about the settings as a whole. Of a path that leads nowhere, the last value that is there
// gives the line.
func (s Own) Mistake(message string, path ...string) error {
	at, line, n := s.At, s.Line, s.node
	for _, part := range path {
		_, err := strconv.Atoi(part)
		if isKey := n != nil && n.Kind == yaml.MappingNode; isKey || err != nil {
			at += "." + part
		} else {
			at += "[" + part + "]"
		}
		if n = below(n, part); n != nil {
			line = n.Line
		}
	}
	return &Error{File: s.File, Line: line, Msg: at + ": " + message}
}

// below returns the value of a key or at a position of a node, nil if there is none.
func below(n *yaml.Node, part string) *yaml.Node {
	switch {
	case n == nil:
	case n.Kind == yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			if n.Content[i].Value == part {
				return n.Content[i+1]
			}
		}
	case n.Kind == yaml.SequenceNode:
		if i, err := strconv.Atoi(part); err == nil && i >= 0 && i < len(n.Content) {
			return n.Content[i]
		}
	}
	return nil
}

// readOwn reads the key settings of an integration. Its native decides what may stand there.
func (r *reader) readOwn(n *yaml.Node, at string) Own {
	r.note(n, constraint{"type": "object"})
	if !r.checkKind(n, yaml.MappingNode, at, "a mapping") {
		return Own{}
	}
	r.readAny(n, at)
	return Own{File: r.File, At: at, Line: n.Line, node: n}
}

// readAny reads a value of any kind: a map by strings, a list, or a scalar as YAML has it.
func (r *reader) readAny(n *yaml.Node, at string) any {
	switch n.Kind {
	case yaml.MappingNode:
		out := map[string]any{}
		for _, e := range r.entries(n, at) {
			out[e.key] = r.readAny(e.value, at+"."+e.key)
		}
		return out
	case yaml.SequenceNode:
		out := make([]any, len(n.Content))
		for i, item := range n.Content {
			out[i] = r.readAny(item, at+indexSuffix(i))
		}
		return out
	}
	if n.Kind == yaml.ScalarNode && n.ShortTag() == "!!timestamp" {
		return n.Value // YAML takes a day without quotes for a time
	}
	known := []string{"!!str", "!!int", "!!float", "!!bool", "!!null"}
	var out any
	if n.Kind == yaml.ScalarNode && slices.Contains(known, n.ShortTag()) && n.Decode(&out) == nil {
		if f, ok := out.(float64); !ok || !math.IsNaN(f) && !math.IsInf(f, 0) {
			return out
		}
	}
	r.fail(n.Line, at, "must be a string, a number, a truth value, a list or a mapping, got %s", describeNode(n))
	return nil
}

// value returns the settings without lines, for a comparison.
func (s Own) value() any {
	if s.node == nil {
		return nil
	}
	return new(reader).readAny(s.node, s.At)
}

// Decode reads the settings into a pointer to a struct. The names of keys are those of the
// yaml tags, or else the names of the fields in lower case. Structs, lists, maps by strings
// and pointers may be nested, and the fields of an embedded struct stand beside those around
// it; a time.Duration is written as 10m, and what implements [encoding.TextUnmarshaler] reads
// its own text.
//
// Decode is strict: an unknown key, a value of another type, a number that is out of range and
// a key without a value are mistakes. The error joins one [Error] per mistake. What no
// key says is left as it is, so that defaults can be filled in before.
func (s Own) Decode(into any) error {
	v := reflect.ValueOf(into)
	if v.Kind() != reflect.Pointer || v.IsNil() || v.Elem().Kind() != reflect.Struct {
		return errors.New("own settings can only be decoded into a pointer to a struct")
	}
	if s.node == nil {
		return nil
	}
	r := &reader{Mistakes: Mistakes{File: s.File}, misspelt: map[*yaml.Node]bool{}}
	r.decode(s.node, s.At, v.Elem())
	return r.Err()
}

// decode reads a value into v.
func (r *reader) decode(n *yaml.Node, at string, v reflect.Value) {
	if r.decodeText(n, at, v) {
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		to := reflect.New(v.Type().Elem())
		r.decode(n, at, to.Elem())
		v.Set(to)
	case reflect.Struct:
		r.decodeStruct(n, at, v)
	case reflect.Map:
		r.decodeMap(n, at, v)
	case reflect.Slice:
		items := r.readList(n, at)
		list := reflect.MakeSlice(v.Type(), len(items), len(items))
		for i, item := range items {
			r.decode(item, at+indexSuffix(i), list.Index(i))
		}
		v.Set(list)
	case reflect.Interface:
		if value := r.readAny(n, at); value != nil && v.NumMethod() == 0 {
			v.Set(reflect.ValueOf(value))
		}
	default:
		r.decodeScalar(n, at, v)
	}
}

// decodeText reads a value that has a form of its own, and reports whether v is one.
func (r *reader) decodeText(n *yaml.Node, at string, v reflect.Value) bool {
	if v.Type() == reflect.TypeFor[time.Duration]() {
		d, err := time.ParseDuration(n.Value)
		if n.Kind != yaml.ScalarNode || err != nil {
			r.fail(n.Line, at, "must be a duration such as 90s or 10m, got %s", describeNode(n))
		}
		v.SetInt(int64(d))
		return true
	}
	u, ok := v.Addr().Interface().(encoding.TextUnmarshaler)
	if !ok {
		return false
	}
	if text, ok := r.readString(n, at); ok {
		if err := u.UnmarshalText([]byte(text)); err != nil {
			r.fail(n.Line, at, "%v", err)
		}
	}
	return true
}

// decodeStruct reads a mapping with known keys.
func (r *reader) decodeStruct(n *yaml.Node, at string, v reflect.Value) {
	fields := map[string]reflect.Value{}
	known := knownKeys(v, fields, nil)
	keys := r.readObject(n, at, known...)
	for _, name := range known {
		if value := keys[name]; value != nil {
			r.decode(value, at+"."+name, fields[name])
		}
	}
}

// knownKeys notes the fields of a struct by their keys, and returns the keys added to known. The
// fields of an embedded struct stand beside those around it.
func knownKeys(v reflect.Value, fields map[string]reflect.Value, known []string) []string {
	for i := range v.NumField() {
		f := v.Type().Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		switch {
		case f.Anonymous && name == "" && f.Type.Kind() == reflect.Struct:
			known = knownKeys(v.Field(i), fields, known)
			continue
		case name == "-" || !f.IsExported():
			continue
		case name == "":
			name = strings.ToLower(f.Name)
		}
		fields[name] = v.Field(i)
		known = append(known, name)
	}
	return known
}

// decodeMap reads a mapping with any keys.
func (r *reader) decodeMap(n *yaml.Node, at string, v reflect.Value) {
	if v.Type().Key().Kind() != reflect.String {
		r.fail(n.Line, at, "cannot be read into a %s: its keys are no strings", v.Type())
		return
	}
	m := reflect.MakeMap(v.Type())
	for _, e := range r.readEntries(n, at) {
		value := reflect.New(v.Type().Elem()).Elem()
		r.decode(e.value, at+"."+e.key, value)
		m.SetMapIndex(reflect.ValueOf(e.key).Convert(v.Type().Key()), value)
	}
	v.Set(m)
}

// decodeScalar reads a string, a truth value or a number.
func (r *reader) decodeScalar(n *yaml.Node, at string, v reflect.Value) {
	switch k := v.Kind(); {
	case k == reflect.String && n.Kind == yaml.ScalarNode && n.ShortTag() == "!!timestamp":
		v.SetString(n.Value) // YAML takes a day without quotes for a time
	case k == reflect.String:
		text, _ := r.readString(n, at)
		v.SetString(text)
	case k == reflect.Bool:
		v.SetBool(r.readBool(n, at))
	case v.CanInt():
		high := math.MaxInt >> (64 - v.Type().Bits())
		v.SetInt(int64(r.readInt(n, at, -high-1, high)))
	case v.CanUint():
		high := min(uint64(math.MaxInt), math.MaxUint64>>(64-v.Type().Bits()))
		v.SetUint(uint64(r.readInt(n, at, 0, int(high)))) //nolint:gosec // it is at most MaxInt
	case v.CanFloat():
		f, err := strconv.ParseFloat(n.Value, 64)
		if tag := n.ShortTag(); err != nil || n.Kind != yaml.ScalarNode || tag != "!!int" && tag != "!!float" {
			r.fail(n.Line, at, "must be a number, got %s", describeNode(n))
		}
		v.SetFloat(f)
	default:
		r.fail(n.Line, at, "cannot be read into a %s", v.Type())
	}
}
