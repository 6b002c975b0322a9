package bundler

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"sort"
	"strconv"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/app-sre/prcheck/internal/lazyregexp"
)

// The bounds of one document.
const (
	maxDepth    = 400      // levels; Python's json gives up before a thousand
	maxExpanded = 64 << 20 // bytes of text, with aliases replaced by their values
	maxMerged   = 1 << 20  // keys that merges (<<) copy
)

// readYAML reads a file with one document. The result is nil if the document is
// empty or null.
func readYAML(raw []byte) (*node, []Problem) {
	if n, ok := readQuick(raw); ok {
		return n, nil
	}
	return readFullYAML(raw)
}

// readFullYAML reads a file as readYAML does, with a parser for all of YAML. Its
// nodes have lines and columns.
func readFullYAML(raw []byte) (*node, []Problem) {
	known, slashes, ok := replaceSlashEscapes(raw)
	if at := yaml12Directive.FindIndex(known); at != nil { // libyaml reads YAML 1.2 as 1.1, our parser refuses it
		known = bytes.Clone(known)
		known[at[1]-1] = '1'
	}
	if !ok {
		return nil, []Problem{{Msg: `has the escapes \/ and \v, which cannot be read together: write / for \/`}}
	}
	doc, p := parseYAML(known)
	if p != nil || doc == nil {
		return nil, p
	}
	if slashes {
		restoreSlashEscapes(doc)
	}
	r := yamlReader{raw: raw, ambiguous: ambiguousPattern.Match(raw)}
	root := r.readValue(doc, 0)
	if len(r.problems) > 0 {
		return nil, r.problems
	}
	if root.kind == null {
		return nil, nil
	}
	return root, nil
}

// yaml12Directive finds a directive at the beginning of a file that says YAML 1.2.
var yaml12Directive = lazyregexp.New(`\A\x{feff}?(?: *(?:#[^\n]*)?\r?\n)*%YAML 1\.2`)

// parseYAML returns the root node of a file with one document, nil if there is none.
func parseYAML(raw []byte) (root *yaml.Node, found []Problem) {
	if p := checkEncoding(raw); p != nil {
		return nil, p
	}
	dec := yaml.NewDecoder(bytes.NewReader(raw))
	var doc, second yaml.Node
	switch err := decodeDocument(dec, &doc); {
	case errors.Is(err, io.EOF):
		return nil, nil
	case err != nil:
		return nil, newSyntaxProblem(raw, err)
	case len(doc.Content) == 0:
		return nil, nil
	}
	switch err := decodeDocument(dec, &second); {
	case errors.Is(err, io.EOF):
		return doc.Content[0], nil
	case err != nil:
		return nil, newSyntaxProblem(raw, err)
	}
	return nil, []Problem{{Line: second.Line, Column: second.Column,
		Msg: "a second document begins here: keep one document per file"}}
}

// decodeDocument reads one document. It turns a panic of the parser into an error.
func decodeDocument(dec *yaml.Decoder, n *yaml.Node) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("yaml: the parser gives up: %v", p)
		}
	}()
	return dec.Decode(n)
}

// checkEncoding returns a problem if a file is not UTF-8, or has a byte order mark
// other than at its beginning.
func checkEncoding(raw []byte) []Problem {
	if bytes.HasPrefix(raw, []byte("\xff\xfe")) || bytes.HasPrefix(raw, []byte("\xfe\xff")) {
		return []Problem{{Line: 1, Column: 1, Msg: "is UTF-16: save it as UTF-8"}}
	}
	at := 0
	if bytes.HasPrefix(raw, []byte(byteOrderMark)) {
		at = len(byteOrderMark)
	}
	for at < len(raw) {
		if raw[at] < utf8.RuneSelf {
			at++
			continue
		}
		r, size := utf8.DecodeRune(raw[at:])
		if r == utf8.RuneError && size == 1 {
			return []Problem{newProblemAt(raw, at, "is not UTF-8 from here on: save it as UTF-8")}
		}
		if r == '\ufeff' {
			return []Problem{newProblemAt(raw, at, "the file contains a byte order mark that is not at its beginning: "+
				"remove it")}
		}
		at += size
	}
	return nil
}

const byteOrderMark = "\ufeff"

// newProblemAt returns a problem at an offset in a file.
func newProblemAt(raw []byte, at int, msg string) Problem {
	before := raw[:at]
	return Problem{
		Line:   1 + bytes.Count(before, []byte("\n")),
		Column: 1 + utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:]),
		Msg:    msg,
	}
}

// maxSearched is the largest file, in bytes, that is parsed again to find the line of
// an error.
const maxSearched = 1 << 20

var yamlLine = lazyregexp.New(`^yaml: line (\d+): `)

var yamlPrefix = lazyregexp.New(`^yaml: (line \d+: )?`)

// newSyntaxProblem returns a syntax error of the parser with the line where it is.
// The parser is often off by some lines. So this searches for the shortest beginning
// of the file that has the same error, and takes its last line.
func newSyntaxProblem(raw []byte, err error) []Problem {
	msg := func(err error) string { return yamlPrefix.ReplaceAllString(err.Error(), "") }
	want := msg(err)
	if m := yamlLine.FindStringSubmatch(err.Error()); len(raw) > maxSearched && m != nil {
		line, _ := strconv.Atoi(m[1])
		return []Problem{{Line: line, Msg: "this is not YAML near here: " + want}}
	}
	var ends []int
	for i, c := range raw {
		if c == '\n' || i == len(raw)-1 {
			ends = append(ends, i+1)
		}
	}
	line := sort.Search(len(ends)-1, func(i int) bool {
		dec := yaml.NewDecoder(bytes.NewReader(raw[:ends[i]]))
		for {
			if err := decodeDocument(dec, new(yaml.Node)); err != nil {
				return !errors.Is(err, io.EOF) && msg(err) == want
			}
		}
	})
	start := 0
	if line > 0 {
		start = ends[line-1]
	}
	column := 1 + len(raw[start:ends[line]]) - len(bytes.TrimLeft(raw[start:ends[line]], " "))
	return []Problem{{Line: line + 1, Column: column, Msg: "this is not YAML: " + want}}
}
