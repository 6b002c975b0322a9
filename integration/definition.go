package integration

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/settings"
)

// RequiredSchemas returns the schemas that every definition must allow, even if the
// integration does not read them.
func RequiredSchemas() []bundle.SchemaPath {
	return []bundle.SchemaPath{settings.DefinitionSchema, "/app-interface/app-interface-settings-1.yml"}
}

// A Definition is the definition of an integration: one datafile of [settings.DefinitionSchema].
type Definition struct {
	Name    string
	Path    bundle.Path
	Schemas []bundle.SchemaPath // schemas of the datafiles that it may read
	Check   *Check              // nil if it has no dry-run

	object *bundle.Object
}

// A Check is the pr_check of a definition: how its dry-run is started. If a field has a
// value of an unexpected type, the Check has the value with which the integration runs
// completely.
type Check struct {
	Cmd        string // the arguments after the program, quoted as for a shell
	Disabled   bool
	AlwaysRun  bool
	Unenforced bool // no_validate_schemas: it may read datafiles of other schemas, too
	Order      int  // run_order

	State        bool   // state: it keeps a state of its own
	SQS          bool   // sqs: it sends messages to a queue
	EarlyExit    bool   // early_exit: it may stop if its desired state is that of base
	AffectedOnly bool   // check_only_affected_shards: with EarlyExit, it may leave out shards
	ImageRef     string // imageRef: the image that it runs from; "" means the usual image
}

// List returns the integrations that a bundle defines in datafiles of the schema that the settings
// name, sorted by name; settings that are nil name the usual one. A definition without a name gets
// its path as name. Two definitions with one name are an error.
func List(b *bundle.Bundle, s *settings.Settings) ([]Definition, error) {
	var out []Definition
	for _, f := range b.BySchema(s.DefinitionSchema()) {
		d := Definition{Name: f.Object().String("name"), Path: f.Path, object: f.Object()}
		if d.Name == "" {
			d.Name = string(f.Path)
		}
		d.Schemas, d.Check = readSchemas(d.object), readCheck(d.object)
		out = append(out, d)
	}
	slices.SortStableFunc(out, func(a, b Definition) int { return strings.Compare(a.Name, b.Name) })
	for i := 1; i < len(out); i++ {
		if out[i].Name == out[i-1].Name {
			return nil, fmt.Errorf("two integrations are named %q: %q and %q; rename one",
				out[i].Name, out[i-1].Path, out[i].Path)
		}
	}
	return out, nil
}

// DifferingParts returns the parts in which two definitions differ, of the parts that
// matter for the dry-run: pr_check, schemas and managed.
func (d Definition) DifferingParts(other Definition) []string {
	var out []string
	for _, part := range []string{"pr_check", "schemas", "managed"} {
		a, inA := d.object.Get(part)
		b, inB := other.object.Get(part)
		if inA != inB || !bundle.Equal(a, b) {
			out = append(out, part)
		}
	}
	return out
}

// Managed returns the elements of managed. Each element describes one deployment of the
// integration. An element that is no object becomes an empty object.
func (d Definition) Managed() []*bundle.Object {
	if d.object == nil {
		return nil
	}
	v, _ := d.object.Get("managed")
	list, _ := v.([]any)
	out := make([]*bundle.Object, len(list))
	for i, v := range list {
		if out[i], _ = v.(*bundle.Object); out[i] == nil {
			out[i] = &bundle.Object{}
		}
	}
	return out
}

// Allows reports whether the integration may read datafiles of a schema.
func (d Definition) Allows(s bundle.SchemaPath) bool { return slices.Contains(d.Schemas, s) }

// readSchemas returns the schemas that a definition allows.
func readSchemas(o *bundle.Object) []bundle.SchemaPath {
	v, _ := o.Get("schemas")
	list, _ := v.([]any)
	var out []bundle.SchemaPath
	for _, s := range list {
		if s, ok := s.(string); ok {
			out = append(out, bundle.SchemaPath(s))
		}
	}
	return out
}

