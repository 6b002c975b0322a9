package integration

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/app-sre/prcheck/bundle"
)

// DefinitionSchema is the schema of the datafiles that define integrations.
const DefinitionSchema bundle.Schema = "/app-sre/integration-1.yml"

// RequiredSchemas are those that every definition must allow, whether it reads
// them or not.
func RequiredSchemas() []bundle.Schema {
	return []bundle.Schema{DefinitionSchema, "/app-interface/app-interface-settings-1.yml"}
}

// A Definition is what one datafile of [DefinitionSchema] says about an
// integration.
type Definition struct {
	Name    string
	Path    bundle.Path
	Schemas []bundle.Schema // what it is allowed to read
	Check   *Check          // nil: it has no dry-run

	object *bundle.Object
}

// A Check is the pr_check of a definition. A value of an unexpected type
// counts as the one that makes the integration run, and to its end.
type Check struct {
	Cmd        string // the words after the program, quoted as for a shell
	Disabled   bool
	AlwaysRun  bool
	Unenforced bool // no_validate_schemas: it may read more than it is allowed
	Order      int  // run_order

	State        bool   // it keeps a state of its own
	SQS          bool   // it sends messages to a queue
	EarlyExit    bool   // it may end when it sees no difference to base
	AffectedOnly bool   // check_only_affected_shards: with EarlyExit, it may leave shards out
	ImageRef     string // the image to run it from, "" for the usual one
}

// List returns the integrations that a bundle defines, in name order. One
// without a name goes by its path; two definitions of one name are an error.
func List(b *bundle.Bundle) ([]Definition, error) {
	var out []Definition
	for _, f := range b.BySchema(DefinitionSchema) {
		d := Definition{Name: f.Object().String("name"), Path: f.Path, object: f.Object()}
		if d.Name == "" {
			d.Name = string(f.Path)
		}
		d.Schemas = schemas(d.object)
		d.Check = check(d.object)
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

// Differs returns which of the parts of a definition that decide about its
// dry-run differ: pr_check, schemas, managed.
func (d Definition) Differs(other Definition) []string {
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

// Managed returns the elements of managed: each says how the integration is
// deployed somewhere. What is no object is an empty one.
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

// Allows tells whether the integration may read datafiles of a schema.
func (d Definition) Allows(s bundle.Schema) bool { return slices.Contains(d.Schemas, s) }

func schemas(o *bundle.Object) []bundle.Schema {
	v, _ := o.Get("schemas")
	list, _ := v.([]any)
	var out []bundle.Schema
	for _, s := range list {
		if s, ok := s.(string); ok {
			out = append(out, bundle.Schema(s))
		}
	}
	return out
}

func check(o *bundle.Object) *Check {
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
		AlwaysRun:  unlessFalse(c, "always_run"),
		Unenforced: unlessFalse(c, "no_validate_schemas"),
		Order:      order(c),

		State:        unlessFalse(c, "state"),
		SQS:          unlessFalse(c, "sqs"),
		EarlyExit:    isTrue("early_exit"),
		AffectedOnly: isTrue("check_only_affected_shards"),
		ImageRef:     c.String("imageRef"),
	}
}

// unlessFalse is true for every value but false, null and none.
func unlessFalse(o *bundle.Object, key string) bool {
	v, _ := o.Get(key)
	return v != nil && v != false
}

func order(o *bundle.Object) int {
	v, _ := o.Get("run_order")
	n, _ := v.(bundle.Number)
	i, err := strconv.Atoi(string(n))
	if err != nil {
		return 0
	}
	return i
}
