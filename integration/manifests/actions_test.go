package manifests_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/integration/manifests"
	"github.com/app-sre/prcheck/internal/shared"
	"github.com/app-sre/prcheck/reconcile"
)

type actionsCase struct {
	Input struct {
		Desired []string
		Caller  string
		Callers []string
		Adopt   bool
		Current []struct {
			ID       string
			Owner    *struct{ Integration, Caller string }
			Differs  bool
			Extra    string
			Ours     json.RawMessage `json:"ours_before"`
			Conflict struct{ Manager, Field string }
			Managers []string
			Owners   int `json:"ownerReferences"`
		}
	}
	Expected struct {
		Create, Apply, Delete, None, Conflict []string
		Preconditions                         []string
		Writes                                *int
		Error, Forced                         bool
		TakesOver                             bool `json:"takes_over"`
		Migrates                              bool
		Field, Manager                        string
		SecondRun                             string `json:"second_run"`
	}
}

// An installation is a cluster with what the data want of it.
type installation struct {
	*cluster
	desired []string
	adopt   bool
	owner   reconcile.Owner
	was     []integration.Preconditions // of deletions
}

func (in *installation) Delete(ctx context.Context, ref integration.ObjectRef, was integration.Preconditions, p integration.Propagation) error {
	in.was = append(in.was, was)
	return in.cluster.Delete(ctx, ref, was, p)
}

// named returns the manifest of an object such as Deployment/a.
func named(t testing.TB, id string) manifests.Object {
	t.Helper()
	kind, name, _ := strings.Cut(id, "/")
	o := manifest(t, manifests.Named(kind))
	setAt(o, []string{"metadata", "name"}, name)
	return o
}

// Read implements [reconcile.Doer].
func (in *installation) Read(ctx context.Context, k reconcile.Key) (*reconcile.Thing, error) {
	kind, name, _ := strings.Cut(string(k), "/")
	is, err := in.doer().Read(ctx, manifests.Named(kind), "n", name)
	if is == nil || err != nil {
		return nil, err
	}
	th := is.Thing(k)
	return &th, nil
}

// Write implements [reconcile.Doer].
func (in *installation) Write(ctx context.Context, s reconcile.Step, fresh *reconcile.Thing, mark reconcile.Mark) error {
	d := in.doer()
	d.Writer = in
	switch s.Action {
	case reconcile.Create:
		return d.Create(ctx, kindOf(s.Item.Body.(manifests.Object)), "n", s.Item.Body.(manifests.Object), mark)
	case reconcile.Remove:
		return d.Remove(ctx, fresh.Body.(*manifests.Live))
	case reconcile.AdoptIt, reconcile.MarkIt:
		return d.Mark(ctx, fresh.Body.(*manifests.Live), mark)
	default:
		return d.Update(ctx, s.Item.Body.(manifests.Object), fresh.Body.(*manifests.Live), mark)
	}
}

// plan makes the plan of a run: of what no entry names, only what may be deleted is looked at.
func (in *installation) plan(t *testing.T) *reconcile.Plan {
	t.Helper()
	input := reconcile.Input{Owner: in.owner, Class: reconcile.Listing, Gate: reconcile.Gate{Limits: reconcile.DefaultLimits()},
		Compare: func(want reconcile.Item, is reconcile.Thing, _ reconcile.Record) (reconcile.Difference, error) {
			return manifests.Diff(want.Body.(manifests.Object), is.Body.(*manifests.Live), in.opts)
		}}
	for _, id := range in.desired {
		it := reconcile.Item{Key: reconcile.Key(id), Body: named(t, id)}
		if in.adopt {
			it.Claim = reconcile.Adopt
		}
		input.Desired = append(input.Desired, it)
	}
	for _, kind := range kinds {
		all, err := in.List(t.Context(), kind.Resource, "n", "")
		if err != nil {
			t.Fatal(err)
		}
		for _, raw := range all {
			is, err := manifests.Read(kind, raw, in.opts)
			if err != nil {
				t.Fatal(err)
			}
			id := kind.Name + "/" + is.Name
			if is.Deletable() || slices.Contains(in.desired, id) {
				input.Current = append(input.Current, is.Thing(reconcile.Key(id)))
			}
		}
	}
	return reconcile.Make(input)
}

