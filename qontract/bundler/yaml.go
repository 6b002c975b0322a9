package bundler

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"sort"
	"strconv"
	"strings"
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

// Our parser does not know \/, an escape in double quotes that libyaml knows. So \/
// is replaced by \v, an escape for a vertical tab, before the file is parsed, and
// replaced back afterwards. In double quotes the parser has made a vertical tab of
// it; in other text it is still \v. Both escapes have the same length, so lines and
// columns stay right. A file that contains an escape for a vertical tab itself cannot
// be read this way.
var (
	slashEscape       = lazyregexp.New(`\\+/`)
	verticalTabEscape = lazyregexp.New(`\\v|\\x0[bB]|\\u000[bB]|\\U0000000[bB]`)
)

// replaceSlashEscapes replaces the escape \/ by \v. Found says whether there was one,
// ok whether the file can be read this way.
func replaceSlashEscapes(raw []byte) (out []byte, found, ok bool) {
	if !bytes.Contains(raw, []byte(`\/`)) {
		return raw, false, true
	}
	if verticalTabEscape.Match(raw) {
		return raw, true, false
	}
	out = slashEscape.ReplaceAllFunc(raw, func(run []byte) []byte {
		if len(run)%2 == 0 { // an odd number of backslashes: the last one begins an escape
			run = append(bytes.Clone(run[:len(run)-1]), 'v')
		}
		return run
	})
	return out, true, true
}

// restoreSlashEscapes replaces the escapes back in a node and all nodes below it.
func restoreSlashEscapes(n *yaml.Node) {
	switch {
	case n.Kind == yaml.ScalarNode && n.Style&yaml.DoubleQuotedStyle != 0:
		n.Value = strings.ReplaceAll(n.Value, "\v", "/")
	case n.Kind == yaml.ScalarNode:
		n.Value = strings.ReplaceAll(n.Value, `\v`, `\/`)
	}
	for _, c := range n.Content {
		restoreSlashEscapes(c)
	}
}

// ambiguousPattern finds the two constructs that our parser reads differently from
// libyaml without a trace in its nodes: the tag "!" by itself, and an escaped single
// quote in double quotes. In other places the same characters are harmless.
var ambiguousPattern = lazyregexp.New(`!(?:[\s,\]}\x{85}\x{2028}\x{2029}]|$)|\\'`)

// checkAmbiguous adds a problem if the parser may have misread a scalar.
func (r *yamlReader) checkAmbiguous(n *yaml.Node) {
	rest, found := r.textFrom(n)
	if !found {
		r.addProblem(n, "a tag ! or an escaped quote in this file cannot be distinguished from text: remove it")
		return
	}
	for strings.HasPrefix(rest, "&") { // anchors and tags stand before the value
		_, rest, _ = strings.Cut(rest, " ")
		rest = strings.TrimLeft(rest, " \t\r\n")
	}
	switch {
	case strings.HasPrefix(rest, "!") && explicitTag(n) == "":
		r.addProblem(n, "the tag ! by itself: remove it")
	case n.Style&yaml.DoubleQuotedStyle != 0 && hasQuoteEscape(rest):
		r.addProblem(n, `YAML has no escape \': write ' without a backslash`)
	}
}

// checkColon adds a problem for text in brackets that ends with a colon, which PyYAML refuses: {a:} and [a:,b]. A
// colon may follow on it: {a:: b} has the key "a:".
func (r *yamlReader) checkColon(n *yaml.Node) {
	rest, _ := r.textFrom(n)
	if _, after, _ := strings.Cut(rest, n.Value); !strings.HasPrefix(after, ":") {
		r.addProblem(n, "the colon of %s must not stand before a bracket or a comma: write a space behind it",
			quoteShort(n.Value))
	}
}

// hasQuoteEscape reports whether text in double quotes contains an escaped single
// quote.
func hasQuoteEscape(s string) bool {
	_, s, _ = strings.Cut(s, `"`)
	for i := 0; i+1 < len(s) && s[i] != '"'; i++ {
		if s[i] != '\\' {
			continue
		}
		if i++; s[i] == '\'' {
			return true
		}
	}
	return false
}

// textFrom returns the text of the file from the beginning of a node on. It returns
// false if the file has unusual line breaks, because parsers count these differently.
func (r *yamlReader) textFrom(n *yaml.Node) (string, bool) {
	if r.lines == nil {
		r.lines = lineStarts(r.raw)
	}
	if len(r.lines) == 0 {
		return "", false
	}
	if n.Line > len(r.lines) {
		return "", true // an empty value after the last line
	}
	s := r.lines[n.Line-1]
	for range n.Column - 1 {
		if s == "" || s[0] == '\n' {
			return s, true
		}
		_, size := utf8.DecodeRuneInString(s)
		s = s[size:]
	}
	return s, true
}

// lineStarts returns for each line the text from its beginning to the end of the file.
// It returns an empty list if the file has unusual line breaks.
func lineStarts(raw []byte) []string {
	all := []string{}
	if unusualBreak.Match(raw) {
		return all
	}
	rest := string(bytes.TrimPrefix(raw, []byte(byteOrderMark)))
	for more := true; more; {
		all = append(all, rest)
		_, rest, more = strings.Cut(rest, "\n")
	}
	return all
}

// unusualBreak finds line breaks other than a newline, with or without a carriage
// return before it.
var unusualBreak = lazyregexp.New(`\r(?:[^\n]|$)|\x{85}|\x{2028}|\x{2029}`)
