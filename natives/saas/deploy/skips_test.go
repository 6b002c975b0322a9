package deploy

import (
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/natives/reconcile"
	"github.com/app-sre/prcheck/natives/saas/saastest"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/planner"
	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/settings"
)

var skips = flag.Int("skips", 60, "how many random changes the law over skips plans")

// work returns all that a run does with each cell of a world, as text: what it makes of objects
// and where, what it keeps, what holds it, what it records.
func work(t *testing.T, w *saastest.World) map[string]string {
	t.Helper()
	env := integration.Environment{Integration: Name,
		Settings: settingsOf(t, "records: s3://records\nhosts: [github.com]"), Query: w.Query(t), Log: io.Discard, Workers: 1,
		Now: func() time.Time { return time.Date(2026, 11, 23, 3, 0, 0, 0, time.UTC) },
		Secret: func(_ context.Context, ref integration.SecretRef) (string, error) {
			return fmt.Sprint("value of ", ref), nil
		},
		Bucket: func(context.Context, string) (integration.BucketReader, error) { return plainBucket{}, nil },
	}
	d := deployer{Services{Repositories: plainForge{}, Registry: plainRegistry{}}}
	r := d.open(t.Context(), env, nil)
	if r.head.err != nil {
		return nil
	}
	r.env.Shard = "one" // each cell is deployed by a run of its own
	all := map[string][]any{}
	for _, p := range r.head.desired().Parts {
		v := r.views[p.Shard+" "+p.At]
		// The order of entries says nothing, and a list without entries says the same as none.
		slices.SortStableFunc(p.Items, func(a, b reconcile.Item) int { // two targets may make one object, which is a mistake
			return cmp.Or(strings.Compare(string(a.Key), string(b.Key)),
				strings.Compare(a.Body.(body).Target, b.Body.(body).Target))
		})
		names := v.file.ManagedNames
		if len(names) == 0 {
			names = nil
		}
		all[p.Shard] = append(all[p.Shard], p, v.kept, slices.Sorted(slices.Values(v.file.ManagedTypes)), names, v.isCleared,
			v.namespace)
	}
	out := map[string]string{}
	for _, c := range r.head.cells {
		var records []string
		for _, of := range c.targets {
			if of.Promotion != nil && !of.Delete {
				records = append(records, textOf(t, []any{of.Promotion.Publish, of.UID(), of.Hash()}))
			}
		}
		slices.Sort(records)
		out[c.Key()] += textOf(t, append([]any{c.closed, records}, all[c.Key()]...))
	}
	return out
}

// difference returns where two texts begin to differ.
func difference(a, b string) (string, string) {
	at := 0
	for at < min(len(a), len(b)) && a[at] == b[at] {
		at++
	}
	at = max(at-120, 0)
	cut := func(text string) string { return text[min(at, len(text)):min(at+300, len(text))] }
	return cut(a), cut(b)
}

