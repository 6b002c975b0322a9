package gql

import (
	"cmp"
	"slices"
	"strings"
	"sync"

	"github.com/app-sre/prcheck/qontract/bundle"
)

// filesReferringTo returns the datafiles of a schema whose attribute refers to a path. Each
// datafile occurs once, in the order of the bundle.
func (e *Engine) filesReferringTo(schema bundle.SchemaPath, attr, path string) fileList {
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

// UseMentions makes the engine find back references among the datafiles that mention a
// path. By default it indexes all datafiles of a schema, which costs more if only few
// elements are evaluated. The index must cover the bundle and be whole. UseMentions must be
// called before the engine is used.
func (e *Engine) UseMentions(m *bundle.Mentions) { e.mentions = m }

// filesMentioning does the work of filesReferringTo with the index of mentions.
func (e *Engine) filesMentioning(key backRefKey, path string) fileList {
	var out fileList
	for _, f := range e.mentions.Of(bundle.Path(path)) {
		if f.Schema != key.schema || !e.bundle.HasDatafile(f) {
			continue
		}
		found := false
		eachTarget(f.Object(), key.subAttr, func(to string) { found = found || to == path })
		if found {
			out = append(out, f)
		}
	}
	slices.SortStableFunc(out, func(a, b *bundle.File) int {
		return cmp.Compare(e.bundle.DatafileIndex(a.Path), e.bundle.DatafileIndex(b.Path))
	})
	return out
}

// A backRefKey identifies an index of back references: a schema and a dotted attribute.
type backRefKey struct {
	schema  bundle.SchemaPath
	subAttr string
}

// A backRefIndex maps a path to the datafiles of one schema that refer to it.
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

// eachTarget calls visit for every target of the references under a dotted attribute of an
// object, such as "roles.owner". It enters lists on the way. Other values on the way, such
// as an explicit null, have no targets. (In qontract-server an explicit null makes loading
// the bundle fail.)
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

// eachObject calls visit for an object, or for every object in a list and in the lists
// inside it.
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
