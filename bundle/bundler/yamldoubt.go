package bundler

import (
	"bytes"
	"regexp"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// doubtful finds the two things that the parser takes for something else than
// libyaml does and that its nodes do not tell: the tag "!" by itself, and a
// quote after a backslash. Where they stand in other text they do no harm.
var doubtful = regexp.MustCompile(`!(?:[\s,\]}\x{85}\x{2028}\x{2029}]|$)|\\'`)

// doubt refuses a scalar that the parser may have misread.
func (r *yamlReader) doubt(n *yaml.Node) {
	rest, found := r.textAt(n)
	if !found {
		r.fail(n, "a tag ! or an escaped quote in this file cannot be told from text: remove it")
		return
	}
	for strings.HasPrefix(rest, "&") { // anchors and tags stand before the value
		_, rest, _ = strings.Cut(rest, " ")
		rest = strings.TrimLeft(rest, " \t\r\n")
	}
	switch {
	case strings.HasPrefix(rest, "!") && explicit(n) == "":
		r.fail(n, "the tag ! by itself: remove it")
	case n.Style&yaml.DoubleQuotedStyle != 0 && badEscape(rest):
		r.fail(n, `the escape \' is not one of YAML: write ' without a backslash`)
	}
}

// badEscape tells whether a text in double quotes escapes a single quote.
func badEscape(s string) bool {
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

// textAt gives the file from where a node begins. Lines that end in another way
// than with a newline are not counted alike by everybody.
func (r *yamlReader) textAt(n *yaml.Node) (string, bool) {
	if r.lines == nil {
		r.lines = lines(r.raw)
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

// lines gives for each line what follows its beginning.
func lines(raw []byte) []string {
	all := []string{}
	if oddBreak.Match(raw) {
		return all
	}
	rest := string(bytes.TrimPrefix(raw, []byte(byteOrderMark)))
	for more := true; more; {
		all = append(all, rest)
		_, rest, more = strings.Cut(rest, "\n")
	}
	return all
}

var oddBreak = regexp.MustCompile(`\r(?:[^\n]|$)|\x{85}|\x{2028}|\x{2029}`)
