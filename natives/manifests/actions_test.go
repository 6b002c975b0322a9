package manifests_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/internal/shared"
	"github.com/app-sre/prcheck/natives/manifests"
	"github.com/app-sre/prcheck/natives/reconcile"
)

type actionsCase struct {
	Input struct {
		Desired []string // "KIND/NAME", or "KIND/NAME without" and a part of it
		Caller  string
		Callers []string
		Adopt   bool
		DryRun  bool `json:"dry_run"` // the driver of natives/manager knows it
		Current []struct {
			ID       string
			Owner    *struct{ Integration, Caller string }
			Differs  bool
			Extra    string
			Ours     string `json:"ours_before"`
			Conflict struct{ Manager, Field, Subresource string }
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
		SecondRun                             string   `json:"second_run"`
		Told, Order                           []string // the driver of natives/manager knows them
	}
	has map[string]bool // parts such as "env X" that an object has afterwards
}

// readActions reads a case of the area "actions". One about the order of several objects is for the
// driver of natives/manager.
func readActions(t *testing.T, input, expected json.RawMessage) (c actionsCase) {
	t.Helper()
	var words map[string]json.RawMessage
	if err := json.Unmarshal(expected, &words); err != nil {
		t.Fatal(err)
	}
	c.has = map[string]bool{}
	for word, value := range words {
		if part, ok := strings.CutPrefix(word, "after_has_"); ok {
			kind, name, _ := strings.Cut(part, "_")
			c.has[kind+" "+name] = string(value) == "true"
			delete(words, word)
		}
	}
	expected, err := json.Marshal(words)
	if err != nil {
		t.Fatal(err)
	}
	shared.Words(t, input, &c.Input)
	shared.Words(t, expected, &c.Expected)
	if c.Expected.Order != nil || c.Expected.Told != nil || c.Input.DryRun {
		t.Skip("about the order of several objects")
	}
	return c
}

// holder returns what holds a part of an object such as "env X", and its name.
func holder(t testing.TB, o manifests.Object, part string) (of map[string]any, name string) {
	t.Helper()
	kind, name, _ := strings.Cut(part, " ")
	switch kind {
	case "env":
		return nil, name
	case "label", "annotation":
		of, _ = o["metadata"].(map[string]any)[kind+"s"].(map[string]any)
		return of, name
	}
	t.Fatalf("the part %q is not known", part)
	return nil, ""
}

// hasPart reports whether an object has a part such as "env X".
func hasPart(t testing.TB, o manifests.Object, part string) bool {
	t.Helper()
	of, name := holder(t, o, part)
	if of != nil {
		return of[name] != nil
	}
	list, _ := container(o)["env"].([]any)
	return slices.ContainsFunc(list, func(v any) bool { return v.(map[string]any)["name"] == name })
}

// setPart gives an object a part such as "env X", or takes it away.
func setPart(t testing.TB, o manifests.Object, part string, has bool) {
	t.Helper()
	if kind, name, _ := strings.Cut(part, " "); kind != "env" {
		setAt(o, []string{"metadata", kind + "s", name}, "x")
	}
	of, name := holder(t, o, part)
	switch list, _ := container(o)["env"].([]any); {
	case of != nil && !has:
		delete(of, name)
	case of == nil && !has:
		container(o)["env"] = slices.DeleteFunc(list, func(v any) bool { return v.(map[string]any)["name"] == name })
	case of == nil && !hasPart(t, o, part):
		container(o)["env"] = append(list, map[string]any{"name": name, "value": "x"})
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

func (in *installation) Delete(ctx context.Context, ref integration.ObjectRef, was integration.Preconditions,
	p integration.Propagation) error {
	in.was = append(in.was, was)
	return in.cluster.Delete(ctx, ref, was, p)
}

// named returns the manifest of an object such as Deployment/a, or "Deployment/a without env X".
func named(t testing.TB, words string) manifests.Object {
	t.Helper()
	id, part, isWithout := strings.Cut(words, " without ")
	kind, name, _ := strings.Cut(id, "/")
	o := manifest(t, manifests.Named(kind))
	setAt(o, []string{"metadata", "name"}, name)
	if isWithout {
		setPart(t, o, part, false)
	}
	return o
}

// keyOf returns the key of an object of such words.
func keyOf(words string) reconcile.Key {
	id, _, _ := strings.Cut(words, " ")
	return reconcile.Key(id)
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
func (in *installation) Write(ctx context.Context, s reconcile.Step, fresh *reconcile.Thing,
	mark reconcile.Mark) error {
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
	input := reconcile.Input{Owner: in.owner, Class: reconcile.Listing,
		Gate: reconcile.Gate{Limits: reconcile.DefaultLimits()},
		Compare: func(want reconcile.Item, is reconcile.Thing, _ reconcile.Record) (reconcile.Difference, error) {
			return manifests.Diff(want.Body.(manifests.Object), is.Body.(*manifests.Live), in.opts)
		}}
	for _, id := range in.desired {
		it := reconcile.Item{Key: keyOf(id), Body: named(t, id)}
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
			if is.Deletable() || slices.ContainsFunc(in.desired, func(words string) bool { return string(keyOf(words)) == id }) {
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
		before := named(t, is.ID)
		if is.Ours != "" {
			setPart(t, before, is.Ours, true)
		}
		if len(is.Managers) == 0 {
			if err := in.doer().Create(t.Context(), kindOf(before), "n", before, mark); err != nil {
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
		switch {
		case is.Conflict.Subresource == "scale":
			in.Scale(t, is.Conflict.Manager, path, 0)
		case is.Conflict.Subresource != "":
			t.Fatalf("the subresource %q is not known", is.Conflict.Subresource)
		case is.Conflict.Manager != "":
			edit(is.Conflict.Manager, func(o map[string]any) {
				setAt(o, strings.Split(strings.TrimPrefix(is.Conflict.Field, "."), "."), int64(0))
			})
		}
		if is.Owners > 0 {
			edit("test", func(o map[string]any) {
				setAt(o, []string{"metadata", "ownerReferences"},
					[]any{map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "name": "x", "uid": "x"}})
			})
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
	shared.Each(t, "actions", func(t *testing.T, raw struct{ Input, Expected json.RawMessage }) {
		c := readActions(t, raw.Input, raw.Expected)
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
		if !strings.Contains(said, c.Expected.Field) || !strings.Contains(said, c.Expected.Manager) ||
			c.Expected.Error && !p.Failed() {
			t.Errorf("the findings are %s, want %s and %s", said, c.Expected.Field, c.Expected.Manager)
		}
		if owner := c.Input.Current; c.Expected.Error && len(owner) == 1 && owner[0].Owner != nil &&
			!strings.Contains(said, owner[0].Owner.Caller) {
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
	if c.Expected.Writes != nil && len(in.sent) != *c.Expected.Writes ||
		(c.Expected.None != nil || c.Expected.Conflict != nil) && sent != "" {
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
	for part, want := range c.has {
		th, err := in.Read(t.Context(), keyOf(c.Input.Desired[0]))
		if err != nil || hasPart(t, th.Body.(*manifests.Live).Object, part) != want {
			t.Errorf("%v: it has %s: %t", err, part, !want)
		}
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