// readCheck returns the pr_check of a definition, nil if it has none.
func readCheck(o *bundle.Object) *Check {
	v, ok := o.Get("pr_check")
	c, isObject := v.(*bundle.Object)
	if !ok || v == nil {
		return nil
	}
	if !isObject {
		c = &bundle.Object{}
	}
	isTrue := func(key string) bool {
		v, _ := c.Get(key)
		return v == true
	}
	return &Check{
		Cmd:        c.String("cmd"),
		Disabled:   isTrue("disabled"),
		AlwaysRun:  isTruthy(c, "always_run"),
		Unenforced: isTruthy(c, "no_validate_schemas"),
		Order:      readOrder(c),

		State:        isTruthy(c, "state"),
		SQS:          isTruthy(c, "sqs"),
		EarlyExit:    isTrue("early_exit"),
		AffectedOnly: isTrue("check_only_affected_shards"),
		ImageRef:     c.String("imageRef"),
	}
}

// Conditions returns the conditions that hold for a task. If mayLeaveOut is set, the task
// may leave out work that it proves unaffected by itself.
func (c *Check) Conditions(mayLeaveOut bool) []settings.Condition {
	if c == nil {
		return nil
	}
	holds := map[settings.Condition]bool{
		settings.State: c.State, settings.SQS: c.SQS, settings.Unenforced: c.Unenforced,
		settings.EarlyExit:    c.EarlyExit && mayLeaveOut,
		settings.AffectedOnly: c.AffectedOnly && c.EarlyExit && mayLeaveOut,
	}
	return slices.DeleteFunc(settings.Conditions(), func(c settings.Condition) bool { return !holds[c] })
}

// isTruthy reports whether a field has any value except false and null.
func isTruthy(o *bundle.Object, key string) bool {
	v, _ := o.Get(key)
	return v != nil && v != false
}

// readOrder returns the run_order of a pr_check, 0 if it is no number.
func readOrder(o *bundle.Object) int {
	v, _ := o.Get("run_order")
	n, _ := v.(bundle.Number)
	i, err := strconv.Atoi(string(n))
	if err != nil {
		return 0
	}
	return i
}

// NarrowedYAML returns the definition as YAML with fewer allowed schemas: of those that
// it allows now, only the ones in read and [RequiredSchemas] stay, in their order. The
// YAML has no comments, since a bundle holds none.
func (d Definition) NarrowedYAML(read []bundle.SchemaPath) ([]byte, error) {
	root := &yaml.Node{Kind: yaml.MappingNode}
	for _, m := range d.object.Members() {
		switch m.Key {
		case "path", "$file_sha256sum", "__identifier": // the bundler adds these
			continue
		case "schemas":
			m.Value = keepSchemas(d.Schemas, slices.Concat(RequiredSchemas(), read))
		}
		root.Content = append(root.Content, yamlString(m.Key), yamlNode(m.Value))
	}
	var out bytes.Buffer
	enc := yaml.NewEncoder(&out)
	enc.SetIndent(2)
	if err := enc.Encode(root); err != nil {
		return nil, fmt.Errorf("writing the definition of %q: %w", d.Name, err)
	}
	return append([]byte("---\n"), out.Bytes()...), nil
}

// keepSchemas returns the schemas of allowed that are in keep.
func keepSchemas(allowed, keep []bundle.SchemaPath) []any {
	list := []any{}
	for _, s := range allowed {
		if slices.Contains(keep, s) {
			list = append(list, string(s))
		}
	}
	return list
}

// yamlNode returns a JSON value as a YAML node. Numbers keep their spelling.
func yamlNode(v any) *yaml.Node {
	switch v := v.(type) {
	case string:
		return yamlString(v)
	case bundle.Number:
		return &yaml.Node{Kind: yaml.ScalarNode, Value: string(v)}
	case bool:
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!bool", Value: fmt.Sprint(v)}
	case []any:
		n := &yaml.Node{Kind: yaml.SequenceNode}
		for _, item := range v {
			n.Content = append(n.Content, yamlNode(item))
		}
		return n
	case *bundle.Object:
		n := &yaml.Node{Kind: yaml.MappingNode}
		for _, m := range v.Members() {
			if m.Key != "__identifier" {
				n.Content = append(n.Content, yamlString(m.Key), yamlNode(m.Value))
			}
		}
		return n
	}
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null", Value: "null"}
}

// yamlString returns a string as a YAML node. The string is quoted if a reader of YAML
// 1.1 or 1.2 would take it for another type, such as a number.
func yamlString(s string) *yaml.Node {
	n := &yaml.Node{}
	if err := n.Encode(s); err != nil { // s is not valid UTF-8
		n.SetString(s)
	}
	return n
}
