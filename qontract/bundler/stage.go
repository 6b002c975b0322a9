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

// chunkSize is the number of consecutive files that one goroutine takes at once.
// Consecutive files are usually in the same folder.
const chunkSize = 32

// A stage describes how the records of one section are made.
type stage struct {
	tree    Tree
	files   []sourceFile
	limit   int                    // of a file, in bytes
	reading func(name string) byte // returns how a file is read: asYAML and so on
	pack    *pack                  // nil if there is none
	// makeRecord returns the record of a file with the given bytes, and its text in buf.
	makeRecord func(f sourceFile, raw, buf []byte) (record, []byte, []Problem)
}

// datafileReading returns how a datafile with this name is read.
func datafileReading(name string) byte {
	if isYAMLName(path.Base(name)) {
		return asYAML
	}
	return asJSON
}

// resourceReading returns how a resource with this name is read.
func resourceReading(name string) byte {
	if isYAMLName(path.Base(name)) {
		return asYAMLResource
	}
	return asResource
}

// makeRecords makes all records of a stage with several workers, and leaves out the
// empty ones. The texts of the records go to the spool.
func (m *maker) makeRecords(ctx context.Context, s stage) ([]record, error) {
	records := make([]record, len(s.files))
	var next atomic.Int64
	g, ctx := errgroup.WithContext(ctx)
	for range min(m.opts.Workers, (len(s.files)+chunkSize-1)/chunkSize) {
		g.Go(func() (err error) {
			defer recoverError(&err)
			w := worker{maker: m, stage: s}
			if w.reader, err = s.tree.Open(ctx); err != nil {
				return err
			}
			defer func() { err = errors.Join(err, w.reader.Close()) }()
			for start := next.Add(chunkSize) - chunkSize; start < int64(len(s.files)); start = next.Add(chunkSize) - chunkSize {
				end := min(start+chunkSize, int64(len(s.files)))
				if err := w.makeChunk(ctx, s.files[start:end], records[start:end]); err != nil {
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

// recoverError turns a panic into an error.
func recoverError(err *error) {
	if p := recover(); p != nil {
		*err = errors.Join(*err, fmt.Errorf("internal error: %v (a bug in prcheck)", p))
	}
}

// A worker makes records, one after the other.
type worker struct {
	*maker
	stage
	reader Reader
	out    []byte // buffer
}

// makeChunk makes the records of a few files. It does not read files whose record is
// in the pack.
func (w *worker) makeChunk(ctx context.Context, files []sourceFile, records []record) error {
	var missing []int
	var next []Entry
	for i, f := range files {
		if key, known := newBlobKey(f.entry.Blob, w.reading(f.path)); known && w.pack != nil {
			if r, ok := w.lookUp(f, key); ok {
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
		if records[i], err = w.makeOne(files[i]); err != nil {
			return err
		}
	}
	return nil
}

// makeOne reads a file and makes its record. The record is empty if the file is left
// out.
func (w *worker) makeOne(f sourceFile) (record, error) {
	raw, err := w.readFile(f)
	if err != nil || raw == nil {
		return record{empty: true}, err
	}
	var key packKey
	if w.pack != nil {
		key = newContentKey(raw, w.reading(f.path))
		if r, ok := w.lookUp(f, key); ok {
			return r, nil
		}
	}
	r, out, found := w.makeRecord(f, raw, w.out)
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
	w.collectReferences(&r)
	return r, err
}

// lookUp returns the record of a content from the pack.
func (w *worker) lookUp(f sourceFile, key packKey) (record, bool) {
	r, ok := w.pack.find(key, w.b.definitions)
	if !ok {
		return r, false
	}
	r.path = f.path
	if !r.empty {
		w.collectReferences(&r)
	}
	return r, true
}

// readFile returns the bytes of a file, or nil if the file is too large.
func (w *worker) readFile(f sourceFile) ([]byte, error) {
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
