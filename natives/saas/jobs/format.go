package jobs

import (
	"errors"
	"fmt"
	"strings"
)

// The bounds of a text.
const (
	maxFormatted = 64 << 10 // bytes
	maxNested    = 10       // values in values
	maxParts     = 3_000_000
)

// A formatter fills values into texts.
type formatter struct {
	values map[string]any
	depth  int
	left   *int // parts that may still be filled in
}

// errTooLarge says that definitions are a bomb.
var errTooLarge = fmt.Errorf("the definitions grow to more than %d parts", maxParts)

// deeper returns the formatter of a value in a value.
func (f formatter) deeper() formatter { return formatter{f.values, f.depth + 1, f.left} }

// A piece is a part of a text: text, or a variable.
type piece struct {
	text, variable, otherwise string
	hasOtherwise, isObject    bool
}

// pieces splits a text at its variables.
func pieces(text string) ([]piece, error) {
	var out []piece
	var plain strings.Builder
	for i := 0; i < len(text); {
		rest := text[i:]
		switch {
		case strings.HasPrefix(rest, "{{"), strings.HasPrefix(rest, "}}"):
			plain.WriteByte(rest[0])
			i += 2
		case rest[0] == '}':
			return nil, errors.New("a } stands alone")
		case rest[0] == '{':
			inner, _, ok := strings.Cut(rest[1:], "}")
			if !ok {
				return nil, errors.New("a { is not closed")
			}
			i += len(inner) + 2
			var p piece
			p.variable, p.isObject = strings.CutPrefix(inner, "obj:")
			p.variable, p.otherwise, p.hasOtherwise = strings.Cut(p.variable, "|")
			if !isVariable(p.variable) {
				return nil, fmt.Errorf("{%.60s} cannot be read", inner)
			}
			out = append(out, piece{text: plain.String()}, p)
			plain.Reset()
		default:
			plain.WriteByte(rest[0])
			i++
		}
	}
	return append(out, piece{text: plain.String()}), nil
}

// isVariable reports whether a text is the name of a variable.
func isVariable(name string) bool {
	return name != "" && !strings.ContainsFunc(name, func(r rune) bool {
		return r != '_' && r != '-' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	})
}

// variables returns the variables of a text; none if it cannot be read.
func variables(text string) []string {
	all, _ := pieces(text) // [formatter.text] tells the error
	var out []string
	for _, p := range all {
		if p.variable != "" {
			out = append(out, p.variable)
		}
	}
	return out
}

// text fills in a text.
func (f formatter) text(text string) (string, error) {
	if f.depth > maxNested {
		return "", errors.New("values are nested too deeply, or in a circle")
	}
	if *f.left -= 1 + len(text)/100; *f.left < 0 {
		return "", errTooLarge
	}
	all, err := pieces(text)
	if err != nil {
		return "", fmt.Errorf("%.100q: %w", text, err)
	}
	var out strings.Builder
	for _, p := range all {
		out.WriteString(p.text)
		if p.variable == "" {
			continue
		}
		value, err := f.variable(p)
		if err != nil {
			return "", err
		}
		if out.WriteString(value); out.Len() > maxFormatted {
			return "", fmt.Errorf("a text becomes longer than %d bytes", maxFormatted)
		}
	}
	return out.String(), nil
}

// variable returns the value of a variable as a text.
func (f formatter) variable(p piece) (string, error) {
	v, isThere := f.values[p.variable]
	switch v := v.(type) {
	case string:
		return f.deeper().text(v)
	case number:
		return string(v), nil
	case bool: // as Python writes it
		if v {
			return "True", nil
		}
		return "False", nil
	case unknown:
		return "", fmt.Errorf("{%.60s} is not known: %.200s", p.variable, string(v))
	}
	switch {
	case !isThere && p.hasOtherwise:
		return f.deeper().text(p.otherwise)
	case !isThere:
		return "", fmt.Errorf("nobody sets {%.60s}", p.variable)
	}
	return "", fmt.Errorf("{%.60s} is no text", p.variable)
}

// known returns a value with all texts filled in. What cannot be filled in is unknown.
func (f formatter) known(v any) any {
	if *f.left--; f.depth > 4*maxNested || *f.left < 0 {
		return unknown("it is too large, or nested too deeply")
	}
	next := f.deeper()
	switch v := v.(type) {
	case string:
		if all, err := pieces(v); err == nil && len(all) == 3 && all[1].isObject && all[0].text == "" && all[2].text == "" {
			return next.known(f.values[all[1].variable])
		}
		text, err := formatter{f.values, 0, f.left}.text(v)
		if err != nil {
			return unknown(err.Error())
		}
		return text
	case []any:
		out := make([]any, len(v))
		for i, of := range v {
			out[i] = next.known(of)
		}
		return out
	case map[string]any:
		out := map[string]any{}
		for name, of := range v {
			out[name] = next.known(of)
		}
		return out
	}
	return v
}