// install makes what the case says is there.
func install(t *testing.T, c actionsCase) *installation {
	t.Helper()
	in := &installation{cluster: newCluster(t), desired: c.Input.Desired, adopt: c.Input.Adopt,
		owner: reconcile.Owner{Integration: "integrations-manager", Caller: "up", Callers: []string{"up", "other"}}}
	if c.Input.Caller != "" {
		in.owner.Caller = c.Input.Caller
	}
	if c.Input.Callers != nil {
		in.owner.Callers = c.Input.Callers
	}
	for _, is := range c.Input.Current {
		kind, name, _ := strings.Cut(is.ID, "/")
		path := "/apis/apps/v1/namespaces/n/" + manifests.Named(kind).Plural + "/" + name
		mark := reconcile.Mark{}
		if is.Owner != nil {
			mark = reconcile.Mark{Integration: is.Owner.Integration, Caller: is.Owner.Caller}
		}
		if len(is.Managers) == 0 {
			if err := in.doer().Create(t.Context(), kindOf(named(t, is.ID)), "n", named(t, is.ID), mark); err != nil {
				t.Fatal(err)
			}
		} else {
			byKubectl(t, in.cluster)
			in.Edit(t, is.Managers[0], path, func(o map[string]any) {
				for k, v := range mark.Annotations() {
					setAt(o, []string{"metadata", "annotations", k}, v)
				}
			})
		}
		edit := func(manager string, change func(o map[string]any)) { in.Edit(t, manager, path, change) }
		if is.Extra != "" {
			what, manager, _ := strings.Cut(is.Extra, " by ")
			edit(manager, func(o map[string]any) { setAt(o, strings.Split(what, "."), "x") })
		}
		if is.Differs {
			edit(options.Manager, func(o map[string]any) { specOf(o)["replicas"] = int64(7) })
		}
		if is.Conflict.Manager != "" {
			edit(is.Conflict.Manager, func(o map[string]any) {
				setAt(o, strings.Split(strings.TrimPrefix(is.Conflict.Field, "."), "."), int64(0))
			})
		}
		if is.Owners > 0 {
			edit("test", func(o map[string]any) {
				setAt(o, []string{"metadata", "ownerReferences"}, []any{map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "name": "x", "uid": "x"}})
			})
		}
		if is.Ours != nil {
			t.Fatalf("the word ours_before with %s is not known", is.Ours)
		}
	}
	in.sent = nil
	return in
}

// keys returns the keys of steps with an action, as text.
func keys(p *reconcile.Plan, want func(s reconcile.Step) bool) string {
	var out []string
	for _, s := range p.Steps {
		if want(s) {
			out = append(out, string(s.Key))
		}
	}
	return fmt.Sprint(out)
}

func TestActions(t *testing.T) {
	shared.Each(t, "actions", func(t *testing.T, c actionsCase) {
		in := install(t, c)
		p := in.plan(t)
		expect := func(word string, want []string, is func(s reconcile.Step) bool) {
			if got := keys(p, is); want != nil && got != fmt.Sprint(want) {
				t.Errorf("%s: got %s, want %s (%+v)", word, got, want, p.Steps)
			}
		}
		by := func(actions ...reconcile.Action) func(s reconcile.Step) bool {
			return func(s reconcile.Step) bool { return slices.Contains(actions, s.Action) }
		}
		expect("create", c.Expected.Create, by(reconcile.Create))
		expect("apply", c.Expected.Apply, by(reconcile.Update, reconcile.AdoptIt, reconcile.MarkIt))
		expect("delete", c.Expected.Delete, by(reconcile.Remove))
		expect("none", c.Expected.None, by(reconcile.None))
		expect("conflict", c.Expected.Conflict, by(reconcile.Blocked))
		said := fmt.Sprint(p.Findings)
		if !strings.Contains(said, c.Expected.Field) || !strings.Contains(said, c.Expected.Manager) || c.Expected.Error && !p.Failed() {
			t.Errorf("the findings are %s, want %s and %s", said, c.Expected.Field, c.Expected.Manager)
		}
		if owner := c.Input.Current; c.Expected.Error && len(owner) == 1 && owner[0].Owner != nil && !strings.Contains(said, owner[0].Owner.Caller) {
			t.Errorf("the findings are %s, want the owner %q", said, owner[0].Owner.Caller)
		}
		if _, err := reconcile.Execute(t.Context(), p, in, nil, reconcile.Options{}); err != nil {
			t.Fatal(err)
		}
		in.check(t, c)
	})
}

// check looks at what a run sent, and at the run after it.
func (in *installation) check(t *testing.T, c actionsCase) {
	t.Helper()
	sent := strings.Join(in.sent, ", ")
	if c.Expected.Writes != nil && len(in.sent) != *c.Expected.Writes || (c.Expected.None != nil || c.Expected.Conflict != nil) && sent != "" {
		t.Errorf("sent %s", sent)
	}
	if c.Expected.Migrates && !strings.Contains(sent, "take ") {
		t.Errorf("sent %s, want fields to be taken", sent)
	}
	for _, was := range in.was {
		if was.UID == "" || was.ResourceVersion == "" {
			t.Errorf("a deletion has the preconditions %+v, want %q", was, c.Expected.Preconditions)
		}
	}
	if len(in.was) != len(c.Expected.Delete) {
		t.Errorf("%d deletions, want %q", len(in.was), c.Expected.Delete)
	}
	if c.Expected.TakesOver {
		th, err := in.Read(t.Context(), reconcile.Key(c.Expected.Apply[0]))
		if err != nil || th.Mark != in.owner.Mark() {
			t.Errorf("the mark is %+v, %v, want %+v", th.Mark, err, in.owner.Mark())
		}
	}
	for _, run := range []string{"the second run", "the third run"} {
		in.sent = nil
		if _, err := reconcile.Execute(t.Context(), in.plan(t), in, nil, reconcile.Options{}); err != nil {
			t.Fatal(err)
		}
		if len(in.sent) > 0 && (c.Expected.SecondRun == "none" || run == "the third run") {
			t.Errorf("%s sent %q, want nothing", run, in.sent)
		}
	}
}
