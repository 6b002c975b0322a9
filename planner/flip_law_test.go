package planner_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/internal/jsonpointer"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/planner"
	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/settings"
	"github.com/app-sre/prcheck/trace"
)

// plainSide returns a side as it is read from JSON, so that it can be changed.
func plainSide(t *testing.T, s *side) *side {
	t.Helper()
	raw, err := json.Marshal([]any{s.data, s.resources, s.schemas, s.types})
	if err != nil {
		t.Fatal(err)
	}
	out := &side{}
	if err := json.Unmarshal(raw, &[]any{&out.data, &out.resources, &out.schemas, &out.types}); err != nil {
		t.Fatal(err)
	}
	return out
}

// apply makes the change of a flip by hand, without any code of the planner.
func apply(t *testing.T, kind plan.FlipKind, c plan.FlipChange, base, head *side) {
	t.Helper()
	if c.Part == plan.PartTypes {
		head.types = base.types
		return
	}
	files := func(s *side) object {
		return map[plan.FlipPart]object{plan.PartDatafile: s.data, plan.PartResource: s.resources,
			plan.PartSchema: s.schemas}[c.Part]
	}
	old, had := files(base)[c.Path]
	switch {
	case kind == plan.FlipTakeBack && c.Field == "" && had:
		files(head)[c.Path] = old
	case kind == plan.FlipTakeBack && c.Field == "":
		delete(files(head), c.Path)
	case kind == plan.FlipTakeBack:
		steps := jsonpointer.Split(c.Field)
		last := len(steps) - 1
		from, to := old.(object), files(head)[c.Path].(object)
		for _, step := range steps[:last] {
			from, to = from[step].(object), to[step].(object)
		}
		if v, ok := from[steps[last]]; ok {
			to[steps[last]] = v
		} else {
			delete(to, steps[last])
		}
	case c.Removed:
		delete(files(head), c.Path)
	case len(c.Without) > 0:
		for _, s := range []*side{base, head} {
			o := files(s)[c.Path].(object)
			o["schemas"] = slices.DeleteFunc(slices.Clone(o["schemas"].(list)), func(v any) bool {
				return slices.Contains(c.Without, v.(string))
			})
		}
	default:
		var v any
		if err := json.Unmarshal([]byte(c.To), &v); err != nil {
			t.Fatal(err)
		}
		setAt(t, files(head)[c.Path], jsonpointer.Split(c.Field), v)
		if kind == plan.FlipRules {
			setAt(t, files(base)[c.Path], jsonpointer.Split(c.Field), v)
		}
	}
}

func setAt(t *testing.T, in any, steps []string, v any) {
	t.Helper()
	switch in := in.(type) {
	case object:
		if len(steps) == 1 {
			in[steps[0]] = v
			return
		}
		setAt(t, in[steps[0]], steps[1:], v)
	case list:
		i, err := strconv.Atoi(steps[0])
		if err != nil {
			t.Fatal(err)
		}
		if len(steps) == 1 {
			in[i] = v
			return
		}
		setAt(t, in[i], steps[1:], v)
	default:
		t.Fatalf("%v leads nowhere in %v", steps, in)
	}
}

// flipped makes some changes of a flip by hand, plans anew, and returns the new decision.
func flipped(t *testing.T, in planner.Input, kind plan.FlipKind, changes []plan.FlipChange,
	base, head *side) plan.Decision {
	t.Helper()
	base, head = plainSide(t, base), plainSide(t, head)
	for _, c := range changes {
		if c.Part == plan.PartSettings {
			in.Settings = settingsWith(t, string(in.Settings.Text()), c)
			continue
		}
		apply(t, kind, c, base, head)
	}
	in.Base = base.bundle(t, nil)
	in.Head = head.atCommit(t, "another")
	p, err := planner.Make(t.Context(), in)
	if err != nil {
		t.Fatalf("%v: %v", changes, err)
	}
	if d, ok := p.Decision("it"); ok {
		return d
	}
	return plan.Decision{Decision: plan.Skip, Rung: plan.RungDefinition}
}

