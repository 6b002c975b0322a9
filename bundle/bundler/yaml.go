package bundler

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"sort"
	"strconv"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// Bounds of one document.
const (
	maxDepth    = 400      // levels; Python's json gives up before a thousand
	maxExpanded = 64 << 20 // bytes of text once aliases are written out
	maxMerged   = 1 << 20  // keys that merges copy
)

// readYAML reads the one document of a file, nil when it is empty or null.
func readYAML(raw []byte) (*node, []Problem) {
	if n, ok := readQuick(raw); ok {
		return n, nil
	}
	return readFull(raw)
}

// readFull does the same with a parser that knows all of YAML.
func readFull(raw []byte) (*node, []Problem) {
	known, slashes, ok := withoutSlashes(raw)
	if at := newerYAML.FindIndex(known); at != nil { // libyaml reads it as it reads 1.1
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
		restoreSlashes(doc)
	}
	r := yamlReader{raw: raw, doubts: doubtful.Match(raw)}
	root := r.value(doc, 0)
	if len(r.problems) > 0 {
		return nil, r.problems
	}
	if root.kind == null {
		return nil, nil
	}
	return root, nil
}

var newerYAML = regexp.MustCompile(`\A\x{feff}?(?: *(?:#[^\n]*)?\r?\n)*%YAML 1\.2`)

// parseYAML gives the content of the one document, nil when there is none.
func parseYAML(raw []byte) (root *yaml.Node, found []Problem) {
	if p := unreadable(raw); p != nil {
		return nil, p
	}
	dec := yaml.NewDecoder(bytes.NewReader(raw))
	var doc, second yaml.Node
	switch err := decode(dec, &doc); {
	case errors.Is(err, io.EOF):
		return nil, nil
	case err != nil:
		return nil, syntaxProblem(raw, err)
	case len(doc.Content) == 0:
		return nil, nil
	}
	switch err := decode(dec, &second); {
	case errors.Is(err, io.EOF):
		return doc.Content[0], nil
	case err != nil:
		return nil, syntaxProblem(raw, err)
	}
	return nil, []Problem{{Line: second.Line, Column: second.Column, Msg: "a second document starts here: keep one in a file"}}
}

// decode reads one document, and takes a panic of the parser for an error.
func decode(dec *yaml.Decoder, n *yaml.Node) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("yaml: the parser gives up: %v", p)
		}
	}()
	return dec.Decode(n)
}

// unreadable finds what is no text.
func unreadable(raw []byte) []Problem {
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
			return []Problem{problemAt(raw, at, "is not UTF-8 from here on: save it as UTF-8")}
		}
		if r == '\ufeff' {
			return []Problem{problemAt(raw, at, "a byte order mark stands inside of the file: remove it")}
		}
		at += size
	}
	return nil
}

const byteOrderMark = "\ufeff"

// problemAt makes a problem of a place in a file.
func problemAt(raw []byte, at int, msg string) Problem {
	before := raw[:at]
	return Problem{
		Line:   1 + bytes.Count(before, []byte("\n")),
		Column: 1 + utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:]),
		Msg:    msg,
	}
}

// maxSearched is up to which size a file is parsed again to place an error.
const maxSearched = 1 << 20

var yamlLine = regexp.MustCompile(`^yaml: line (\d+): `)

var yamlPrefix = regexp.MustCompile(`^yaml: (line \d+: )?`)

// syntaxProblem places a syntax error at the first line up to which the file
// has it, since the parser is often off by some lines.
func syntaxProblem(raw []byte, err error) []Problem {
	msg := func(err error) string { return yamlPrefix.ReplaceAllString(err.Error(), "") }
	want := msg(err)
	if m := yamlLine.FindStringSubmatch(err.Error()); len(raw) > maxSearched && m != nil {
		line, _ := strconv.Atoi(m[1])
		return []Problem{{Line: line, Msg: "this is no YAML near here: " + want}}
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
			if err := decode(dec, new(yaml.Node)); err != nil {
				return !errors.Is(err, io.EOF) && msg(err) == want
			}
		}
	})
	start := 0
	if line > 0 {
		start = ends[line-1]
	}
	column := 1 + len(raw[start:ends[line]]) - len(bytes.TrimLeft(raw[start:ends[line]], " "))
	return []Problem{{Line: line + 1, Column: column, Msg: "this is no YAML: " + want}}
}
