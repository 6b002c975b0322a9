package edit

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/app-sre/prcheck/internal/lazyregexp"
)

// A text is a file whose places can be found by line and column.
type text struct {
	raw   []byte
	lines []int  // offsets of the beginnings
	end   string // of lines
}

// newText returns the text of a file. Lines end where they end for the parser.
func newText(raw []byte) text {
	t := text{raw: raw, lines: []int{0}, end: "\n"}
	for i := 0; i < len(raw); {
		c, size := utf8.DecodeRune(raw[i:])
		i += size
		switch c {
		case '\r':
			if i < len(raw) && raw[i] == '\n' {
				i++
			}
		case '\n', '\u0085', '\u2028', '\u2029':
		default:
			continue
		}
		t.lines = append(t.lines, i)
	}
	if i := bytes.IndexByte(raw, '\n'); i > 0 && raw[i-1] == '\r' {
		t.end = "\r\n"
	}
	return t
}

// A cut is a part of a text with what comes in its place.
type cut struct {
	from, length int
	text         string
}

// with returns the text with all cuts. They do not overlap; of two at one place the first one
// comes first.
func (t text) with(cuts []cut) []byte {
	cuts = slices.Clone(cuts)
	slices.SortStableFunc(cuts, func(a, b cut) int { return cmp.Compare(a.from, b.from) })
	var out []byte
	at := 0
	for _, c := range cuts {
		out = append(append(out, t.raw[at:c.from]...), c.text...)
		at = c.from + c.length
	}
	return append(out, t.raw[at:]...)
}

// offset returns where a node begins.
func (t text) offset(node *yaml.Node) (int, error) {
	if node.Line < 1 || node.Line > len(t.lines) || node.Column < 1 {
		return 0, refuse("line %d is not there", node.Line)
	}
	at := t.lines[node.Line-1]
	for range node.Column - 1 {
		_, size := utf8.DecodeRune(t.raw[at:])
		if size == 0 {
			return 0, refuse("line %d is shorter than expected", node.Line)
		}
		at += size
	}
	return at, nil
}

// scalar returns where a scalar stands, with its quotes, if it stands there as it is: without
// escapes, on one line.
func (t text) scalar(node *yaml.Node) (from, length int, quote string, err error) {
	from, err = t.offset(node)
	if err != nil {
		return 0, 0, "", err
	}
	switch node.Style {
	case 0:
	case yaml.SingleQuotedStyle:
		quote = "'"
	case yaml.DoubleQuotedStyle:
		quote = `"`
	default:
		return 0, 0, "", refuse("the value in line %d has a tag or several lines", node.Line)
	}
	source := quote + node.Value + quote
	if node.Value == "" || strings.ContainsAny(node.Value, "'\"\\\r\n") || !bytes.HasPrefix(t.raw[from:], []byte(source)) {
		return 0, 0, "", refuse("the value in line %d is not written on one line without escapes", node.Line)
	}
	return from, len(source), quote, nil
}

// endOf returns where a node ends.
func (t text) endOf(node *yaml.Node) (int, error) {
	from, err := t.offset(node)
	if err != nil {
		return 0, err
	}
	switch {
	case node.Anchor != "" || node.Kind == yaml.AliasNode:
		return 0, refuse("line %d has an anchor or an alias", node.Line)
	case node.Kind == yaml.ScalarNode:
		from, length, _, err := t.scalar(node)
		return from + length, err
	case node.Style&yaml.FlowStyle != 0:
		last, err := t.closing(from)
		return last + 1, err
	case len(node.Content) == 0:
		return 0, refuse("line %d has nothing", node.Line)
	}
	return t.endOf(node.Content[len(node.Content)-1])
}

// closing returns where the bracket stands that closes the one at an offset.
func (t text) closing(from int) (int, error) {
	depth, quote := 0, byte(0)
	for i := from; i < len(t.raw); i++ {
		c := t.raw[i]
		if quote != 0 {
			switch {
			case c == '\\' && quote == '"':
				i++
			case c == quote && quote == '\'' && i+1 < len(t.raw) && t.raw[i+1] == '\'':
				i++
			case c == quote:
				quote = 0
			}
			continue
		}
		begins := i == from || strings.IndexByte(" \t\r\n[]{},:", t.raw[i-1]) >= 0 // a word
		switch {
		case (c == '\'' || c == '"') && begins:
			quote = c
		case c == '#' && begins:
			for i+1 < len(t.raw) && t.raw[i+1] != '\n' {
				i++
			}
		case c == '[' || c == '{':
			depth++
		case c == ']' || c == '}':
			if depth--; depth == 0 {
				return i, nil
			}
		}
		if depth == 0 {
			break
		}
	}
	return 0, refuse("a bracket is not closed")
}

// lineEnd returns the offset of the end of the line of an offset, before the line end.
func (t text) lineEnd(at int) int {
	for i := at; i < len(t.raw); i++ {
		if t.raw[i] == '\n' || t.raw[i] == '\r' {
			return i
		}
	}
	return len(t.raw)
}

// plainPattern matches texts that are texts in every version of YAML without quotes, except for
// some words and numbers.
var plainPattern = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9._/-]*$`)

// numberPattern matches what some version of YAML takes for a number or a date.
var numberPattern = lazyregexp.New(`^(0[bxo])?[0-9._a-fA-F-]*$`)

// isPlain reports whether a text can be written without quotes.
func isPlain(s string) bool {
	if !plainPattern.MatchString(s) {
		return false
	}
	switch strings.ToLower(s) {
	case "y", "n", "yes", "no", "on", "off", "true", "false", "null":
		return false
	}
	if !numberPattern.MatchString(s) {
		return true
	}
	rest, isBinary := strings.CutPrefix(s, "0b")
	switch {
	case strings.HasPrefix(s, "0x"), strings.HasPrefix(s, "0o"):
		return false
	case isBinary:
		return strings.Trim(rest, "01_") != ""
	}
	return strings.ContainsAny(s, "abcdfABCDF") // a number has no letter but e
}
