package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/app-sre/prcheck/owners"
	"github.com/app-sre/prcheck/qontract/bundle"
)

// holdHead checks that what head edits of rules and users changes nobody's places: the people of each place of the file
// are the same with and without the edit.
func (w *world) holdHead() error {
	data := w.data()
	base, err := parsed(data, w.base)
	if err != nil {
		return err
	}
	head, err := parsed(data, w.head)
	if err != nil {
		return err
	}
	before, err := owners.Check(owners.Input{Base: base, Head: head, Today: "2026-01-01"})
	if err != nil {
		return err
	}
	edited := maps.Clone(data)
	path := pick(w, slices.Sorted(maps.Keys(data)))
	edited[path] = w.editedRule(path, data[path])
	if head, err = parsed(edited, w.head); err != nil {
		return err
	}
	after, err := owners.Check(owners.Input{Base: base, Head: head, Today: "2026-01-01"})
	if err != nil {
		return err
	}
	if a, b := peopleOn(before), peopleOn(after); fmt.Sprint(a) != fmt.Sprint(b) {
		return fmt.Errorf("head: after an edit of %s %v became %v", path, a, b)
	}
	return nil
}

// peopleOn returns the people of each place of the file of the world.
func peopleOn(r *owners.Report) map[string][]string {
	out := map[string][]string{}
	for _, p := range r.Places {
		if p.File == ref.Path {
			out[p.Change+" "+p.Place] = p.People()
		}
	}
	return out
}

type object = map[string]any

// data makes the datafiles of the rules of a world.
func (w *world) data() map[string]object {
	out := map[string]object{}
	roles := map[string][]any{}
	for i, g := range w.grants {
		var selectors []any
		for _, s := range g.selectors {
			selectors = append(selectors, s.text())
		}
		out[fmt.Sprintf("/t%d.yml", i)] = object{"$schema": "/app-interface/change-type-1.yml", "name": fmt.Sprint("t", i),
			"contextType":   "datafile",
			"contextSchema": ref.Schema, "changes": []any{object{"provider": "jsonPath", "jsonPathSelectors": selectors}}}
		role := fmt.Sprintf("/r%d.yml", i)
		out[role] = object{"$schema": "/access/role-1.yml", "name": fmt.Sprint("r", i), "self_service": []any{
			object{"change_type": object{"$ref": fmt.Sprintf("/t%d.yml", i)}, "datafiles": []any{object{"$ref": ref.Path}}}}}
		for _, p := range g.people {
			roles[p] = append(roles[p], object{"$ref": role})
		}
	}
	for i := range 5 {
		p := fmt.Sprint("p", i)
		out["/u/"+p+".yml"] = object{"$schema": "/access/user-1.yml", "name": p, "org_username": p,
			"roles": append([]any{}, roles[p]...)}
	}
	return out
}

// editedRule returns a rule or a user with an edit.
func (w *world) editedRule(path string, of object) object {
	out := maps.Clone(of)
	switch of["$schema"] {
	case "/access/user-1.yml":
		out["roles"] = []any{object{"$ref": fmt.Sprintf("/r%d.yml", w.IntN(len(w.grants)))}}
		if w.IntN(2) == 0 {
			out["org_username"] = "p9"
		}
	case "/access/role-1.yml":
		out["self_service"] = []any{object{"change_type": object{"$ref": fmt.Sprintf("/t%d.yml", w.IntN(len(w.grants)))},
			"datafiles": []any{object{"$ref": ref.Path}}}}
	default:
		out["changes"] = []any{object{"provider": "jsonPath", "jsonPathSelectors": []any{"$"}}}
		out["disabled"] = w.IntN(2) == 0
	}
	return out
}

// parsed makes a bundle of rules and the file of a world.
func parsed(rules map[string]object, file any) (*bundle.Bundle, error) {
	data := object{}
	for path, o := range rules {
		data[path] = o
	}
	with := object{"$schema": ref.Schema}
	if o, isObject := file.(object); isObject {
		maps.Copy(with, o)
	}
	data[ref.Path] = with
	raw, err := json.Marshal(object{"data": data, "resources": object{}, "schemas": object{},
		"graphql": object{"confs": []any{}}, "git_commit": "", "git_commit_timestamp": ""})
	if err != nil {
		return nil, err
	}
	return bundle.Parse(raw, nil)
}
