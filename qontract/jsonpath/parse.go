package jsonpath

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// The bounds of a path.
const (
	maxLength = 4096 // bytes
	maxDepth  = 64   // parentheses and brackets in each other
)

// A Path is a path that was read.
type Path struct{ root node }

// Parse reads a path. The error says what of it cannot be read.
func Parse(text string) (*Path, error) { return parse(text, false) }

// ParseSelector reads a path as those read it who try jsonpath_ng without its extensions first, such as change types
// of qontract-reconcile: without a filter, true and false begin names, and so does @. The error says what of it
// cannot be read.
func ParseSelector(text string) (*Path, error) {
	if !strings.Contains(text, "?") {
		if p, err := parse(text, true); err == nil {
			return p, nil
		}
	}
	return Parse(text)
}

// parse reads a path, with or without the extensions of jsonpath_ng.
func parse(text string, isPlain bool) (*Path, error) {
	if len(text) > maxLength {
		return nil, fmt.Errorf("it is longer than %d bytes", maxLength)
	}
	tokens, err := scan(text, isPlain)
	if err != nil {
		return nil, err
	}
	p := &parser{tokens: tokens, isPlain: isPlain}
	n, err := p.path(0)
	if err == nil && p.next().kind != endToken {
		err = p.unexpected()
	}
	if err != nil {
		return nil, err
	}
	return &Path{n}, nil
}

// A parser reads tokens from the front.
type parser struct {
	tokens  []token
	depth   int
	isPlain bool // without extensions
}

func (p *parser) next() token { return p.tokens[0] }

// take takes a token of a kind off the front. It reports whether it was there.
func (p *parser) take(kind string) (token, bool) {
	t := p.tokens[0]
	if t.kind != kind || kind == endToken {
		return t, false
	}
	p.tokens = p.tokens[1:]
	return t, true
}

// unexpected returns the error about the next token.
func (p *parser) unexpected() error {
	t := p.next()
	switch t.kind {
	case endToken:
		return errors.New("it ends too early")
	case "+", "-", "*":
		return fmt.Errorf("at %d: arithmetic (%s) is not supported", t.at, t.text)
	case "/", "\\":
		return fmt.Errorf("at %d: arithmetic and sorting (%s) are not supported", t.at, t.text)
	case commandToken:
		return fmt.Errorf("at %d: `%.40s` is not supported", t.at, t.text)
	case truthToken:
		return fmt.Errorf("at %d: a name that begins with %s needs quotes", t.at, t.text)
	}
	return fmt.Errorf("at %d: %.40q is not expected here", t.at, t.text)
}

// need takes a token of a kind off the front.
func (p *parser) need(kind string) error {
	if _, ok := p.take(kind); !ok {
		return fmt.Errorf("%q is missing: %w", kind, p.unexpected())
	}
	return nil
}

// levels say how close operators bind: jsonpath_ng gives | a higher one than the dot. An & behind a path belongs to
// it; only behind a comparison it joins conditions.
var levels = map[string]int{"..": 1, ".": 2, "|": 3, "&": 4, "where": 5, "wherenot": 6}

// path reads a path up to an operator that binds no closer than a level.
func (p *parser) path(level int) (node, error) {
	p.depth++
	defer func() { p.depth-- }()
	if p.depth > maxDepth {
		return nil, errors.New("it is nested too deeply")
	}
	left, err := p.first()
	if err != nil {
		return nil, err
	}
	return p.rest(left, level)
}

// rest reads what follows on a path.
func (p *parser) rest(left node, level int) (node, error) {
	for {
		t := p.next()
		if t.kind == "[" && level == 0 {
			inner, err := p.bracket(true)
			if err != nil {
				return nil, err
			}
			left = child{left, inner}
			continue
		}
		if levels[t.kind] <= level {
			return left, nil
		}
		p.take(t.kind)
		right, err := p.path(levels[t.kind])
		if err != nil {
			return nil, err
		}
		switch t.kind {
		case "..":
			left = descendants{left, right}
		case ".":
			left = child{left, right}
		case "|":
			left = union{left, right}
		case "&":
			left = intersection{}
		default:
			left = where{left, right, t.kind == "wherenot"}
		}
	}
}

// first reads the first part of a path.
func (p *parser) first() (node, error) {
	switch t := p.next(); t.kind {
	case "$":
		p.take("$")
		return document{}, nil
	case "@":
		p.take("@")
		if n := p.next(); (n.kind == nameToken || n.kind == truthToken) && n.at == t.at+1 {
			return nil, fmt.Errorf("at %d: a dot must stand behind @", n.at)
		}
		return itself{}, nil
	case "*":
		p.take("*")
		return fields{"*"}, nil
	case numberToken:
		p.take(numberToken)
		n, err := strconv.Atoi(t.text)
		return fields{strconv.Itoa(n)}, err
	case nameToken:
		return p.names()
	case "[":
		return p.bracket(false)
	case "(":
		p.take("(")
		inner, err := p.path(0)
		if err == nil {
			err = p.need(")")
		}
		return inner, err
	case commandToken:
		switch t.text {
		case "this":
			p.take(commandToken)
			return itself{}, nil
		case "parent":
			p.take(commandToken)
			return parent{}, nil
		}
		switch {
		case p.isPlain:
		case t.text == "len":
			p.take(commandToken)
			return length{}, nil
		case strings.HasPrefix(t.text, "sub("):
			return p.substitution(t)
		}
	}
	return nil, p.unexpected()
}

// names reads names with commas between them.
func (p *parser) names() (node, error) {
	var out fields
	for isFirst := true; isFirst || p.next().kind == ","; isFirst = false {
		if !isFirst {
			p.take(",")
		}
		t, ok := p.take(nameToken)
		if !ok {
			return nil, fmt.Errorf("a name is missing: %w", p.unexpected())
		}
		out = append(out, t.text)
	}
	return out, nil
}

// bracket reads a bracket. Only one behind a path may hold a filter.
func (p *parser) bracket(isBehind bool) (node, error) {
	p.take("[")
	var out node
	var err error
	switch t := p.next(); {
	case t.kind == "?" && isBehind:
		p.take("?")
		out, err = p.filter()
	case t.kind == nameToken:
		out, err = p.names()
	case t.kind == "*":
		p.take("*")
		out = slice{}
	case t.kind == numberToken || t.kind == ":":
		out, err = p.positions()
	default:
		err = p.unexpected()
	}
	if err != nil {
		return nil, err
	}
	return out, p.need("]")
}

// positions reads positions with commas between them, or a slice.
func (p *parser) positions() (node, error) {
	var bounds [3]*int
	at := 0
	var list positions
	for {
		if t, ok := p.take(numberToken); ok {
			of, err := strconv.ParseInt(t.text, 10, 32)
			if err != nil {
				return nil, fmt.Errorf("at %d: the number %.40s is too large", t.at, t.text)
			}
			n := int(of)
			bounds[at], list = &n, append(list, n)
		}
		switch t := p.next(); {
		case t.kind == ":" && at < 2 && len(list) <= at+1:
			p.take(":")
			at++
		case t.kind == "," && at == 0 && bounds[0] != nil:
			p.take(",")
			if p.next().kind != numberToken {
				return nil, fmt.Errorf("a position is missing: %w", p.unexpected())
			}
		case at > 0 && bounds[2] != nil && *bounds[2] == 0:
			return nil, errors.New("the step of a slice must not be 0")
		case at > 0:
			return slice{start: bounds[0], end: bounds[1], step: bounds[2]}, nil
		default:
			return list, nil
		}
	}
}
