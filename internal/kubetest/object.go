package kubetest

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// An object is one object with the managers of its fields.
type object struct {
	body   map[string]any // without managedFields
	owners map[owner]fields
}

// An owner is a manager that applies or updates.
type owner struct{ manager, operation string }

// fields is a set of fields. A field is the names from the root, each after a NUL.
type fields map[string]bool

// unowned are the fields that identify an object, and those that the server sets.
var unowned = fields{
	"\x00apiVersion": true, "\x00kind": true, "\x00metadata\x00name": true, "\x00metadata\x00namespace": true, "\x00metadata\x00uid": true,
	"\x00metadata\x00resourceVersion": true, "\x00metadata\x00creationTimestamp": true, "\x00metadata\x00deletionTimestamp": true,
}

// leaves returns the values of the fields that have managers. Maps are descended into.
func leaves(at string, v any, out map[string]any) map[string]any {
	m, ok := v.(map[string]any)
	if !ok || len(m) == 0 && at != "" {
		if !unowned[at] {
			out[at] = v
		}
		return out
	}
	for name, value := range m {
		leaves(at+"\x00"+name, value, out)
	}
	return out
}

// set writes a field; a missing value removes it.
func set(body map[string]any, field string, value any, isThere bool) {
	names := strings.Split(field, "\x00")[1:]
	for _, n := range names[:len(names)-1] {
		body = dig(body, n)
	}
	last := names[len(names)-1]
	if !isThere {
		delete(body, last)
		return
	}
	body[last] = value
}

// edited returns the object with another body. What differs belongs to the manager.
func (o *object) edited(manager string, body map[string]any) *object {
	out := &object{body, cloneOwners(o.owners)}
	before, after := leaves("", o.body, map[string]any{}), leaves("", body, map[string]any{})
	me := owner{manager, "Update"}
	for field, value := range after {
		old, had := before[field]
		if had && equal(old, value) {
			continue
		}
		for _, of := range out.owners {
			delete(of, field)
		}
		if out.owners[me] == nil {
			out.owners[me] = fields{}
		}
		out.owners[me][field] = true
	}
	for _, of := range out.owners {
		maps.DeleteFunc(of, func(field string, _ bool) bool { _, is := after[field]; return !is })
	}
	return out
}

// A conflict is a field of another manager.
type conflict struct{ manager, field string }

// applied returns the object with what a manager applies, or the conflicts with others.
func (o *object) applied(manager string, wanted map[string]any) (*object, []conflict) {
	me := owner{manager, "Apply"}
	now, want := leaves("", o.body, map[string]any{}), leaves("", wanted, map[string]any{})
	var conflicts []conflict
	for field, value := range want {
		for who, of := range o.owners {
			if who != me && of[field] && !equal(now[field], value) {
				conflicts = append(conflicts, conflict{who.manager, strings.ReplaceAll(field, "\x00", ".")})
			}
		}
	}
	if len(conflicts) > 0 {
		slices.SortFunc(conflicts, func(a, b conflict) int { return strings.Compare(a.field+a.manager, b.field+b.manager) })
		return nil, conflicts
	}
	out := &object{copyOf(o.body), cloneOwners(o.owners)}
	delete(out.owners, me)
	for field := range o.owners[me] {
		if _, still := want[field]; !still && !out.isOwned(field) {
			set(out.body, field, nil, false)
		}
	}
	for field, value := range want {
		set(out.body, field, value, true)
		if out.owners[me] == nil {
			out.owners[me] = fields{}
		}
		out.owners[me][field] = true
	}
	return out, nil
}

func (o *object) isOwned(field string) bool {
	for _, of := range o.owners {
		if of[field] {
			return true
		}
	}
	return false
}

func cloneOwners(all map[owner]fields) map[owner]fields {
	out := map[owner]fields{}
	for who, of := range all {
		out[who] = maps.Clone(of)
	}
	return out
}

// render returns the object as clients see it, with its managed fields.
func (o *object) render() map[string]any {
	body, metadata := maps.Clone(o.body), maps.Clone(dig(o.body, "metadata"))
	body["metadata"] = metadata
	var managed []any
	who := slices.SortedFunc(maps.Keys(o.owners), func(a, b owner) int {
		return strings.Compare(a.operation+" "+a.manager, b.operation+" "+b.manager)
	})
	for _, w := range who {
		tree := map[string]any{}
		for field := range o.owners[w] {
			set(tree, strings.ReplaceAll(field, "\x00", "\x00f:"), map[string]any{}, true)
		}
		if len(tree) > 0 {
			managed = append(managed, map[string]any{"manager": w.manager, "operation": w.operation, "apiVersion": o.body["apiVersion"],
				"fieldsType": "FieldsV1", "fieldsV1": tree})
		}
	}
	if managed != nil {
		metadata["managedFields"] = managed
	}
	return body
}

// decode reads an object. Numbers keep their digits.
func decode(raw []byte) (map[string]any, error) {
	var out map[string]any
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	return out, d.Decode(&out)
}
