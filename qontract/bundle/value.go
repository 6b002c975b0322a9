package bundle

import "slices"

// A JSON value is one of nil, bool, [Number], string, []any and *[Object].

// Number is a JSON number as it stands in the document.
type Number string

// Member is one key of an object with its value.
type Member struct {
	Key   string
	Value any
}

// Object is a JSON object that keeps the order of its keys. If a document has a key twice,
// the object has the last value at the place of the first, as in JavaScript. The zero value
// is an empty object.
type Object struct {
	members []Member
	index   map[string]int // position by key; nil for an object with few keys
}

// indexFrom is the number of keys from which keys are found through a map.
const indexFrom = 24

// NewObject returns an object with these members in this order.
func NewObject(members ...Member) *Object { return newObject(slices.Clone(members)) }

// ObjectOf returns an object with these members, whose keys must differ. It takes over the
// slice: the caller must not use it afterwards.
func ObjectOf(members []Member) *Object {
	if len(members) >= indexFrom {
		return newObject(members)
	}
	return &Object{members: members}
}

// newObject returns an object with these members. It takes over the slice. Keys may be
// repeated.
func newObject(members []Member) *Object {
	if len(members) >= indexFrom || hasRepeatedKey(members) {
		o := &Object{members: make([]Member, 0, len(members))}
		for _, m := range members {
			o.Set(m.Key, m.Value)
		}
		return o
	}
	return &Object{members: members}
}

// hasRepeatedKey reports whether a key occurs twice. It compares all pairs, so it is for
// few members.
func hasRepeatedKey(members []Member) bool {
	for i := range members {
		for j := range members[:i] {
			if members[i].Key == members[j].Key {
				return true
			}
		}
	}
	return false
}

// Get returns the value of a key, and whether the object has the key.
func (o *Object) Get(key string) (any, bool) {
	if i := o.find(key); i >= 0 {
		return o.members[i].Value, true
	}
	return nil, false
}

// Has reports whether the object has the key, even if its value is null.
func (o *Object) Has(key string) bool { return o.find(key) >= 0 }

// String returns the value of a key if it is a string, or else "".
func (o *Object) String(key string) string {
	v, _ := o.Get(key)
	s, _ := v.(string)
	return s
}

// Len returns the number of keys.
func (o *Object) Len() int { return len(o.members) }

// Members returns the members in order. The caller must not change them.
func (o *Object) Members() []Member { return o.members }

// Set changes the object: it replaces the value of a key, or adds the key at the end.
func (o *Object) Set(key string, v any) {
	if i := o.find(key); i >= 0 {
		o.members[i].Value = v
		return
	}
	o.members = append(o.members, Member{key, v})
	switch {
	case o.index != nil:
		o.index[key] = len(o.members) - 1
	case len(o.members) >= indexFrom:
		o.index = make(map[string]int, 2*indexFrom)
		for i, m := range o.members {
			o.index[m.Key] = i
		}
	}
}

func (o *Object) find(key string) int {
	if o.index != nil {
		if i, ok := o.index[key]; ok {
			return i
		}
		return -1
	}
	for i := range o.members {
		if o.members[i].Key == key {
			return i
		}
	}
	return -1
}

// Ref returns the target of a reference, which is an object whose only key is $ref with a
// string.
func Ref(v any) (Path, bool) {
	o, ok := v.(*Object)
	if !ok || len(o.members) != 1 || o.members[0].Key != "$ref" {
		return "", false
	}
	s, ok := o.members[0].Value.(string)
	return Path(s), ok
}

// Equal reports whether two values are equal. The order of keys does not count, the order
// of list items does. Numbers are compared as they are written.
func Equal(a, b any) bool {
	switch a := a.(type) {
	case *Object:
		b, ok := b.(*Object)
		if !ok || a.Len() != b.Len() {
			return false
		}
		for _, m := range a.members {
			w, ok := b.Get(m.Key)
			if !ok || !Equal(m.Value, w) {
				return false
			}
		}
		return true
	case []any:
		b, ok := b.([]any)
		if !ok || len(a) != len(b) {
			return false
		}
		for i := range a {
			if !Equal(a[i], b[i]) {
				return false
			}
		}
		return true
	}
	return a == b
}
