package saas

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// maxPath is how long a path of a selector may be, in bytes.
const maxPath = 4096

// parsePath reads a path that chooses namespaces: namespace[?CONDITION & …], namespace[*] or
// namespace[2], each with or without "$." before it and parentheses around the conditions. A
// condition is a field such as @.cluster.name, alone or with = == != < <= > >= and a value. These
// are the paths of jsonpath-ng that choose whole namespaces, as far as SaaS files use them.
func parsePath(text string) (selection, error) {
	s := selection{position: -1}
	if len(text) > maxPath {
		return s, fmt.Errorf("it is longer than %d bytes", maxPath)
	}
	p := pathReader{rest: strings.TrimSpace(text)}
	p.skip("$")
	p.skip(".")
	if !p.skip("namespace") || !p.skip("[") {
		return s, errors.New("it must begin with namespace[")
	}
	if err := p.bracket(&s); err != nil {
		return s, err
	}
	if p.rest != "" {
		return s, fmt.Errorf("it must end behind the bracket, got %.40q", p.rest)
	}
	return s, nil
}

// A pathReader reads a path from its front.
type pathReader struct{ rest string }

// skip takes a text off the front, with blanks behind it. It reports whether the text was there.
func (p *pathReader) skip(text string) bool {
	rest, ok := strings.CutPrefix(p.rest, text)
	if ok {
		p.rest = strings.TrimLeft(rest, " \t\n")
	}
	return ok
}

// bracket reads what stands in the bracket, and its end.
func (p *pathReader) bracket(s *selection) error {
	switch {
	case p.skip("*"):
	case p.skip("?"):
		if err := p.conditions(s); err != nil {
			return err
		}
	default:
		digits := p.take(func(c byte) bool { return c >= '0' && c <= '9' })
		n, err := strconv.Atoi(digits)
		if err != nil {
			return errors.New("the bracket must hold *, a position, or ? with conditions")
		}
		s.position = n
	}
	if !p.skip("]") {
		return fmt.Errorf("the bracket is not closed, got %.40q", p.rest)
	}
	return nil
}

// conditions reads conditions with & between them.
func (p *pathReader) conditions(s *selection) error {
	isWrapped := p.skip("(")
	for isFirst := true; isFirst || p.skip("&"); isFirst = false {
		c, err := p.condition()
		if err != nil {
			return err
		}
		s.conditions = append(s.conditions, c)
	}
	if isWrapped && !p.skip(")") {
		return errors.New("a parenthesis is not closed")
	}
	return nil
}

// condition reads one condition.
func (p *pathReader) condition() (condition, error) {
	var c condition
	isWrapped := p.skip("(")
	if p.skip("@") && !p.skip(".") {
		return c, errors.New("a field must follow on @")
	}
	for isFirst := true; isFirst || p.skip("."); isFirst = false {
		name, err := p.name()
		if err != nil {
			return c, err
		}
		c.names = append(c.names, name)
	}
	for _, operator := range []string{"==", "!=", "<=", ">=", "=~", "=", "<", ">"} {
		if !p.skip(operator) {
			continue
		}
		if operator == "=~" {
			return c, errors.New("=~ is not supported")
		}
		var err error
		c.operator = operator
		if c.value, err = p.value(); err != nil {
			return c, err
		}
		break
	}
	if isWrapped && !p.skip(")") {
		return c, errors.New("a parenthesis is not closed")
	}
	return c, nil
}

// name reads the name of a field, with or without quotes.
func (p *pathReader) name() (string, error) {
	if strings.HasPrefix(p.rest, "'") || strings.HasPrefix(p.rest, `"`) {
		return p.quoted()
	}
	name := p.take(func(c byte) bool { return isNameRune(rune(c)) || c == '-' || c >= 0x80 })
	p.skip("") // blanks behind it
	if name == "" {
		return "", fmt.Errorf("the name of a field must follow, got %.40q", p.rest)
	}
	return name, nil
}

// value reads a text in quotes, a number, true or false.
func (p *pathReader) value() (any, error) {
	if strings.HasPrefix(p.rest, "'") || strings.HasPrefix(p.rest, `"`) {
		return p.quoted()
	}
	word := p.take(func(c byte) bool { return isNameRune(rune(c)) || c == '.' || c == '-' || c == '+' })
	p.skip("")
	switch word {
	case "true":
		return true, nil
	case "false":
		return false, nil
	}
	if _, err := strconv.ParseFloat(word, 64); err != nil || strings.Trim(word, "0123456789.-") != "" {
		return nil, fmt.Errorf("a value must be a text in quotes, a number, true or false, got %.40q", word+p.rest)
	}
	return json.Number(word), nil
}

// quoted reads a text in quotes; a backslash stands before a character that means itself.
func (p *pathReader) quoted() (string, error) {
	quote := p.rest[0]
	var out strings.Builder
	for i := 1; i < len(p.rest); i++ {
		switch c := p.rest[i]; {
		case c == '\\' && i+1 < len(p.rest):
			i++
			out.WriteByte(p.rest[i])
		case c == quote:
			p.rest = p.rest[i+1:]
			p.skip("")
			return out.String(), nil
		default:
			out.WriteByte(c)
		}
	}
	return "", errors.New("a quote is not closed")
}

// take takes the characters off the front that fit.
func (p *pathReader) take(fits func(byte) bool) string {
	n := 0
	for n < len(p.rest) && fits(p.rest[n]) {
		n++
	}
	out := p.rest[:n]
	p.rest = p.rest[n:]
	return out
}
