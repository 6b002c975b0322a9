package bundler

import (
	"bufio"
	"io"
	"maps"
	"slices"
)

// WriteTo writes the bundle as compact JSON in ASCII with sorted keys, and a newline
// at the end.
func (b *Bundled) WriteTo(to io.Writer) (int64, error) {
	w := &jsonWriter{to: bufio.NewWriterSize(to, 1<<18)}
	w.writeString(`{"data":{`)
	for i, r := range b.data {
		w.writeKey(i, r.path)
		raw := w.readPart(b.spool, r.span)
		if b.listTargets[r.path] || r.identifierStart == r.identifierEnd || w.err != nil {
			w.write(raw)
			continue
		}
		w.write(raw[:r.identifierStart])
		w.write(raw[r.identifierEnd:])
	}
	w.writeString(`},"git_commit":`)
	w.write(appendString(nil, b.in.Commit))
	w.writeString(`,"git_commit_timestamp":`)
	w.write(appendString(nil, b.in.Timestamp))
	w.writeString(`,"graphql":`)
	w.write(appendValue(nil, b.types))
	w.writeString(`,"resources":{`)
	for i, r := range b.resources {
		w.writeKey(i, r.path)
		if raw := w.readPart(b.spool, r.span); w.err == nil {
			w.write(raw[:r.backrefsStart])
			w.write(b.backrefs[r.path])
			w.write(raw[r.backrefsStart : len(raw)-sumTail])
			w.writeString(`,"path":`)
			w.write(appendString(nil, r.path))
			w.write(raw[len(raw)-sumTail:])
		}
	}
	w.writeString(`},"schemas":{`)
	for i, path := range slices.Sorted(maps.Keys(b.definitions.schemas)) {
		w.writeKey(i, path)
		w.buf = appendValue(w.buf[:0], b.definitions.schemas[path])
		w.write(w.buf)
	}
	w.writeString("}}\n")
	if w.err == nil {
		w.err = w.to.Flush()
	}
	return w.n, w.err
}

// Size returns an estimate of how many bytes WriteTo writes, which is rarely too
// low.
func (b *Bundled) Size() int {
	n := 1 << 20
	for _, all := range [][]record{b.data, b.resources} {
		for _, r := range all {
			n += 2*len(r.path) + len(`"":,"path":"",`) + r.span.length() + len(b.backrefs[r.path])
		}
	}
	for _, s := range b.definitions.schemas {
		n += len(appendValue(nil, s))
	}
	return n + len(appendValue(nil, b.types))
}

// A jsonWriter writes JSON and counts the bytes. It stops at the first error.
type jsonWriter struct {
	to   *bufio.Writer
	n    int64
	err  error
	buf  []byte // for the text of a record
	name []byte // for a key
}

// write writes bytes.
func (w *jsonWriter) write(b []byte) {
	if w.err == nil {
		var n int
		n, w.err = w.to.Write(b)
		w.n += int64(n)
	}
}

// writeString writes a string as it is.
func (w *jsonWriter) writeString(s string) { w.write([]byte(s)) }

// writeKey writes the key of the i-th member of an object.
func (w *jsonWriter) writeKey(i int, path string) {
	w.name = w.name[:0]
	if i > 0 {
		w.name = append(w.name, ',')
	}
	w.name = append(appendString(w.name, path), ':')
	w.write(w.name)
}

// readPart returns the text of a record. It is valid until the next call.
func (w *jsonWriter) readPart(s *spool, at span) []byte {
	if w.err != nil {
		return nil
	}
	var raw []byte
	raw, w.err = s.read(at, w.buf)
	if at.kept == nil {
		w.buf = raw
	}
	return raw
}
