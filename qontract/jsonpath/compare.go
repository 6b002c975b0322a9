package jsonpath

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"strings"
)

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
	return isASCII && !strings.HasSuffix(text, "\n") ||
		!strings.ContainsAny(pattern, `\$`) && !strings.Contains(pattern, "(?")
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