// atCommit returns the bundle of a side with a commit, which makes it another bundle than one
// of the same files.
func (s *side) atCommit(t *testing.T, commit string) *bundle.Bundle {
	t.Helper()
	raw, err := json.Marshal(object{
		"data": s.data, "resources": s.resources, "schemas": s.schemas, "graphql": object{"confs": s.types},
		"git_commit": commit,
	})
	if err != nil {
		t.Fatal(err)
	}
	b, err := bundle.Parse(raw, nil)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// holds tells what of the flips of a plan does not hold.
func holds(t *testing.T, in planner.Input, flips plan.Flips, was plan.Decision, base, head *side) string {
	t.Helper()
	if (len(flips.Known) == 0) == (flips.Why == "") {
		return fmt.Sprintf("%d flips, and why: %q", len(flips.Known), flips.Why)
	}
	for _, f := range flips.Known {
		d := flipped(t, in, f.Kind, f.Changes, base, head)
		if (d.Decision == plan.Skip) == (was.Decision == plan.Skip) {
			return fmt.Sprintf("%+v does not flip it: %s: %s", f, brief(d), d.Reason)
		}
		if d.Decision != f.Decision || d.Rung != f.Rung || d.Code != f.Code || !slices.Equal(d.Evidence.Keys, f.Keys) {
			return fmt.Sprintf("%+v says otherwise than the plan: %s: %s", f, brief(d), d.Reason)
		}
		for i := range f.Changes {
			if !f.Smallest || len(f.Changes) == 1 {
				break
			}
			rest := slices.Delete(slices.Clone(f.Changes), i, i+1)
			if d := flipped(t, in, f.Kind, rest, base, head); (d.Decision == plan.Skip) != (was.Decision == plan.Skip) {
				return fmt.Sprintf("%+v is not the smallest: %+v is enough", f, rest)
			}
		}
	}
	return ""
}

// flipCase is a random change: of random files and queries, or of the world of this package.
func flipCase(t *testing.T, c chooser) (in planner.Input, base, head *side) {
	t.Helper()
	if c.IntN(2) == 0 {
		all, kinds := mutations(), programs()
		p := kinds[c.IntN(len(kinds))]
		base, head = world(), world()
		for _, s := range []*side{base, head} {
			clusters(override("two", subshards(2)))(s)
		}
		for range c.IntN(3) {
			all[c.IntN(len(all))](c.Rand, head)
		}
		in = input(t, base, head, p.settings)
		in.Traces = storedTraces{traces: map[string][]*trace.Trace{"": {p.recorded(t, in.Base)}}}
		return in, base, head
	}
	base, query := c.world(), c.query()
	def := definition("it", object{"cmd": "it"})
	def["schemas"] = list{"/a-1.yml", "/b-1.yml", "/c-1.yml"}[:1+c.IntN(3)]
	base.data["/it.yml"] = def
	head = copyOf(base)
	for range 1 + c.IntN(4) {
		c.change(head)
	}
	in = input(t, base, head, []string{exec, lawPrograms[0].settings, lawPrograms[3].settings}[c.IntN(3)])
	in.ReadQuery = func(string) ([]byte, error) { return []byte(query), nil }
	in.Traces = storedTraces{traces: map[string][]*trace.Trace{"": {lawTrace(t, base, query)}}}
	return in, base, head
}

// TestFlipLaw holds, for random bundles, queries and changes, that what is said to flip a
// decision flips it, when exactly this is changed and a new plan is made.
func TestFlipLaw(t *testing.T) {
	known, runs, skips := map[plan.FlipKind]int{}, 0, 0
	cases := 250
	if testing.Short() {
		cases = 50
	}
	for seed := uint64(0); runs+skips < cases; seed++ {
		in, base, head := flipCase(t, chooser{rand.New(rand.NewPCG(seed, 18))}) //nolint:gosec // repeatable
		p := made(t, in)
		was, _ := p.Decision("it")
		flips, err := planner.Flips(t.Context(), in, p, "it")
		if err != nil {
			t.Fatal(err)
		}
		if why := holds(t, in, flips, was, base, head); why != "" {
			t.Fatalf("seed %d: %s\n%s\n%s: %s", seed, why, in.Settings.Text(), brief(was), was.Reason)
		}
		if was.Decision == plan.Skip {
			skips++
		} else {
			runs++
		}
		for _, f := range flips.Known {
			known[f.Kind]++
		}
	}
	t.Logf("%d runs, %d skips, flips %v", runs, skips, known)
	if known[plan.FlipTakeBack] < runs*9/10 || known[plan.FlipEdit] < skips/2 ||
		!testing.Short() && known[plan.FlipRules] == 0 {
		t.Errorf("too little is found: %v of %d runs and %d skips", known, runs, skips)
	}
}

// settingsWith returns settings with what a flip says of a key, written by hand.
func settingsWith(t *testing.T, old string, c plan.FlipChange) *settings.Settings {
	t.Helper()
	text := old
	switch c.Field {
	case "integrations.it.list_order":
		text = strings.Replace(old, "list_order: significant", "list_order: ignored", 1)
	case "integrations.it.resources":
		if text = strings.Replace(old, "{it: {", "{it: {resources: none, ", 1); text == old {
			text += "integrations: {it: {resources: none}}\n"
		}
	}
	s, err := settings.Read("prcheck.yaml", []byte(text))
	if err != nil || text == old {
		t.Fatalf("%+v in %q: %v", c, old, err)
	}
	return s
}

func TestFlips(t *testing.T) {
	datafile := func(path, schema, field, to string) plan.FlipChange {
		return plan.FlipChange{Part: plan.PartDatafile, Path: path, Schema: schema, Field: field, To: to}
	}
	back := plan.Flip{Kind: plan.FlipTakeBack, Smallest: true, Decision: plan.Skip, Rung: plan.RungSchema,
		Code: plan.CodeNoAllowedFile}
	with := func(f plan.Flip, code plan.Code, changes ...plan.FlipChange) plan.Flip {
		f.Code, f.Changes = code, changes
		return f
	}
	rules := back
	rules.Kind = plan.FlipRules
	edit := plan.Flip{Kind: plan.FlipEdit, Smallest: true, Decision: plan.Run, Rung: plan.RungSchema}
	at := func(f plan.Flip, d plan.Action, r plan.Rung) plan.Flip { f.Decision, f.Rung = d, r; return f }
	always := func(s *side) { s.check()["always_run"] = true }
	reorder := func(_, head *side) { head.at("/roles/ops.yml")["tags"] = list{"y", "x"} }
	for _, c := range []struct {
		name, settings string
		change         func(base, head *side)
		want           []plan.Flip
	}{
		{
			"one of two files that it may read", exec, func(b, h *side) { rename(b, h); elsewhere(b, h) },
			[]plan.Flip{
				with(back, plan.CodeNoAllowedFile, datafile("/users/ana.yml", "/user-1.yml", "/name", "")),
				with(rules, plan.CodeNoAllowedFile, plan.FlipChange{Part: plan.PartDatafile, Path: "/it.yml",
					Schema: "/app-sre/integration-1.yml", Field: "/schemas", Without: []string{"/user-1.yml"}}),
			},
		},
		{
			"always_run", exec, both(always, elsewhere),
			[]plan.Flip{with(rules, plan.CodeNoAllowedFile, datafile("/it.yml", "/app-sre/integration-1.yml",
				"/pr_check/always_run", "false"))},
		},
		{
			"a lone resource", exec, onHead(content("/lone.txt")),
			[]plan.Flip{
				with(back, plan.CodeOnlyMetadata, plan.FlipChange{Part: plan.PartResource, Path: "/lone.txt"}),
				with(rules, plan.CodeNoAllowedFile, plan.FlipChange{Part: plan.PartSettings, Path: "prcheck.yaml",
					Field: "integrations.it.resources", To: `"none"`}),
			},
		},
		{
			"the order of a list", asks(", list_order: significant", "roles.graphql"), reorder,
			[]plan.Flip{
				with(back, plan.CodeOnlyMetadata, datafile("/roles/ops.yml", "/role-1.yml", "/tags", "")),
				with(at(rules, plan.Skip, plan.RungState), plan.CodeSameState,
					plan.FlipChange{Part: plan.PartSettings, Path: "prcheck.yaml", Field: "integrations.it.list_order",
						To: `"ignored"`}),
			},
		},
		{
			"a field that it does not read", asks("", "names.graphql"), email,
			[]plan.Flip{with(at(edit, plan.Run, plan.RungState), plan.CodeStateDiffers,
				datafile("/users/ana.yml", "/user-1.yml", "/name", `"changed"`))},
		},
		{
			"nothing that it may read", exec, elsewhere,
			[]plan.Flip{with(edit, plan.CodeAllowedFileChanged, datafile("/users/ana.yml", "/user-1.yml", "/email",
				`"changed"`))},
		},
		{
			"disabled", exec, both(func(s *side) { s.check()["disabled"] = true }, rename),
			[]plan.Flip{with(at(edit, plan.Run, plan.RungDefinition), plan.CodeDefinitionChanged,
				datafile("/it.yml", "/app-sre/integration-1.yml", "/pr_check/disabled", "false"))},
		},
		{
			"one shard", byAccount(""), resize,
			[]plan.Flip{with(back, plan.CodeOnlyMetadata, datafile("/groups/ops.yml", "/group-1.yml", "/size", ""))},
		},
		{"no pr_check", exec, both(func(s *side) { delete(s.at("/it.yml"), "pr_check") }, rename), nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			base, head := world(), world()
			c.change(base, head)
			in := input(t, base, head, c.settings)
			p := made(t, in)
			was, _ := p.Decision("it")
			flips, err := planner.Flips(t.Context(), in, p, "it")
			if err != nil {
				t.Fatal(err)
			}
			if got, want := fmt.Sprintf("%+v", flips.Known), fmt.Sprintf("%+v", c.want); got != want {
				t.Errorf("%s: %s\ngot  %s\nwant %s", brief(was), was.Reason, got, want)
			}
			if why := holds(t, in, flips, was, base, head); why != "" {
				t.Error(why)
			}
		})
	}
}

// Flips are looked for only where the plan can be made again.
func TestFlipsOfAnotherPlan(t *testing.T) {
	base, head := world(), world()
	rename(base, head)
	in := input(t, base, head, exec)
	p := made(t, in)
	other := in
	other.Head = in.Base
	if _, err := planner.Flips(t.Context(), other, p, "it"); err == nil {
		t.Error("flips of another head are found")
	}
	decision(p).Rung = plan.RungState
	flips, err := planner.Flips(t.Context(), in, p, "it")
	if err != nil || len(flips.Known) > 0 || flips.Why == "" {
		t.Errorf("got %+v, %v of a decision that is another one now", flips, err)
	}
}
