package bundle

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
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
