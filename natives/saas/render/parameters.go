package render

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/app-sre/prcheck/internal/pyjson"

	"github.com/app-sre/prcheck/natives/saas"
)

// The bounds of the parameters of a target. The first is well above what qontract-reconcile can
// hand to a program on its command line.
const (
	maxParameterBytes = 1 << 20 // of names and values together, also after the references are replaced
	maxParameters     = 1000
)

// Parameters are values by name that know in which order the names were first set. A value is a
// text, a json.Number or nil; in those of a chart also true, false, a list or a map.
type parameters struct {
	names  []string
	values map[string]any
}

// set sets a value. A name that is there keeps its place.
func (p *parameters) set(name string, value any) {
	if _, isThere := p.values[name]; !isThere {
		p.names = append(p.names, name)
	}
	p.values[name] = value
}

// A layer is one place that gives parameters, with its secrets.
type layer struct {
	of         string  // for people
	pointer    string  // in the target, "" for other places
	parameters *string // JSON text of an object
	secrets    []saas.SecretParameter
}

// layersOf returns the places that give parameters to a target, the weakest first.
func layersOf(t *saas.Target) []layer {
	of, file := t.Template, t.Template.File
	var out []layer
	if env := t.Namespace.Environment; env != nil {
		out = append(out, layer{of: "of the environment", parameters: env.Parameters, secrets: env.SecretParameters})
	}
	return append(out,
		layer{of: "of the saas file", parameters: file.Parameters, secrets: file.SecretParameters},
		layer{of: "of the template", parameters: of.Parameters, secrets: of.SecretParameters},
		layer{of: "of the target", pointer: "/parameters", parameters: t.Parameters, secrets: t.SecretParameters})
}

// A secretsFunc returns the value of a secret of a layer.
type secretsFunc func(saas.SecretParameter) string

// collect returns the parameters of all layers, with references replaced. If they are for a
// template of OpenShift, true, false, lists and maps are texts.
func collect(layers []layer, secret secretsFunc, areTexts bool) (*parameters, error) {
	out := &parameters{values: map[string]any{}}
	for _, l := range layers {
		if err := l.addTo(out, areTexts); err != nil {
			return nil, &TargetMistake{CodeParameters, l.pointer, fmt.Sprintf("the parameters %s cannot be read: %v", l.of, err)}
		}
		for _, s := range l.secrets {
			out.set(s.Name, secret(s))
		}
	}
	if len(out.names) > maxParameters {
		return nil, &TargetMistake{Code: CodeParameters, Message: fmt.Sprintf("there are more than %d parameters",
			maxParameters)}
	}
	return out, out.replace()
}

// addTo sets the parameters of a layer.
func (l layer) addTo(out *parameters, areTexts bool) error {
	if l.parameters == nil || *l.parameters == "" {
		return nil
	}
	names, values, err := readObject(*l.parameters)
	if err != nil {
		return err
	}
	for i, name := range names {
		if areTexts {
			values[i] = adjust(values[i])
		}
		out.set(name, values[i])
	}
	return nil
}

// readObject returns the members of a JSON object in their order; null has none.
func readObject(text string) (names []string, values []any, err error) {
	if !json.Valid([]byte(text)) {
		return nil, nil, fmt.Errorf("they are no JSON")
	}
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	switch begin, err := dec.Token(); {
	case err != nil || begin == nil:
		return nil, nil, err
	case begin != json.Delim('{'):
		return nil, nil, fmt.Errorf("they are no object of JSON")
	}
	for dec.More() {
		var value any
		name, err := dec.Token()
		if err == nil {
			err = dec.Decode(&value)
		}
		if err != nil {
			return nil, nil, fmt.Errorf("they are no JSON")
		}
		names, values = append(names, name.(string)), append(values, value)
	}
	return names, values, nil
}

// adjust returns a value as a parameter of a template of OpenShift.
func adjust(value any) any {
	switch value.(type) {
	case bool:
		return fmt.Sprint(value)
	case []any, map[string]any:
		return string(pyjson.Sorted(value))
	}
	return value
}

// replace replaces ${NAME} in all texts, once for each name with a text as value, in the order
// of the names. A value that was replaced already is what a later name gives.
func (p *parameters) replace() error {
	total := 0
	for _, name := range p.names {
		total += len(name) + sizeOf(p.values[name])
	}
	for _, name := range p.names {
		value, isText := p.values[name].(string)
		pattern := "${" + name + "}"
		for _, of := range p.names {
			text, ok := p.values[of].(string)
			if !isText || !ok || len(text) < len(pattern) {
				continue
			}
			n := strings.Count(text, pattern)
			if total += n * (len(value) - len(pattern)); total > maxParameterBytes {
				break
			}
			if n > 0 {
				p.values[of] = strings.ReplaceAll(text, pattern, value)
			}
		}
		if total > maxParameterBytes {
			return &TargetMistake{Code: CodeParameters,
				Message: fmt.Sprintf("the parameters have more than %d KiB, perhaps because they repeat each other",
					maxParameterBytes>>10)}
		}
	}
	return nil
}

// sizeOf returns how many bytes a value has as JSON, about.
func sizeOf(value any) int {
	if text, ok := value.(string); ok {
		return len(text)
	}
	raw, _ := json.Marshal(value) // it was JSON
	return len(raw)
}

// texts returns the parameters as a template of OpenShift gets them.
func (p *parameters) texts() map[string]string {
	out := map[string]string{}
	for name, value := range p.values {
		out[name] = pythonText(value)
	}
	return out
}

// pythonText returns a value as Python prints it.
func pythonText(value any) string {
	switch value := value.(type) {
	case string:
		return value
	case nil:
		return "None"
	case json.Number:
		return strings.Replace(pyjson.Number(value.String()), "Infinity", "inf", 1)
	}
	return fmt.Sprint(value)
}
