package gql

import "github.com/app-sre/prcheck/bundle"

// A source is a value of the data on its way into the answer.
type dataValue struct {
	value        any
	fromResource bool // it is, or is part of, a resource
}

// fileList is a list of datafiles or resources. An item that does not exist is
// nil.
type fileList []*bundle.File

// values returns the files as a list of objects.
func (l fileList) objects() []any {
	list := make([]any, len(l))
	for i, f := range l {
		if f != nil {
			list[i] = f.Object()
		}
	}
	return list
}

// property returns what a value has under a key. Only objects have something.
func property(v any, key string) (any, bool) {
	if o, ok := v.(*bundle.Object); ok {
		return o.Get(key)
	}
	return nil, false
}

// reference returns the target of an object whose only key is $ref.
func referenceTarget(v any) (any, bool) {
	o, ok := v.(*bundle.Object)
	if !ok || o.Len() != 1 {
		return nil, false
	}
	return o.Get("$ref")
}
