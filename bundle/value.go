package bundle

import "slices"

// A JSON value is one of nil, bool, [Number], string, []any and *[Object].

// Number is a JSON number as it was written.
type Number string

// Member is one key of an object with its value.
type Member struct {
	Key   string
	Value any
}

// Object is a JSON object that keeps the order of its keys. A key that was
// written twice has its last value at its first place, as in JavaScript.
// The zero value is an empty object.
type Object struct {
	members []Member
	index   map[string]int // only for large objects
}

// indexFrom is the size from which an object is looked up through a map.
const indexFrom = 24

// NewObject returns an object with the given members in order.
func NewObject(members ...Member) *Object { return newObject(slices.Clone(members)) }

// ObjectOf returns an object with the given members, which it takes over. Their
// keys must differ.
func ObjectOf(members []Member) *Object {
	if len(members) >= indexFrom {
		return newObject(members)
	}
	return &Object{members: members}
}

// newObject takes the members over.
func newObject(members []Member) *Object {
	if len(members) >= indexFrom || repeats(members) {
		o := &Object{members: make([]Member, 0, len(members))}
		for _, m := range members {
			o.Set(m.Key, m.Value)
		}
		return o
	}
	return &Object{members: members}
}

// repeats tells whether a key occurs twice among few members.
func repeats(members []Member) bool {
	for i := range members {
		for j := range members[:i] {
			if members[i].Key == members[j].Key {
				return true
			}
		}
	}
	return false
}

// Get returns the value of a key and whether the key is there.
func (o *Object) Get(key string) (any, bool) {
	if i := o.find(key); i >= 0 {
		return o.members[i].Value, true
	}
	return nil, false
}

// Has tells whether the key is there, whatever its value.
func (o *Object) Has(key string) bool { return o.find(key) >= 0 }

// String returns the value of a key when it is a string, else "".
func (o *Object) String(key string) string {
	v, _ := o.Get(key)
	s, _ := v.(string)
	return s
}

// Len returns the number of keys.
func (o *Object) Len() int { return len(o.members) }

// Members returns the members in order. The caller must not change them.
func (o *Object) Members() []Member { return o.members }

// Set changes the object: it gives the key a value, in its place or at the end.
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

// Ref returns the target of a reference: an object whose only key is $ref,
// with a string.
func Ref(v any) (Path, bool) {
	o, ok := v.(*Object)
	if !ok || len(o.members) != 1 || o.members[0].Key != "$ref" {
		return "", false
	}
	s, ok := o.members[0].Value.(string)
	return Path(s), ok
}

// Equal tells whether two values are the same: the order of keys does not
// count, the order of list items does, numbers are compared as written.
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
