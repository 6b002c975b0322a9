package template

import (
	"errors"
	"fmt"
)

// A Template is a list of objects with the parameters that occur in them.
type Template struct {
	Objects    []map[string]any
	Parameters []Parameter
	Labels     map[string]string // added to each object
}

// A Parameter is declared by a template. Its value is the default, nil if there is none.
type Parameter struct {
	Name     string
	Value    *string
	Required bool
	Generate string // how a missing value would be made up, which is never done
}

// Process returns the objects of a template with the values of its parameters filled in, and
// with its labels. Values of parameters that it does not declare are ignored. The template is
// not changed.
func Process(t *Template, given map[string]string) ([]map[string]any, error) {
	values, err := t.Values(given)
	if err != nil {
		return nil, err
	}
	f := &filler{values: values, left: maxFilled}
	labels, err := f.labels(t.Labels)
	if err != nil {
		return nil, err
	}
	var out []map[string]any
	for i, object := range t.Objects {
		filled, err := f.object(object, labels)
		if err != nil {
			return nil, fmt.Errorf("object %d: %w", i+1, err)
		}
		out = append(out, filled)
	}
	return out, nil
}

// Values returns the value of each parameter: the given one, even if it is empty, or else the
// default, or else the empty text. A value that would be made up is an error.
func (t *Template) Values(given map[string]string) (map[string]string, error) {
	values := map[string]string{}
	var wrong []error
	for _, p := range t.Parameters {
		value, isGiven := given[p.Name]
		if !isGiven && p.Value != nil {
			value = *p.Value
		}
		switch {
		case value == "" && p.Generate != "" && !isGiven:
			wrong = append(wrong, fmt.Errorf("the parameter %s has no value; values are not generated here, so give it one",
				p.Name))
		case value == "" && p.Required:
			wrong = append(wrong, fmt.Errorf("the parameter %s has no value and is required", p.Name))
		}
		values[p.Name] = value
	}
	return values, errors.Join(wrong...)
}
