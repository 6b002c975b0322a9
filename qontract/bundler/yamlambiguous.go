package bundler

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/app-sre/prcheck/internal/lazyregexp"
)

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
