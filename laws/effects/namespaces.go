package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/natives/namespaces"
	"github.com/app-sre/prcheck/natives/reconcile"
	"github.com/app-sre/prcheck/settings"
)

type object = map[string]any

// A clusters is a scene of namespaces on two clusters, which have what a run of base makes.
type clusters struct {
	base, head map[string]object // entries by cluster/name
}

func newClusters(_ context.Context, r *rand.Rand) (scene, error) {
	c := &clusters{base: map[string]object{}}
	for i := range 2 + r.IntN(6) {
		c.base[keyOf(i)] = entryOf(i, r)
	}
	return c, nil
}

func keyOf(i int) string { return fmt.Sprintf("c%d/n%d", i%2, i) }

// entryOf returns an entry of the data.
func entryOf(i int, r *rand.Rand) object {
	name := fmt.Sprintf("c%d", i%2)
	return object{"path": fmt.Sprintf("/ns/n%d.yml", i), "name": fmt.Sprintf("n%d", i), "labels": texts(r),
		"annotations": texts(r),
		"cluster": object{"name": name, "serverUrl": "https://" + name + ".example",
			"automationToken": object{"path": "t/" + name, "field": "token"}}}
}

// texts draws labels or annotations. Their names have what JSON pointers escape.
func texts(r *rand.Rand) object {
	out := object{}
	for _, name := range []string{"team", "tier/x", "a~b", "z"} {
		if r.IntN(2) == 0 {
			out[name] = fmt.Sprint("v", r.IntN(3))
		}
	}
	return out
}

// change implements [scene].
func (c *clusters) change(r *rand.Rand) (told []string) {
	c.head = map[string]object{}
	for key, e := range c.base {
		e = maps.Clone(e)
		e["labels"], e["annotations"] = maps.Clone(e["labels"].(object)), maps.Clone(e["annotations"].(object))
		c.head[key] = e
	}
	for range 1 + r.IntN(4) {
		i := r.IntN(9)
		key := keyOf(i)
		e := c.head[key]
		switch what := r.IntN(6); {
		case e == nil && what > 2:
			c.head[key] = entryOf(i, r)
			told = append(told, "add "+key)
		case e == nil:
		case what == 0 && c.base[key] != nil: // else nothing is there
			e["delete"] = true
			told = append(told, "delete "+key)
		case what == 1 && (c.base[key] == nil || c.base[key]["delete"] == true):
			delete(c.head, key)
			told = append(told, "remove "+key)
		case what == 2:
			e["annotations"] = texts(r)
			told = append(told, "annotate "+key)
		default:
			e["labels"] = texts(r)
			told = append(told, "label "+key)
		}
	}
	return told
}

// query answers with the entries of a side.
func query(of map[string]object) integration.QueryFunc {
	return func(context.Context, string, map[string]any) ([]byte, error) {
		var all []object
		for _, key := range slices.Sorted(maps.Keys(of)) {
			all = append(all, of[key])
		}
		return json.Marshal(object{"namespaces": all})
	}
}

// check implements [scene].
func (c *clusters) check(ctx context.Context, how way, report func(integration.Remark)) error {
	rules, err := settings.Read("prcheck.yaml", []byte("version: 1\nintegrations:\n  namespaces:\n    deletes: "+
		"{max: 100, percent: 100, floor: 100}\n    settings: {annotations: true}\n"))
	if err != nil {
		return err
	}
	env := integration.Environment{Integration: "namespaces",
		Settings: rules.For("namespaces"), Base: query(c.base), Query: query(c.head), Now: time.Now, Workers: 2,
		Report: func(r integration.Remark) {
			if how != asked && r.Code == "UNREACHABLE" { // it fails because of the target alone
				return
			}
			report(r)
		},
		Cluster: func(_ context.Context, ref integration.ClusterRef) (integration.ClusterReader, error) {
			if how != asked {
				return nil, errors.New("nobody answers")
			}
			return clusterOf{entries: c.base, name: ref.Name}, nil
		}}
	if how == dataAlone {
		return tell(ctx, namespaces.New(), env)
	}
	if err := namespaces.New().DryRun(ctx, env); how == asked {
		return err
	}
	return nil // it fails because of the target alone
}

// settle implements [scene].
func (c *clusters) settle(_ context.Context, isGood bool) error {
	if isGood {
		c.base = c.head
	}
	return nil
}

// A clusterOf is a cluster as a run of the data leaves it.
type clusterOf struct {
	integration.ClusterReader // of which nothing else is asked

	entries map[string]object
	name    string
}

// List implements [integration.ClusterReader].
func (c clusterOf) List(context.Context, integration.Resource, string, string) ([]json.RawMessage, error) {
	mark := reconcile.Mark{Integration: "namespaces", Caller: "default"}
	var out []json.RawMessage
	for _, key := range slices.Sorted(maps.Keys(c.entries)) {
		e := c.entries[key]
		if e["delete"] == true || e["cluster"].(object)["name"] != c.name {
			continue
		}
		labels, annotations := maps.Clone(e["labels"].(object)), maps.Clone(e["annotations"].(object))
		for name, text := range mark.Labels() {
			labels[name] = text
		}
		for name, text := range mark.Annotations() {
			annotations[name] = text
		}
		raw, err := json.Marshal(object{"apiVersion": "v1", "kind": "Namespace", "metadata": object{
			"name": e["name"], "uid": "u-" + key, "resourceVersion": "1", "labels": labels, "annotations": annotations,
			"managedFields": []any{object{"manager": integration.FieldManager("namespaces"), "operation": "Apply",
				"fieldsV1": object{"f:metadata": object{"f:labels": named(labels), "f:annotations": named(annotations)}}}}}})
		if err != nil {
			return nil, err
		}
		out = append(out, raw)
	}
	return out, nil
}

// named returns the fields of a manager.
func named(of object) object {
	out := object{}
	for name := range of {
		out["f:"+name] = object{}
	}
	return out
}
