package rules

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/app-sre/prcheck/qontract/jsonpath"
)

// A selector is a path, or the template of one.
type selector struct {
	text     string
	path     *jsonpath.Path // nil for a template
	template []string       // the parts between which the path of the context file stands
}

// variable matches the only expression that templates may have.
var variable = regexp.MustCompile(`\{\{-?\s*(.*?)\s*-?\}\}`)

// identifier matches the name of a variable.
var name = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// contextFile is the name of the only variable.
const contextFile = "ctx_file_path"

// compileSelector reads a selector.
func compileSelector(text string) (selector, *Fault) {
	s := selector{text: text}
	if !strings.Contains(text, "{{") {
		path, err := jsonpath.ParseSelector(text)
		if err != nil {
			return s, &Fault{Kind: BadSelector, Text: fmt.Sprintf("the selector %q cannot be read: %v", text, err)}
		}
		s.path = path
		return s, nil
	}
	end := 0
	for _, at := range variable.FindAllStringSubmatchIndex(text, -1) {
		switch of := text[at[2]:at[3]]; {
		case of == contextFile:
		case name.MatchString(of):
			return s, &Fault{Kind: BadVariable, Text: fmt.Sprintf("the selector %q has the variable %q; only %s is known", text,
				of, contextFile)}
		default:
			return s, badTemplate(text)
		}
		s.template = append(s.template, text[end:at[0]])
		end = at[1]
	}
	s.template = append(s.template, text[end:])
	for _, part := range s.template {
		for _, sign := range []string{"{{", "{%", "{#"} {
			if strings.Contains(part, sign) {
				return s, badTemplate(text)
			}
		}
	}
	return s, nil
}

func badTemplate(text string) *Fault {
	return &Fault{Kind: BadTemplate,
		Text: fmt.Sprintf("the selector %q has a template that cannot be read: write {{ %s }}", text, contextFile)}
}

// of returns the path of a selector for a context file.
func (s selector) of(file string) (*jsonpath.Path, error) {
	if s.path != nil {
		return s.path, nil
	}
	text := strings.Join(s.template, file)
	path, err := jsonpath.ParseSelector(text)
	if err != nil {
		return nil, fmt.Errorf("the selector %q cannot be read: %w", text, err)
	}
	return path, nil
}

// failed returns the error about a selector that could not be searched.
func (s selector) failed(err error) error {
	return fmt.Errorf("the selector %q: %w", s.text, err)
}
