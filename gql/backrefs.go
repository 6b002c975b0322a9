package gql

import (
	"cmp"
	"slices"
	"strings"
	"sync"

	"github.com/app-sre/prcheck/bundle"
)

// referring returns the datafiles of a schema that refer to a path with the
// attribute. Every datafile occurs once, in the order of the bundle.
func (e *Engine) filesReferringTo(schema bundle.Schema, attr, path string) fileList {
	key := backRefKey{schema, attr}
	if e.mentions != nil {
		return e.filesMentioning(key, path)
	}
	e.lock.Lock()
	index := e.backRefs[key]
	if index == nil {
		index = &backRefIndex{}
		e.backRefs[key] = index
	}
	e.lock.Unlock()
	index.once.Do(func() { index.build(e.bundle.BySchema(schema), attr) })
	return index.byTarget[path]
}

// Narrow makes the engine find back references among the datafiles that mention
// a path, instead of indexing all datafiles of a schema. That is cheaper while
// only few elements are evaluated. The index must cover the bundle and be
// whole; it must be set before the engine is used.
func (e *Engine) UseMentions(m *bundle.Mentions) { e.mentions = m }

// mentioning is referring by the index of mentions.
func (e *Engine) filesMentioning(key backRefKey, path string) fileList {
	var out fileList
	for _, f := range e.mentions.Of(bundle.Path(path)) {
		if f.Schema != key.schema || !e.bundle.Holds(f) {
			continue
		}
		found := false
		eachTarget(f.Object(), key.subAttr, func(to string) { found = found || to == path })
		if found {
			out = append(out, f)
		}
	}
	slices.SortStableFunc(out, func(a, b *bundle.File) int {
		return cmp.Compare(e.bundle.Order(a.Path), e.bundle.Order(b.Path))
	})
	return out
}

// A backKey names an index of back references.
type backRefKey struct {
	schema  bundle.Schema
	subAttr string
}

// backs is an index of back references: the datafiles of a schema by what they
// refer to.
type backRefIndex struct {
	once     sync.Once
	byTarget map[string]fileList
}

func (b *backRefIndex) build(files []*bundle.File, attr string) {
	b.byTarget = map[string]fileList{}
	for _, f := range files {
		eachTarget(f.Object(), attr, func(path string) {
			list := b.byTarget[path]
			if len(list) == 0 || list[len(list)-1] != f {
				b.byTarget[path] = append(list, f)
			}
		})
	}
}

// targets calls visit for what an object refers to with a dotted attribute.
// Lists on the way are gone through; what is neither a list nor an object, such
// as an explicit null, leads nowhere. (It stops qontract-server from loading
// the bundle at all.)
func eachTarget(o *bundle.Object, attr string, visit func(path string)) {
	head, rest, more := strings.Cut(attr, ".")
	v, ok := o.Get(head)
	if !ok {
		return
	}
	eachObject(v, func(o *bundle.Object) {
		if more {
			eachTarget(o, rest, visit)
			return
		}
		if path := o.String("$ref"); path != "" {
			visit(path)
		}
	})
}

// eachObject calls visit for an object, or for all objects in a list and the
// lists inside it.
func eachObject(v any, visit func(*bundle.Object)) {
	switch v := v.(type) {
	case *bundle.Object:
		visit(v)
	case []any:
		for _, item := range v {
			eachObject(item, visit)
		}
	}
}
