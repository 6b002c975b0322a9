package template

import (
	"errors"
	"fmt"
	"maps"
	"slices"
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
	labels := map[string]string{}
	for _, key := range slices.Sorted(maps.Keys(t.Labels)) {
		k, v := f.text(key), f.text(t.Labels[key])
		if _, isTwice := labels[k]; isTwice {
			return nil, fmt.Errorf("two labels become the label %.80q", k)
		}
		labels[k] = v
	}
	var out []map[string]any
	for i, object := range t.Objects {
		filled, err := f.object(dropNamespace(object), labels)
		if err != nil {
			return nil, fmt.Errorf("object %d: %w", i+1, err)
		}
		out = append(out, filled)
	}
	return out, nil
}

// Values returns the value of each parameter: the given one, even if it is empty, or else the
// default, or else the empty text.
func (t *Template) Values(given map[string]string) (map[string]string, error) {
	values := map[string]string{}
	var wrong []error
	for _, p := range t.Parameters {
		value, isGiven := given[p.Name]
		if !isGiven && p.Value != nil {
			value = *p.Value
		}
		switch {
		case value == "" && p.Generate != "":
			wrong = append(wrong, fmt.Errorf("the parameter %s has no value; values are not generated here, so give it one", p.Name))
		case value == "" && p.Required:
			wrong = append(wrong, fmt.Errorf("the parameter %s has no value and is required", p.Name))
		}
		values[p.Name] = value
	}
	return values, errors.Join(wrong...)
}

// object returns an object with values and labels.
func (f *filler) object(object map[string]any, labels map[string]string) (map[string]any, error) {
	value, err := f.fill(object)
	out, _ := value.(map[string]any)
	setGroup(out)
	if err != nil || len(labels) == 0 {
		return out, err
	}
	metadata, err := child(out, "metadata")
	if err != nil {
		return nil, err
	}
	own, err := child(metadata, "labels")
	if err != nil {
		return nil, err
	}
	for k, v := range labels {
		own[k] = v
	}
	return out, nil
}

// child returns the map in a field of an object. It adds an empty map if there is none.
func child(of map[string]any, field string) (map[string]any, error) {
	switch value := of[field].(type) {
	case nil:
		made := map[string]any{}
		of[field] = made
		return made, nil
	case map[string]any:
		return value, nil
	default:
		return nil, fmt.Errorf("%s must be a map", field)
	}
}

// dropNamespace returns an object without its namespace if that is written out: the caller says
// where the objects go. A namespace with a reference stays.
func dropNamespace(object map[string]any) map[string]any {
	metadata, ok := object["metadata"].(map[string]any)
	if !ok {
		return object
	}
	name, _ := metadata["namespace"].(string)
	if _, end := findReference(name); end > 0 {
		return object
	}
	object, metadata = maps.Clone(object), maps.Clone(metadata)
	delete(metadata, "namespace")
	object["metadata"] = metadata
	return object
}
