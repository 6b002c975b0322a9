package jsonpath

import (
	"fmt"
	"strings"
)

// A token is a word of a path. The kind of a sign is the sign itself.
type token struct {
	kind string // name, number, decimal, truth, operator, command, a sign, or end
	text string // without quotes
	at   int    // position in the path, in bytes
}

// The kinds of tokens that are no signs.
const (
	nameToken     = "name"
	numberToken   = "number"
	decimalToken  = "decimal"
	truthToken    = "truth value"
	operatorToken = "operator" // compares
	commandToken  = "command"  // in backquotes
	endToken      = "end"
)

// operators compare, the longest first.
var operators = []string{"=~", "==", "<=", ">=", "!=", "=", "<", ">"}

// signs are the signs of paths; those that are only refused are among them.
var signs = []string{"..", "$", "@", ".", "[", "]", "(", ")", ",", ":", "|", "&", "?", "*", "+", "-", "/", "\\", "~",
	"!"}

// scan splits a path into tokens. Without the extensions of jsonpath_ng nothing compares, and there are no truth
// values.
func scan(text string, isPlain bool) ([]token, error) {
	var out []token
	for at := 0; at < len(text); {
		c := text[at]
		var t token
		var n int
		var err error
		switch {
		case c == ' ' || c == '\t' || c == '\n':
			at++
			continue
		case c == '\'' || c == '"' || c == '`':
			t, n, err = scanQuoted(text[at:])
		case isDigit(c) || c == '-' && at+1 < len(text) && isDigit(text[at+1]):
			t, n = scanNumber(text[at:], isPlain)
		case isLetter(c) || isPlain && c == '@':
			t, n = scanWord(text[at:], isPlain)
		default:
			t, n = scanSign(text[at:])
		}
		if err != nil {
			return nil, err
		}
		if n == 0 {
			return nil, fmt.Errorf("the character %q is not known", []rune(text[at:])[0])
		}
		t.at = at
		out, at = append(out, t), at+n
	}
	return append(out, token{kind: endToken, at: len(text)}), nil
}

func isDigit(c byte) bool  { return c >= '0' && c <= '9' }
func isLetter(c byte) bool { return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

// scanQuoted reads a text in quotes; a backslash stands before a character that means itself.
func scanQuoted(text string) (token, int, error) {
	var out strings.Builder
	for i := 1; i < len(text); i++ {
		switch {
		case text[i] == '\\' && i+1 < len(text):
			i++
			out.WriteByte(text[i])
		case text[i] == text[0]:
			kind := nameToken
			if text[0] == '`' {
				kind = commandToken
			}
			return token{kind: kind, text: out.String()}, i + 1, nil
		default:
			out.WriteByte(text[i])
		}
	}
	return token{}, 0, fmt.Errorf("the quote %c is not closed", text[0])
}

// scanNumber reads a number.
func scanNumber(text string, isPlain bool) (token, int) {
	digits := func(i int) int {
		for i < len(text) && isDigit(text[i]) {
			i++
		}
		return i
	}
	n, kind := digits(1), numberToken
	if !isPlain && n+1 < len(text) && text[n] == '.' && isDigit(text[n+1]) {
		n, kind = digits(n+1), decimalToken
	}
	return token{kind: kind, text: text[:n]}, n
}

// scanWord reads a name without quotes. One that begins with true or false is a truth value and what is left, as for
// jsonpath_ng.
func scanWord(text string, isPlain bool) (token, int) {
	for _, word := range []string{"true", "false"} {
		if !isPlain && strings.HasPrefix(text, word) {
			return token{kind: truthToken, text: word}, len(word)
		}
	}
	n := 1
	for n < len(text) && (isLetter(text[n]) || isDigit(text[n]) || text[n] == '-' || text[n] == '@') {
		n++
	}
	switch word := text[:n]; word {
	case "where", "wherenot":
		return token{kind: word, text: word}, n
	default:
		return token{kind: nameToken, text: word}, n
	}
}

// scanSign reads an operator or a sign; 0 if there is none.
func scanSign(text string) (token, int) {
	for _, o := range operators {
		if strings.HasPrefix(text, o) {
			return token{kind: operatorToken, text: o}, len(o)
		}
	}
	for _, s := range signs {
		if strings.HasPrefix(text, s) {
			return token{kind: s, text: s}, len(s)
		}
	}
	return token{}, 0
}
