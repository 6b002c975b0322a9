package gql

import "github.com/app-sre/prcheck/qontract/bundle"

// A dataValue is a value of the bundle during execution.
type dataValue struct {
	value        any
	fromResource bool // the value is a resource or a part of one
}

// A fileList is a list of datafiles or resources. A file that does not exist is nil.
type fileList []*bundle.File

// objects returns the decoded files.
func (l fileList) objects() []any {
	list := make([]any, len(l))
	for i, f := range l {
		if f != nil {
			list[i] = f.Object()
		}
	}
	return list
}

// property returns the value of a key. Values that are not objects have no keys.
func property(v any, key string) (any, bool) {
	if o, ok := v.(*bundle.Object); ok {
		return o.Get(key)
	}
	return nil, false
}

// referenceTarget returns the target of a reference, which is an object whose only key is
// $ref.
func referenceTarget(v any) (any, bool) {
	o, ok := v.(*bundle.Object)
	if !ok || o.Len() != 1 {
		return nil, false
	}
	return o.Get("$ref")
}
