package jsonpath

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// A substitution is a text with what a pattern matches replaced, if that makes another text of it.
type substitution struct {
	pattern *regexp.Regexp
	into    string
}

// substitutionForm is how jsonpath_ng reads `sub(/PATTERN/, TEXT)`.
var substitutionForm = regexp.MustCompile(`^sub\(/(.*)/,\s+(.*)\)`)

// substitution reads the command `sub(/PATTERN/, TEXT)`.
func (p *parser) substitution(t token) (node, error) {
	m := substitutionForm.FindStringSubmatch(t.text)
	if m == nil {
		return nil, fmt.Errorf("at %d: `%.40s` must be `sub(/PATTERN/, TEXT)`", t.at, t.text)
	}
	pattern, err := regexp.Compile(strings.TrimSpace(m[1]))
	if err != nil {
		return nil, fmt.Errorf("at %d: the pattern of sub cannot be used: %w", t.at, err)
	}
	into := strings.TrimSpace(m[2])
	if strings.Contains(into, `\`) {
		return nil, fmt.Errorf("at %d: the text of sub must not have a backslash", t.at)
	}
	p.take(commandToken)
	return substitution{pattern, into}, nil
}

func (u substitution) find(s *search, d *datum) ([]*datum, error) {
	text, isText := d.value.(string)
	if !isText {
		return nil, errors.New("`sub` needs a text, not " + describe(d.value))
	}
	if !isAlike(u.pattern.String(), text) {
		return nil, fmt.Errorf("the pattern %.40q means something else in Python for the text %.40q", u.pattern, text)
	}
	out := u.pattern.ReplaceAllLiteralString(text, u.into)
	if out == text {
		return nil, s.visit(1)
	}
	return []*datum{{value: out, isForeign: true}}, s.visit(1)
}
