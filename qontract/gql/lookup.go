package gql

import (
	"sync"

	"github.com/app-sre/prcheck/qontract/bundle"
)

// A lookupKey identifies an index of datafiles by a value: a schema and a top-level key.
type lookupKey struct {
	schema bundle.SchemaPath
	key    string
}

// A lookup finds the datafiles of a schema in which a top-level key has a text. It is made
// when a second request asks for the key: a single request is answered faster without it.
type lookup struct {
	isAsked bool // once before
	once    sync.Once
	files   map[string]fileList // by the text, in the order of the bundle
}

// build fills the index.
func (l *lookup) build(files []*bundle.File, key string) {
	l.files = map[string]fileList{}
	for _, f := range files {
		if v, _ := f.Object().Get(key); v != nil {
			if text, ok := v.(string); ok {
				l.files[text] = append(l.files[text], f)
			}
		}
	}
}

// candidates returns the datafiles of a schema that may pass the arguments of a root field, in
// the order of the bundle: no others pass. All of them must still be compared with all
// arguments.
func (e *Engine) candidates(schema bundle.SchemaPath, args rootArguments) []*bundle.File {
	all := e.bundle.BySchema(schema)
	for _, want := range args.keys {
		text, ok := want.Value.(string)
		if !ok {
			continue
		}
		if want.Key == "path" {
			if f, ok := e.bundle.Datafile(bundle.Path(text)); ok && f.Schema == schema {
				return []*bundle.File{f}
			}
			return nil
		}
		if l := e.lookup(lookupKey{schema, want.Key}); l != nil {
			l.once.Do(func() { l.build(all, want.Key) })
			return l.files[text]
		}
	}
	return all
}

// lookup returns the index of a key, nil when the key is asked for the first time.
func (e *Engine) lookup(key lookupKey) *lookup {
	e.lock.Lock()
	defer e.lock.Unlock()
	l := e.lookups[key]
	if l == nil {
		l = &lookup{}
		e.lookups[key] = l
	}
	if !l.isAsked {
		l.isAsked = true
		return nil
	}
	return l
}
