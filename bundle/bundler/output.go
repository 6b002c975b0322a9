package bundler

import (
	"bufio"
	"io"
	"maps"
	"slices"
)

// WriteTo writes the bundle: compact JSON in ASCII with sorted keys, and a
// newline.
func (b *Bundled) WriteTo(to io.Writer) (int64, error) {
	w := &counter{to: bufio.NewWriterSize(to, 1<<18)}
	w.text(`{"data":{`)
	for i, r := range b.data {
		w.key(i, r.path)
		raw := w.part(b.spool, r.span)
		if b.targets[r.path] || r.cut == r.end || w.err != nil {
			w.bytes(raw)
			continue
		}
		w.bytes(raw[:r.cut])
		w.bytes(raw[r.end:])
	}
	w.text(`},"git_commit":`)
	w.bytes(appendText(nil, b.in.Commit))
	w.text(`,"git_commit_timestamp":`)
	w.bytes(appendText(nil, b.in.Timestamp))
	w.text(`,"graphql":`)
	w.bytes(appendValue(nil, b.types))
	w.text(`,"resources":{`)
	for i, r := range b.resources {
		w.key(i, r.path)
		if raw := w.part(b.spool, r.span); w.err == nil {
			w.bytes(raw[:r.head])
			w.bytes(b.backrefs[r.path])
			w.bytes(raw[r.head : len(raw)-sumTail])
			w.text(`,"path":`)
			w.bytes(appendText(nil, r.path))
			w.bytes(raw[len(raw)-sumTail:])
		}
	}
	w.text(`},"schemas":{`)
	for i, path := range slices.Sorted(maps.Keys(b.world.schemas)) {
		w.key(i, path)
		w.buf = appendValue(w.buf[:0], b.world.schemas[path])
		w.bytes(w.buf)
	}
	w.text("}}\n")
	if w.err == nil {
		w.err = w.to.Flush()
	}
	return w.n, w.err
}

// Size is about how many bytes WriteTo writes, and rarely less.
func (b *Bundled) Size() int {
	n := 1 << 20
	for _, all := range [][]record{b.data, b.resources} {
		for _, r := range all {
			n += 2*len(r.path) + len(`"":,"path":"",`) + r.span.size + len(b.backrefs[r.path])
		}
	}
	for _, s := range b.world.schemas {
		n += len(appendValue(nil, s))
	}
	return n + len(appendValue(nil, b.types))
}

// A counter writes until the first error.
type counter struct {
	to   *bufio.Writer
	n    int64
	err  error
	buf  []byte // for a part
	name []byte // for a key
}

func (c *counter) bytes(b []byte) {
	if c.err == nil {
		var n int
		n, c.err = c.to.Write(b)
		c.n += int64(n)
	}
}

func (c *counter) text(s string) { c.bytes([]byte(s)) }

func (c *counter) key(i int, path string) {
	c.name = c.name[:0]
	if i > 0 {
		c.name = append(c.name, ',')
	}
	c.name = append(appendText(c.name, path), ':')
	c.bytes(c.name)
}

func (c *counter) part(s *spool, at span) []byte {
	if c.err != nil {
		return nil
	}
	c.buf, c.err = s.read(at, c.buf)
	return c.buf
}
