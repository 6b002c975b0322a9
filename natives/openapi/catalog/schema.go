package catalog

import (
	"encoding/json"
	"strings"

	"github.com/app-sre/prcheck/internal/jsonpointer"
	"github.com/app-sre/prcheck/natives/openapi/classes"
	"github.com/app-sre/prcheck/natives/openapi/resources"
)

// given is the definition of what can stand in the place of any value.
const given = "given"

// NewSchema returns the JSON Schema of datafiles with a resource of a type, for editors: they complete the names of its
// body and mark those that no request takes. Read-only properties are left out. What a request requires is told in the
// description alone, since it may stand beside the body.
func NewSchema(t *resources.Type, overrides ...*classes.Overrides) (map[string]any, error) {
	c, err := classes.New(t, overrides...)
	if err != nil {
		return nil, err
	}
	all, _, err := c.All()
	if err != nil {
		return nil, err
	}
	s := &schemas{c: c, at: map[string]map[string]any{"": {"type": "object"}}}
	for _, p := range all {
		if err := s.add(p); err != nil {
			return nil, err
		}
	}
	if err := s.close(); err != nil {
		return nil, err
	}
	only := func(name string, of map[string]any) map[string]any {
		return map[string]any{"type": "object", "additionalProperties": false, "required": []string{name},
			"properties": map[string]any{name: of}}
	}
	text := map[string]any{"type": "string"}
	output := map[string]any{"type": "object", "additionalProperties": false, "required": []string{"of", "at"},
		"properties": map[string]any{"of": text, "at": text, "by": text}}
	return map[string]any{
		"$schema": "http://json-schema.org/draft-07/schema#", "title": t.ID(),
		"type": "object", "properties": map[string]any{"body": s.at[""]},
		"definitions": map[string]any{given: map[string]any{"anyOf": []any{
			map[string]any{"type": "null"}, only("$ref", text), only("$output", output)}}},
	}, nil
}

// schemas are those of the properties of a type, by their JSON pointers.
type schemas struct {
	c  *classes.Classifier
	at map[string]map[string]any
}

// add adds the schema of a property to the one around it.
func (s *schemas) add(p *classes.Property) error {
	i := strings.LastIndexByte(p.Pattern, '/')
	around := s.at[p.Pattern[:i]]
	if around == nil || p.ReadOnly != nil || isScalar(around) {
		return nil
	}
	typ, err := s.c.RequestType(p.Pattern)
	if err != nil {
		return err
	}
	own, err := schemaOf(p, typ)
	if err != nil {
		return err
	}
	s.at[p.Pattern] = own
	full := map[string]any{"anyOf": []any{own, map[string]any{"$ref": "#/definitions/" + given}}}
	if text := describe(p); text != "" {
		full["description"] = text
	}
	name := jsonpointer.Split(p.Pattern[i:])[0]
	switch {
	case p.IsValue:
		around["type"], around["additionalProperties"] = "object", full
	case name == "*":
		around["type"], around["items"] = "array", full
	default:
		around["type"] = "object"
		members, _ := around["properties"].(map[string]any)
		if members == nil {
			members = map[string]any{}
			around["properties"] = members
		}
		members[name] = full
	}
	return nil
}

// isScalar reports whether requests take one value, whatever answers have there.
func isScalar(of map[string]any) bool {
	typ, _ := of["type"].(string)
	return typ != "" && typ != "object" && typ != "array"
}

// schemaOf returns the schema of the value of a property.
func schemaOf(p *classes.Property, typ string) (map[string]any, error) {
	out := map[string]any{}
	if p.Format != nil && p.Format.Name == "int-or-string" {
		return out, nil
	}
	switch typ {
	case "string", "integer", "number", "boolean", "object", "array":
		out["type"] = typ
	}
	if p.Enum == nil {
		return out, nil
	}
	raw, err := p.Enum.MarshalJSON()
	if err != nil {
		return nil, err
	}
	var values []any
	if err := json.Unmarshal(raw, &values); err == nil && len(values) > 0 {
		out["enum"] = values
	}
	return out, nil
}

// describe returns what an editor shows about a property.
func describe(p *classes.Property) string {
	var words []string
	if p.Required {
		words = append(words, "required")
	}
	if p.CreateOnly != nil {
		words = append(words, "create-only: a change means delete and create")
	}
	if p.Secret != nil || p.WriteOnly != nil {
		words = append(words, "write-only")
	}
	text := clean(p.Description)
	if len(words) == 0 {
		return text
	}
	return strings.TrimSpace("(" + strings.Join(words, ", ") + ") " + text)
}

// close lets objects have no member that no request takes. Where a request takes any member, any may stand.
func (s *schemas) close() error {
	for pointer, of := range s.at {
		_, hasMembers := of["properties"]
		if _, hasValues := of["additionalProperties"]; !hasMembers || hasValues {
			continue
		}
		p, err := s.c.Explain(pointer)
		if err == nil && p.Cyclic {
			continue
		}
		takesAny, err := s.c.TakesAny(pointer)
		if err != nil {
			return err
		}
		if !takesAny {
			of["additionalProperties"] = false
		}
	}
	return nil
}
