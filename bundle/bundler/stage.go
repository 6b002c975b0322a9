package bundler

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"sync/atomic"

	"golang.org/x/sync/errgroup"
)

// stride is how many files in a row one goroutine takes: neighbors lie in one
// folder.
const stride = 32

// A stage makes the records of one section.
type stage struct {
	tree  Tree
	files []file
	limit int                    // of a file, in bytes
	kind  func(name string) byte // how a file is read, for the pack
	pack  *pack                  // nil: nothing is remembered
	turn  func(f file, raw, buf []byte) (record, []byte, []Problem)
}

func datafileKind(name string) byte {
	if isYAML(path.Base(name)) {
		return asYAML
	}
	return asJSON
}

func resourceKind(name string) byte {
	if isYAML(path.Base(name)) {
		return asYAMLResource
	}
	return asResource
}

// each makes all records of a stage, several at once, and leaves out the empty
// ones. Their text goes to the spool.
func (m *maker) each(ctx context.Context, s stage) ([]record, error) {
	records := make([]record, len(s.files))
	var next atomic.Int64
	g, ctx := errgroup.WithContext(ctx)
	for range min(m.opts.Workers, (len(s.files)+stride-1)/stride) {
		g.Go(func() (err error) {
			defer contain(&err)
			w := worker{maker: m, stage: s}
			if w.reader, err = s.tree.Open(ctx); err != nil {
				return err
			}
			defer func() { err = errors.Join(err, w.reader.Close()) }()
			for start := next.Add(stride) - stride; start < int64(len(s.files)); start = next.Add(stride) - stride {
				end := min(start+stride, int64(len(s.files)))
				if err := w.some(ctx, s.files[start:end], records[start:end]); err != nil {
					return err
				}
			}
			return ctx.Err()
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	return slices.DeleteFunc(records, func(r record) bool { return r.empty }), nil
}

// contain turns a panic into an error.
func contain(err *error) {
	if p := recover(); p != nil {
		*err = errors.Join(*err, fmt.Errorf("internal error: %v (a bug in prcheck)", p))
	}
}

// A worker makes records one after the other.
type worker struct {
	*maker
	stage
	reader   Reader
	out, old []byte // buffers
}

// some makes the records of a few files. What is remembered is not read.
func (w *worker) some(ctx context.Context, files []file, records []record) error {
	var missing []int
	var next []Entry
	for i, f := range files {
		if key, known := blobKey(f.entry.Blob, w.kind(f.path)); known && w.pack != nil {
			if r, ok := w.remembered(f, key); ok {
				records[i] = r
				continue
			}
		}
		missing = append(missing, i)
		next = append(next, f.entry)
	}
	if err := w.reader.Expect(next); err != nil {
		return err
	}
	for _, i := range missing {
		if err := ctx.Err(); err != nil {
			return err
		}
		var err error
		if records[i], err = w.one(files[i]); err != nil {
			return err
		}
	}
	return nil
}

// one makes the record of a file that has to be read. An empty record stands
// for a file that is left out.
func (w *worker) one(f file) (record, error) {
	raw, err := w.read(f)
	if err != nil || raw == nil {
		return record{empty: true}, err
	}
	var key packKey
	if w.pack != nil {
		key = contentKey(raw, w.kind(f.path))
		if r, ok := w.remembered(f, key); ok {
			return r, nil
		}
	}
	r, out, found := w.turn(f, raw, w.out)
	if w.found.add(f.shown, found...); len(found) > 0 {
		return record{empty: true}, nil
	}
	if w.pack != nil {
		w.pack.put(key, r, out)
	}
	if r.empty {
		return r, nil
	}
	w.out = out
	r.span, err = w.b.spool.add(out)
	r.path = f.path
	w.note(&r)
	return r, err
}

// remembered looks a content up.
func (w *worker) remembered(f file, key packKey) (record, bool) {
	r, buf, ok := w.pack.get(key, w.b.world, w.old)
	w.old = buf
	if !ok {
		return r, false
	}
	r.path = f.path
	if !r.empty {
		w.note(&r)
	}
	return r, true
}

// read reads a file; nil when it cannot be used.
func (w *worker) read(f file) ([]byte, error) {
	raw, err := w.reader.Read(f.entry, w.limit)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", f.shown, err)
	}
	if len(raw) > w.limit {
		w.found.add(f.shown, Problem{Msg: fmt.Sprintf("is larger than %d MiB", w.limit>>20)})
		return nil, nil
	}
	if raw == nil {
		raw = []byte{}
	}
	return raw, nil
}
