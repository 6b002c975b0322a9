package bundle

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
)

// An index is what [OpenIndexed] needs to know of a bundle file, so that it need not read it:
// a line of JSON, then a row for each file, the paths of all files one after the other, and the
// two parts of the index of mentions.
//
// A row has the place and the size of the text in the bundle file, the first half of its
// sha256, the size of the path, and the number of the schema.

// An indexHead is the first line of an index.
type indexHead struct {
	Version                   int // indexVersion
	SHA256, Commit, Timestamp string
	Size                      int    // of the bundle file
	Counts                    [3]int // of datafiles, resources and JSON schemas
	PathWithoutSlash          bool
	Schemas                   []SchemaPath // by their numbers
	GraphQL                   indexedText
	HasGraphQL                bool
	Dangling                  []DanglingRef
	Paths, Heads, Mentions    int // bytes of the parts after the rows
}

// An indexedText says where a text is in a bundle file.
type indexedText struct {
	At, Size int
	Sum      [halfSum]byte
}

// indexVersion changes with the form and the meaning of an index.
const indexVersion = 1

const (
	halfSum      = sha256.Size / 2
	indexRowSize = 8 + 4 + halfSum + 4 + 4
)

// sumOf returns the first half of the sha256 of a text.
func sumOf(text []byte) [halfSum]byte {
	sum := sha256.Sum256(text)
	return [halfSum]byte(sum[:])
}

// Index returns an index of the bundle for [OpenIndexed]; raw is the bundle file that it was
// parsed from. It is not ok when the bundle shares files with another.
func (b *Bundle) Index(raw []byte) (index []byte, ok bool) {
	part := b.mentionPart()
	h := indexHead{
		Version: indexVersion, SHA256: b.SHA256(), Commit: b.commit, Timestamp: b.timestamp, Size: len(raw),
		PathWithoutSlash: b.hasPathWithoutSlash,
		Dangling:         part.dangling(), HasGraphQL: b.graphql != nil, Heads: len(part.index.heads),
		Mentions: len(part.index.rows),
	}
	place := func(text []byte) (indexedText, bool) { // both slices end where the file ends
		t := indexedText{At: cap(raw) - cap(text), Size: len(text), Sum: sumOf(text)}
		return t, t.At >= 0 && t.At+t.Size <= len(raw) && bytes.Equal(raw[t.At:t.At+t.Size], text)
	}
	if h.GraphQL, ok = place(b.graphql); h.HasGraphQL && !ok {
		return nil, false
	}
	var rows, paths []byte
	numbers := map[SchemaPath]int{}
	for i, s := range b.sections() {
		h.Counts[i] = len(s.files)
		for _, f := range s.files {
			t, ok := place(f.text())
			if !ok {
				return nil, false
			}
			if _, known := numbers[f.Schema]; !known {
				numbers[f.Schema] = len(h.Schemas)
				h.Schemas = append(h.Schemas, f.Schema)
			}
			rows = appendIndexRow(rows, t, len(f.Path), numbers[f.Schema])
			paths = append(paths, f.Path...)
		}
	}
	h.Paths = len(paths)
	line, err := json.Marshal(h)
	if again, _, failed := parseIndexHead(line); err != nil || failed != nil || !reflect.DeepEqual(again, h) {
		return nil, false // a text that is not UTF-8
	}
	return bytes.Join([][]byte{append(line, '\n'), rows, paths, part.index.heads, part.index.rows}, nil), true
}

// sections returns the sections in the order of an index.
func (b *Bundle) sections() [3]*section { return [3]*section{&b.datafiles, &b.resources, &b.schemas} }

func appendIndexRow(rows []byte, t indexedText, pathSize, schema int) []byte {
	le := binary.LittleEndian
	rows = le.AppendUint32(le.AppendUint64(rows, uint64(t.At)), uint32(t.Size))
	return le.AppendUint32(le.AppendUint32(append(rows, t.Sum[:]...), uint32(pathSize)), uint32(schema))
}

// readIndexRow reads the row at the beginning of some rows.
func readIndexRow(rows []byte) (t indexedText, pathSize, schema int) {
	le, rest := binary.LittleEndian, rows[12+halfSum:]
	t = indexedText{At: int(le.Uint64(rows)), Size: int(le.Uint32(rows[8:])), Sum: [halfSum]byte(rows[12:])}
	return t, int(le.Uint32(rest)), int(le.Uint32(rest[4:]))
}

var errBadIndex = errors.New("not an index of this bundle")

// split splits what follows the first line of an index into its parts.
func (h indexHead) split(rest []byte) (rows, paths, heads, mentions []byte, err error) {
	files := 0
	for _, n := range h.Counts {
		if n < 0 || n > len(rest) {
			return nil, nil, nil, nil, errBadIndex
		}
		files += n
	}
	var parts [4][]byte
	for i, size := range []int{files * indexRowSize, h.Paths, h.Heads, h.Mentions} {
		if size < 0 || size > len(rest) {
			return nil, nil, nil, nil, errBadIndex
		}
		parts[i], rest = rest[:size:size], rest[size:]
	}
	if len(rest) > 0 {
		return nil, nil, nil, nil, errBadIndex
	}
	return parts[0], parts[1], parts[2], parts[3], nil
}

// parseIndexHead splits an index into its first line and the rest.
func parseIndexHead(index []byte) (h indexHead, rest []byte, err error) {
	line, rest, _ := bytes.Cut(index, []byte{'\n'})
	if err := json.Unmarshal(line, &h); err != nil {
		return h, nil, fmt.Errorf("%w: %w", errBadIndex, err)
	}
	return h, rest, nil
}

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

// An indexedFile is a bundle file that an index describes. The texts of the files in it are
// compared with the index when they are read.
type indexedFile struct {
	raw   io.ReaderAt
	size  int64
	whole func() (*Bundle, error) // the same bundle, made in another way
	lost  atomic.Pointer[lostError]

	mu    sync.Mutex // guards what follows
	block []byte     // the bytes at the offset start; more than what was asked for, if that was asked for in order
	start int64
	last  int64 // where the text ends that was read last
}

const (
	blockSize = 256 << 10 // bytes that are read at once
	nearby    = 16 << 10  // bytes between two texts that are read in order
)

// appendText appends a text to a buffer. It is not ok when the text cannot be read, or is
// another one.
func (i *indexedFile) appendText(out []byte, t indexedText) (_ []byte, ok bool) {
	if t.At < 0 || t.Size < 0 || int64(t.At) > i.size || int64(t.Size) > i.size-int64(t.At) {
		return out, false
	}
	i.mu.Lock()
	from, to := int64(t.At), int64(t.At+t.Size)
	err := i.load(from, to)
	if err == nil {
		out = append(out, i.block[from-i.start:to-i.start]...)
	}
	i.last = to
	i.mu.Unlock()
	return out, err == nil && sumOf(out[len(out)-t.Size:]) == t.Sum
}

// load makes the block hold some bytes of the file.
func (i *indexedFile) load(from, to int64) error {
	if i.start <= from && to <= i.start+int64(len(i.block)) {
		return nil
	}
	if i.last <= from && from <= i.last+nearby {
		to = min(max(to, from+blockSize), i.size)
	}
	i.block = slices.Grow(i.block[:0], int(to-from))[:to-from]
	i.start = from
	if _, err := i.raw.ReadAt(i.block, from); err != nil {
		i.block = i.block[:0]
		return err
	}
	return nil
}
