package bundle

import (
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
)

// An indexedEntry is a file of an indexed bundle before its text was used.
type indexedEntry struct {
	from    *indexedFile
	text    indexedText
	section int
	read    sync.Once
	isRead  atomic.Bool // read is done
}

// OpenIndexed opens the bundle of a bundle file whose [Bundle.Index] is known. It reads nothing
// of the file but its GraphQL types. The text of each file in it is checked when it is first
// used; if it is not the one of the index, whole is called and must return the same bundle,
// made in another way. OpenIndexed keeps the bytes of the index, so the caller must not change
// them.
//
// The caller has checked that the index is as it was written.
func OpenIndexed(raw io.ReaderAt, size int64, index []byte, whole func() (*Bundle, error)) (*Bundle, error) {
	h, rest, err := parseIndexHead(index)
	if err != nil || h.Version != indexVersion || int64(h.Size) != size {
		return nil, errBadIndex
	}
	rows, paths, heads, mentions, err := h.split(rest)
	if err != nil {
		return nil, err
	}
	b := &Bundle{sha256: known(h.SHA256), commit: h.Commit, timestamp: h.Timestamp,
		hasPathWithoutSlash: h.PathWithoutSlash}
	names := string(paths)
	from := &indexedFile{raw: raw, size: size, whole: sync.OnceValues(func() (*Bundle, error) {
		other, err := whole()
		if err == nil && other.SHA256() != h.SHA256 {
			err = errors.New("it is another bundle now")
		}
		return other, err
	})}
	if h.HasGraphQL {
		text, ok := from.appendText(nil, h.GraphQL)
		if !ok {
			return nil, errBadIndex
		}
		b.graphql = text
	}
	for i, s := range b.sections() {
		n := h.Counts[i]
		if names, err = s.fill(rows[:n*indexRowSize], names, h.Schemas, i, from); err != nil {
			return nil, err
		}
		rows = rows[n*indexRowSize:]
	}
	part := &mentionPart{files: b.datafiles.files, index: mentionIndex{heads, mentions}}
	part.dangling = func() []DanglingRef { return h.Dangling }
	if names != "" || !part.index.isWhole(len(part.files)) {
		return nil, errBadIndex
	}
	b.mentions.Store(part)
	b.indexed = from
	b.groupBySchema()
	return b, nil
}

// fill makes the files of a section of rows of an index. It returns the paths that are left.
func (s *section) fill(rows []byte, paths string, schemas []SchemaPath, number int,
	from *indexedFile) (left string, err error) {
	n := len(rows) / indexRowSize
	s.files = make([]*File, n)
	files, entries := make([]File, n), make([]indexedEntry, n)
	for i := range n {
		text, size, schema := readIndexRow(rows[i*indexRowSize:])
		if size > len(paths) || schema >= len(schemas) {
			return "", errBadIndex
		}
		f, e := &files[i], &entries[i]
		e.from, e.text, e.section = from, text, number
		f.Path, f.Schema, f.indexed, s.files[i] = Path(paths[:size]), schemas[schema], e, f
		paths = paths[size:]
	}
	if _, repeated := s.buildIndex(&section{}); repeated {
		return "", errBadIndex
	}
	return paths, nil
}

// text returns the JSON text of the file.
func (f *File) text() []byte {
	f.load()
	return f.raw
}

// found returns the mentions of the file.
func (f *File) found() []mention {
	f.load()
	return f.mentions
}

// load reads and checks the text of a file of an indexed bundle, once.
func (f *File) load() {
	e := f.indexed
	if e == nil {
		return
	}
	e.read.Do(func() {
		text, ok := e.from.appendText(make([]byte, 0, e.text.Size), e.text)
		if ok {
			f.mentions, ok = mentionsIn(text, f.Schema)
		}
		if !ok {
			other := e.from.other(e.section, f.Path)
			text, f.mentions = other.text(), other.found()
		}
		f.raw = text
		e.isRead.Store(true)
	})
	if !e.isRead.Load() { // an earlier call has panicked; no file has no text
		panic(lostError{fmt.Errorf("the text of %q is lost, since a bundle in the cache is damaged; remove the cache",
			f.Path)})
	}
}

// mentionsIn returns the mentions in the text of a file. It is not ok when the text is not one
// object with this schema.
func mentionsIn(text []byte, schema SchemaPath) (found []mention, ok bool) {
	r := reader{scanner: scanner{data: text}}
	f, err := r.readFile("", "", requireNothing)
	if err != nil || r.pos != len(text) || f.Schema != schema {
		return nil, false
	}
	return f.mentions, true
}

// Peek calls do with the JSON text of the file, which do must neither change nor keep. Unlike
// [File.Raw] it keeps no text that was not used before, so that many files can be searched.
func (f *File) Peek(do func(raw []byte)) {
	e := f.indexed
	if e == nil || e.isRead.Load() {
		do(f.text())
		return
	}
	buffer := buffers.Get().(*[]byte)
	defer buffers.Put(buffer)
	text, ok := e.from.appendText((*buffer)[:0], e.text)
	*buffer = text
	if !ok {
		text = f.text()
	}
	do(text)
}

// buffers are for texts that nobody keeps.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

// ReadAll reads the texts of all files, of which a bundle from [OpenIndexed] has read few.
// Afterwards no method of a file can panic because its text is lost. The error is that of whole.
func (b *Bundle) ReadAll() (err error) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case lostError:
			err = p
		default:
			panic(p)
		}
	}()
	for _, s := range b.sections() {
		for _, f := range s.files {
			f.load()
		}
	}
	return nil
}

// Err returns an error if a text of the bundle, or of another bundle with the same files, was
// lost so far. What was worked out since then may miss it, if the panic of [File.Raw] was
// recovered.
func (b *Bundle) Err() error {
	if b.indexed == nil {
		return nil
	}
	if lost := b.indexed.lost.Load(); lost != nil {
		return *lost
	}
	return nil
}

// A lostError says that the text of a file cannot be read.
type lostError struct{ error }

// other returns a file of the same bundle, made in another way. It panics if there is none,
// since the callers of [File.Raw] could do nothing else.
func (i *indexedFile) other(section int, p Path) *File {
	b, err := i.whole()
	if err == nil {
		if f, ok := b.sections()[section].get(p); ok {
			return f
		}
		err = fmt.Errorf("it has no %q", p)
	}
	lost := lostError{fmt.Errorf("a bundle in the cache is damaged, and could not be made again: %w; remove the cache",
		err)}
	i.lost.Store(&lost)
	panic(lost)
}
