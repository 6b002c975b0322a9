package gql

import (
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/vektah/gqlparser/v2/ast"
)

// definitions are the words that begin a type system definition. graphql-js
// parses those and rejects them in validation, where gqlparser cannot parse
// them in a query.
var definitions = regexp.MustCompile(`^Unexpected Name "(schema|scalar|type|interface|union|enum|input|directive|extend)"$`)

// parseCode returns the code for a document that gqlparser cannot parse.
func parseCode(err Error) string {
	if definitions.MatchString(err.Message) {
		return CodeValidation
	}
	return CodeParse
}

// A strict goes through the text of a document that gqlparser has accepted and
// finds what graphql-js 16 refuses to parse: a number that runs into a name,
// half a surrogate pair, a fragment for a string, and descriptions.
type strict struct {
	src  string
	pos  int
	open []byte // the brackets that are open
	last byte   // the last character of the token before, '.' for a spread
}

// strictText returns the complaint about a text, if there is one.
func strictText(src string) *Error {
	for i, r := range src {
		if r == utf8.RuneError && !strings.HasPrefix(src[i:], "\ufffd") {
			return syntaxError(src, i, "Invalid character.")
		}
	}
	s := &strict{src: src}
	for s.pos < len(src) {
		if err := s.token(); err != nil {
			return err
		}
	}
	return nil
}

func syntaxError(src string, pos int, format string, args ...any) *Error {
	return &Error{Code: CodeParse, Message: "Syntax Error: " + fmt.Sprintf(format, args...), Locations: []Location{locate(src, pos)}}
}

// token steps over one token, or over what separates tokens.
func (s *strict) token() *Error {
	c := s.src[s.pos]
	switch {
	case c == '#':
		if end := strings.IndexAny(s.src[s.pos:], "\r\n"); end >= 0 {
			s.pos += end
		} else {
			s.pos = len(s.src)
		}
		return nil
	case strings.IndexByte(" \t\r\n,", c) >= 0 || c >= utf8.RuneSelf:
		s.pos++
		return nil
	case c == '"':
		return s.text()
	case isDigit(c) || c == '-':
		return s.number()
	case isNameStart(c):
		for s.pos < len(s.src) && (isNameStart(s.src[s.pos]) || isDigit(s.src[s.pos])) {
			s.pos++
		}
	case c == '{' || c == '(' || c == '[':
		s.open = append(s.open, c)
		s.pos++
	case c == '}' || c == ')' || c == ']':
		s.open = s.open[:max(0, len(s.open)-1)]
		s.pos++
	default:
		s.pos++
	}
	s.last = c
	return nil
}

func (s *strict) number() *Error {
	for s.pos < len(s.src) && strings.IndexByte("+-.eE0123456789", s.src[s.pos]) >= 0 {
		s.pos++
	}
	s.last = '0'
	if s.pos < len(s.src) && isNameStart(s.src[s.pos]) {
		return syntaxError(s.src, s.pos, "Invalid number, expected digit but got: %q.", s.src[s.pos])
	}
	return nil
}

// text steps over a string. Outside of brackets, and before a variable, it is
// a description.
func (s *strict) text() *Error {
	start := s.pos
	inParentheses := len(s.open) == 1 && s.open[0] == '('
	switch {
	case s.last == '.':
		return syntaxError(s.src, start, `Expected "{", found String.`)
	case len(s.open) == 0 || inParentheses && s.last != '=' && s.last != ':':
		return syntaxError(s.src, start, "Unexpected description, descriptions are supported only on definitions.")
	}
	s.last = '"'
	if strings.HasPrefix(s.src[start:], `"""`) {
		s.pos = start + blockLength(s.src[start:])
		return nil
	}
	for s.pos++; s.pos < len(s.src) && s.src[s.pos] != '"'; s.pos++ {
		if s.src[s.pos] != '\\' {
			continue
		}
		if n, ok := pair(s.src[s.pos:]); !ok {
			return syntaxError(s.src, s.pos, `Invalid Unicode escape sequence: "%s".`, s.src[s.pos:min(s.pos+6, len(s.src))])
		} else if n > 0 {
			s.pos += n - 1
			continue
		}
		s.pos++
	}
	s.pos++
	return nil
}

// pair returns the length of the surrogates that a text begins with as escapes,
// and whether they form a pair.
func pair(s string) (int, bool) {
	high, ok := surrogateEscape(s)
	if !ok {
		return 0, true
	}
	low, ok := surrogateEscape(s[6:])
	return 12, ok && high < 0xDC00 && low >= 0xDC00
}

func surrogateEscape(s string) (rune, bool) {
	if len(s) < 6 || s[:2] != `\u` {
		return 0, false
	}
	var r rune
	for _, c := range []byte(s[2:6]) {
		d := hexDigit(c)
		if d < 0 {
			return 0, false
		}
		r = r<<4 | d
	}
	return r, 0xD800 <= r && r < 0xE000
}

// blockLength returns the length of the block string that a text begins with.
func blockLength(s string) int {
	for i := 3; i < len(s); i++ {
		switch {
		case strings.HasPrefix(s[i:], `\"""`):
			i += 3
		case strings.HasPrefix(s[i:], `"""`):
			return i + 3
		}
	}
	return len(s)
}

// strictTree returns the complaint about what shows in the parsed document:
// variables of fragments, and variables in the directives of variables.
func strictTree(src string, doc *ast.QueryDocument) *Error {
	for _, f := range doc.Fragments {
		if len(f.VariableDefinition) > 0 {
			return syntaxError(src, (&converter{}).at(f.Position), `Expected "on", found "(".`)
		}
	}
	for _, op := range doc.Operations {
		for _, v := range op.VariableDefinitions {
			for _, d := range v.Directives {
				for _, a := range d.Arguments {
					if name := usedIn(a.Value); name != "" {
						return syntaxError(src, 0, `Unexpected variable "$%s" in constant value.`, name)
					}
				}
			}
		}
	}
	return nil
}

// usedIn returns a variable in a literal, or "".
func usedIn(v *ast.Value) string {
	if v.Kind == ast.Variable {
		return v.Raw
	}
	for _, child := range v.Children {
		if name := usedIn(child.Value); name != "" {
			return name
		}
	}
	return ""
}
