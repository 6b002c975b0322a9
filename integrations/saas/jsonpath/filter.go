package jsonpath

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"regexp"
	"strings"
)

// A condition holds for a value if the path chooses anything in it that compares as it says.
type condition struct {
	path     node
	operator string // "" if it is enough that there is anything
	value    any    // string, bool, *big.Int or float64
	pattern  *regexp.Regexp
}

// filter reads conditions with & between them.
func (p *parser) filter() (node, error) {
	var out filter
	for isFirst := true; isFirst || p.next().kind == "&"; isFirst = false {
		if !isFirst {
			p.take("&")
		}
		of, err := p.conditions()
		if err != nil {
			return nil, err
		}
		out = append(out, of...)
	}
	return out, nil
}

// conditions reads one condition, or several in parentheses. A parenthesis around a path alone
// belongs to the path if the path goes on behind it.
func (p *parser) conditions() ([]condition, error) {
	if _, ok := p.take("("); !ok {
		path, err := p.path(0)
		if err != nil {
			return nil, err
		}
		return p.compared(path)
	}
	p.depth++
	defer func() { p.depth-- }()
	if p.depth > maxDepth {
		return nil, errors.New("it is nested too deeply")
	}
	inner, err := p.filter()
	if err == nil {
		err = p.need(")")
	}
	if err != nil {
		return nil, err
	}
	all := inner.(filter)
	if next := p.next().kind; len(all) > 1 || all[0].operator != "" || next == "&" || next == ")" || next == "]" {
		return all, nil
	}
	path, err := p.rest(all[0].path, 0)
	if err != nil {
		return nil, err
	}
	return p.compared(path)
}

// compared reads what a path is compared with, if anything.
func (p *parser) compared(path node) ([]condition, error) {
	c := condition{path: path}
	operator, ok := p.take(operatorToken)
	if !ok {
		return []condition{c}, nil
	}
	t := p.next()
	switch t.kind {
	case nameToken:
		c.value = t.text
	case truthToken:
		c.value = t.text == "true"
	case numberToken:
		c.value, _ = new(big.Int).SetString(t.text, 10)
	case decimalToken:
		f, _ := new(big.Float).SetString(t.text)
		c.value, _ = f.Float64()
	default:
		return nil, fmt.Errorf("a text, a number, true or false must follow on %s: %w", operator.text, p.unexpected())
	}
	p.take(t.kind)
	c.operator = operator.text
	if text, isText := c.value.(string); isText && c.operator == "=~" {
		var err error
		if c.pattern, err = regexp.Compile(text); err != nil {
			return nil, fmt.Errorf("at %d: the pattern of =~ cannot be used: %w", t.at, err)
		}
	}
	return []condition{c}, nil
}

// holds reports whether a value compares as the condition says.
func (c condition) holds(v any) (bool, error) {
	if c.pattern != nil {
		text, isText := v.(string)
		if isText && !isAlike(c.pattern.String(), text) {
			return false, fmt.Errorf("the pattern %.40q means something else in Python for the text %.40q", c.pattern, text)
		}
		return isText && c.pattern.MatchString(text), nil
	}
	if c.operator == "=~" {
		return c.matchesNumber(v)
	}
	if want, isInteger := c.value.(*big.Int); isInteger {
		is, ok, err := integer(v)
		if err != nil || !ok {
			return false, err
		}
		return ordered(is.Cmp(want), c.operator), nil
	}
	if want, isText := c.value.(string); isText {
		if is, ok := v.(string); ok {
			return ordered(strings.Compare(is, want), c.operator), nil
		}
		return c.unlike(v)
	}
	want, _ := number(c.value)
	is, ok := number(v)
	if !ok {
		return c.unlike(v)
	}
	return ordered(is.Cmp(want), c.operator), nil
}

// matchesNumber matches a value with a number or a truth value, which nothing does. What cannot be tried is an
// error: a text with a fraction or a truth value, and with a whole number what is no number.
func (c condition) matchesNumber(v any) (bool, error) {
	if _, isInteger := c.value.(*big.Int); isInteger {
		_, _, err := integer(v)
		return false, err
	}
	if _, isText := v.(string); isText {
		return false, errors.New("a text must follow on =~")
	}
	return false, nil
}

// unlike compares a value of another type, which is neither equal nor less nor greater.
func (c condition) unlike(v any) (bool, error) {
	switch c.operator {
	case "=", "==":
		return false, nil
	case "!=":
		return true, nil
	}
	return false, fmt.Errorf("%s cannot compare %s with %s", c.operator, describe(v), describe(c.value))
}

// isAlike reports whether a pattern means the same for a text in Go and in Python: classes hold
// more characters there, and $ stands also before a line feed at the end.
func isAlike(pattern, text string) bool {
	isASCII := !strings.ContainsFunc(text, func(r rune) bool { return r >= 0x80 })
	return isASCII && !strings.HasSuffix(text, "\n") || !strings.ContainsAny(pattern, `\$`) && !strings.Contains(pattern, "(?")
}

// integer returns a value as int() of Python makes it a number: texts of digits are numbers, and
// fractions are cut. ok is false for other texts.
func integer(v any) (n *big.Int, ok bool, err error) {
	if text, isText := v.(string); isText {
		n, ok = new(big.Int).SetString(strings.TrimPrefix(strings.TrimSpace(text), "+"), 10)
		return n, ok && len(text) <= maxLength, nil
	}
	f, isNumber := number(v)
	if !isNumber {
		return nil, false, fmt.Errorf("%s is no number", describe(v))
	}
	n, _ = f.Int(nil)
	return n, true, nil
}

// number returns a number or a truth value as a number.
func number(v any) (*big.Float, bool) {
	switch v := v.(type) {
	case bool:
		if v {
			return big.NewFloat(1), true
		}
		return new(big.Float), true
	case float64:
		return big.NewFloat(v), true
	case json.Number:
		if !strings.ContainsAny(string(v), ".eE") && len(v) <= maxLength {
			n, ok := new(big.Int).SetString(string(v), 10)
			return new(big.Float).SetInt(orZero(n)), ok
		}
		f, err := v.Float64() // as Python reads it
		return big.NewFloat(f), err == nil
	}
	return nil, false
}

func orZero(n *big.Int) *big.Int {
	if n == nil {
		return new(big.Int)
	}
	return n
}

// ordered reports whether an order is what an operator asks for.
func ordered(order int, operator string) bool {
	switch operator {
	case "=", "==":
		return order == 0
	case "!=":
		return order != 0
	case "<":
		return order < 0
	case "<=":
		return order <= 0
	case ">":
		return order > 0
	}
	return order >= 0
}

// describe says what a value is, without the value.
func describe(v any) string {
	switch v.(type) {
	case map[string]any:
		return "an object"
	case []any:
		return "a list"
	case string:
		return "a text"
	case bool:
		return "a truth value"
	case nil:
		return "null"
	}
	return "a number"
}