// textOf returns a value as JSON, without the places of entries.
func textOf(t *testing.T, v any) string {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var plain any
	if err := json.Unmarshal(raw, &plain); err != nil {
		t.Fatal(err)
	}
	if raw, err = json.Marshal(without(plain, "Place")); err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// planned returns the shards that a change from one world to another runs, or that it runs all.
func planned(t *testing.T, base, head *saastest.World) (map[string]bool, bool) {
	t.Helper()
	rules, err := settings.Read("prcheck.yaml", []byte("version: 1\n"))
	if err != nil {
		t.Fatal(err)
	}
	in := planner.Input{BaseRef: "base", HeadRef: "head", Settings: rules,
		Natives: []integration.DryRunner{New(Services{})}}
	if in.Base, err = bundle.Parse(base.Bundle(t), nil); err != nil {
		t.Fatal(err)
	}
	if in.Head, err = bundle.Parse(head.Bundle(t), nil); err != nil {
		t.Fatal(err)
	}
	p, err := planner.Make(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	d, _ := p.Decision(Name)
	keys := map[string]bool{}
	for _, k := range d.Evidence.Keys {
		keys[k] = true
	}
	return keys, d.Decision == plan.Run
}

// A trial is a random change, with all that a run does with each cell before and after it.
type trial struct {
	base, head    *saastest.World
	before, after map[string]string
	said          string // what the change does
}

// tryChange makes the random change of a number.
func tryChange(t *testing.T, seed uint64) trial {
	t.Helper()
	r := mutator{rand.New(rand.NewPCG(seed, 16))}
	base := wholeWorld()
	for range r.IntN(7) {
		r.mutate(base)
		base = base.Clone()
	}
	head := base.Clone()
	var said []string
	for range 1 + r.IntN(2) {
		said = append(said, r.mutate(head))
		head = head.Clone()
	}
	return trial{base, head, work(t, base), work(t, head), strings.Join(said, "; ")}
}

// keys returns the keys of all cells.
func (c trial) keys() []string {
	out := slices.AppendSeq(slices.Collect(maps.Keys(c.before)), maps.Keys(c.after))
	slices.Sort(out)
	return slices.Compact(out)
}

// A plan skips no cell with which a run does anything else than before the change.
func TestSkipsAreRight(t *testing.T) {
	ran, skipped, differed, whole := 0, 0, 0, 0
	for seed := range uint64(*skips) {
		c := tryChange(t, seed)
		keys, isWhole := planned(t, c.base, c.head)
		if isWhole {
			whole++
		}
		for _, key := range c.keys() {
			is := c.before[key] == c.after[key]
			if !is {
				differed++
			}
			switch {
			case isWhole || keys[key]:
				ran++
			case is:
				skipped++
			default:
				was, now := difference(c.before[key], c.after[key])
				t.Errorf("seed %d: the plan skips %s (it runs %v) after %s\nbefore %s\nafter  %s", seed, key,
					slices.Sorted(maps.Keys(keys)), c.said, was, now)
			}
		}
	}
	t.Logf("%d changes: %d cells differ, %d run (%d changes run all), %d skipped", *skips, differed, ran, whole, skipped)
}

// The law catches a state that lacks one of its fields: then a plan skips a cell wrongly.
func TestSkipsWithoutField(t *testing.T) {
	const file, app = "/services/app-001/saas.yml", "/services/app-001/app.yml"
	whole := wholeWorld()
	for field, change := range map[string]func(w *saastest.World){
		"kept": func(w *saastest.World) {
			w.Set(file, w.Data[file]["resourceTemplates"].([]any)[0].(object)["targets"].([]any)[:2], "resourceTemplates", 0,
				"targets")
		},
		"hash|content": func(w *saastest.World) { w.Target(file, 1, 0)["parameters"] = object{"A": "x"} },
		"component": func(w *saastest.World) {
			w.Set(app, []any{saastest.Shas(2)[1]}, "codeComponents", 0, "blockedVersions")
		},
		"environments":   func(w *saastest.World) { w.Set(saastest.ProductionEnv, object{"A": "x"}, "parameters") },
		"cluster":        func(w *saastest.World) { w.Set("/clusters/c-2.yml", "other", "automationToken", "path") },
		"image_patterns": func(w *saastest.World) { w.Set(file, []any{"quay.io/other/"}, "imagePatterns") },
		"switches":       func(w *saastest.World) { w.Set(file, true, "takeover") },
		"kind":           func(w *saastest.World) { w.Set(file, "directory", "resourceTemplates", 1, "provider") },
		"hash_length":    func(w *saastest.World) { w.Set(saastest.Settings, 9, "hashLength") },
		"code":           func(w *saastest.World) { w.Set("/pipelines/authentication.yml", "app/other", "code", "path") },
		"hash|managed_names|content": func(w *saastest.World) {
			w.Set(file, []any{object{"resource": "ConfigMap", "resourceNames": []any{"none"}}}, "managedResourceNames")
		},
		"channels": func(w *saastest.World) {
			for i := range 2 {
				w.Target(file, i, 0)["promotion"] = object{"publish": []any{"app-000-0-stage", "app-000-1-stage", "app-001-0-stage",
					"app-001-1-stage", "app-002-0-stage", "app-002-1-stage"}}
			}
		},
	} {
		head := whole.Clone()
		change(head)
		c := trial{base: whole, head: head.Clone(), before: work(t, whole), after: work(t, head)}
		if got := skipsWithout(t, c, strings.Split(field, "|")...); got == "" {
			t.Errorf("without %s no cell is skipped wrongly", field)
		}
		if got := skipsWithout(t, c); got != "" {
			t.Errorf("%s: %s is skipped wrongly", field, got)
		}
	}
}

// skipsWithout returns a cell that is skipped wrongly if its state has no fields of some names.
func skipsWithout(t *testing.T, c trial, fields ...string) string {
	t.Helper()
	before, after := statesWithout(t, c.base, fields), statesWithout(t, c.head, fields)
	for _, key := range c.keys() {
		if c.before[key] != c.after[key] && before[key] == after[key] && before[key] != "" {
			return key
		}
	}
	return ""
}

// statesWithout returns the states of the cells of a world without the fields of some names.
func statesWithout(t *testing.T, w *saastest.World, fields []string) map[string]string {
	t.Helper()
	state, err := deployer{}.DesiredState(t.Context(), w.Query(t), settingsOf(t, "hosts: [github.com]"))
	if err != nil {
		return nil
	}
	raw, err := json.Marshal(state)
	if err != nil {
		t.Fatal(err)
	}
	var all struct{ Cells []map[string]any }
	if err := json.Unmarshal(raw, &all); err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, c := range all.Cells {
		for _, field := range fields {
			c["data"] = without(c["data"], field)
		}
		if raw, err = json.Marshal(c); err != nil {
			t.Fatal(err)
		}
		key, _ := c["key"].(string)
		out[key] += string(raw)
	}
	return out
}

// without returns a value without the fields of a name, at any depth.
func without(v any, field string) any {
	switch v := v.(type) {
	case map[string]any:
		delete(v, field)
		for name := range v {
			v[name] = without(v[name], field)
		}
	case []any:
		for i := range v {
			v[i] = without(v[i], field)
		}
	}
	return v
}
