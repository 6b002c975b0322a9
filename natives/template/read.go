package template

import (
	"errors"
	"maps"
	"slices"

	"go.yaml.in/yaml/v3"
)

// versions are the API versions of a Template. The first is older, and means the same.
var versions = []string{"v1", "template.openshift.io/v1"}

// Read reads a Template from YAML or JSON. Errors name the file and the line. Default values
// that are no text become the text as it is written.
func Read(name string, raw []byte) (*Template, error) {
	doc, err := ReadDocument(name, raw)
	if err != nil {
		return nil, err
	}
	value, err := doc.Value()
	if err != nil {
		return nil, err
	}
	top, ok := value.(map[string]any)
	if !ok {
		return nil, doc.Errorf(nil, "a Template must be a map")
	}
	if kind, _ := top["kind"].(string); kind != "Template" {
		return nil, doc.Errorf([]any{"kind"}, "kind is %.40q; it must be Template", kind)
	}
	if version, _ := top["apiVersion"].(string); !slices.Contains(versions, version) {
		return nil, doc.Errorf([]any{"apiVersion"}, "apiVersion is %.80q; it must be %s", version, versions[1])
	}
	out := &Template{Labels: map[string]string{}}
	if err := errors.Join(out.readObjects(doc, top), out.readParameters(doc, top), out.readLabels(doc, top)); err != nil {
		return nil, err
	}
	return out, nil
}

func (t *Template) readObjects(doc *Document, top map[string]any) error {
	objects, err := listOf(doc, top, "objects")
	for i, value := range objects {
		object, ok := value.(map[string]any)
		if !ok {
			err = errors.Join(err, doc.Errorf([]any{"objects", i}, "an object must be a map"))
			continue
		}
		t.Objects = append(t.Objects, object)
	}
	return err
}

func (t *Template) readParameters(doc *Document, top map[string]any) error {
	parameters, err := listOf(doc, top, "parameters")
	for i, value := range parameters {
		p, wrong := readParameter(doc, value, i)
		err = errors.Join(err, wrong)
		t.Parameters = append(t.Parameters, p)
	}
	return err
}

func readParameter(doc *Document, value any, i int) (Parameter, error) {
	path := []any{"parameters", i}
	fields, _ := value.(map[string]any)
	name, _ := fields["name"].(string)
	if wanted := Names("${" + name + "}"); len(wanted) != 1 || wanted[0] != name {
		return Parameter{}, doc.Errorf(append(path, "name"), "a parameter needs a name of letters, digits and underscores")
	}
	p := Parameter{Name: name}
	generate, isText := fields["generate"].(string)
	if !isText && fields["generate"] != nil {
		return p, doc.Errorf(append(path, "generate"), "generate of the parameter %s must be a text", name)
	}
	p.Generate = generate
	required, isBool := fields["required"].(bool)
	if !isBool && fields["required"] != nil {
		return p, doc.Errorf(append(path, "required"), "required of the parameter %s must be true or false", name)
	}
	p.Required = required
	if fields["value"] == nil {
		return p, nil
	}
	text, ok := doc.text(append(path, "value")...)
	if !ok {
		return p, doc.Errorf(append(path, "value"), "the value of the parameter %s must be a text", name)
	}
	p.Value = &text
	return p, nil
}

func (t *Template) readLabels(doc *Document, top map[string]any) error {
	if top["labels"] == nil {
		return nil
	}
	labels, ok := top["labels"].(map[string]any)
	if !ok {
		return doc.Errorf([]any{"labels"}, "labels must be a map")
	}
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		text, ok := doc.text("labels", key)
		if !ok {
			return doc.Errorf([]any{"labels"}, "the label %.80q must be a text", key)
		}
		t.Labels[key] = text
	}
	return nil
}

// listOf returns the list in a field; no field and null are an empty list.
func listOf(doc *Document, top map[string]any, field string) ([]any, error) {
	list, ok := top[field].([]any)
	if !ok && top[field] != nil {
		return nil, doc.Errorf([]any{field}, "%s must be a list", field)
	}
	return list, nil
}

// text returns the text of a scalar as it is written.
func (d *Document) text(path ...any) (string, bool) {
	n := d.find(path...)
	if n == nil || n.Kind != yaml.ScalarNode {
		return "", false
	}
	return n.Value, true
}
