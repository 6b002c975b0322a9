package schemafilter_test

import (
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/schemafilter"
	"github.com/app-sre/prcheck/settings"
)

// shop is the base of all cases: the integration x, which may read /s/a.yml,
// and files of two schemas.
func shop() side {
	return side{
		data: map[string]object{
			"/i/x.yml": definition("x", object{"cmd": "x"}, "/s/a.yml", "/s/c.yml"),
			"/a.yml":   file("/s/a.yml", 1),
			"/b.yml":   file("/s/b.yml", "/r/mentioned.txt"),
		},
		resources: map[string]object{
			"/r/alone.txt":     resource("1"),
			"/r/mentioned.txt": resource("1"),
			"/r/schema.txt":    resource("1", "/s/a.yml"),
			"/r/foreign.txt":   resource("1", "/s/b.yml"),
		},
		schemas: map[string]object{"/s/a.yml": {"type": "object"}},
		graphql: []any{object{"name": "T", "fields": []any{}}},
	}
}

// A rule is one rule of the package comment from one side.
type rule struct {
	name     string
	change   func(base, head *side) // replaces whole files of either side
	settings string
	hasState bool
	want     schemafilter.Outcome // without definitions
}

// because is a reason with names.
func because(code plan.Code, names ...string) plan.Reason {
	return plan.Reason{Code: code, Names: names}
}

func skipped(rung plan.Rung, reason plan.Reason, e plan.Evidence) schemafilter.Outcome {
	return decided(plan.Skip, rung, reason, e)
}

func runs(rung plan.Rung, reason plan.Reason, e plan.Evidence) schemafilter.Outcome {
	return decided(plan.Run, rung, reason, e)
}

func decided(action plan.Action, rung plan.Rung, reason plan.Reason, e plan.Evidence) schemafilter.Outcome {
	if e.Definition == nil {
		e.Definition = []string{"/i/x.yml"}
	}
	return schemafilter.Outcome{
		Name: "x", Decided: true,
		Conclusion: plan.Conclusion{Action: action, Rung: rung, Reason: reason, Evidence: e},
	}
}

// blocked is an outcome with no trusted command.
func blocked(o schemafilter.Outcome, why plan.Code) schemafilter.Outcome {
	o.Blocked = plan.Reason{Code: why}
	return o
}

// open is an outcome that the next rungs decide.
func open(selected bool, o schemafilter.Outcome) schemafilter.Outcome {
	o.Decided, o.Selected = false, selected
	return o
}

// doubted is an outcome that runs because of what could not be proven.
func doubted(reason plan.Reason, e plan.Evidence) schemafilter.Outcome {
	e.Doubts = []string{reason.String()}
	return runs(plan.RungSchema, reason, e)
}

func put(path string, o object) func(base, head *side) {
	return func(_, head *side) { head.data[path] = o }
}

func putBoth(path string, before, after object) func(base, head *side) {
	return func(base, head *side) { base.data[path], head.data[path] = before, after }
}

func putResource(path string, o object) func(base, head *side) {
	return func(_, head *side) { head.resources[path] = o }
}

// x is the definition with another check.
func x(check object) object { return definition("x", check, "/s/a.yml", "/s/c.yml") }

// two is what the schemas of x say when nothing else is known.
var two = plan.Evidence{Allowed: 2}

// unconcerned is the reason why x is skipped when no changed file has a schema that it may read.
var unconcerned = plan.Reason{Code: plan.CodeNoAllowedFile, Names: []string{"/s/a.yml", "/s/c.yml"}, Count: 2}

func hit(paths ...string) plan.Evidence {
	return plan.Evidence{Allowed: 2, Schemas: []string{"/s/a.yml"}, Paths: paths}
}

// withDoubt adds a doubt to evidence.
func withDoubt(e plan.Evidence, doubt plan.Reason) plan.Evidence {
	e.Doubts = append(e.Doubts, doubt.String())
	return e
}

func fields(names ...string) plan.Evidence { return plan.Evidence{Fields: names} }

func TestRules(t *testing.T) {
	for _, c := range slices.Concat(definitionRules, schemaRules) {
		t.Run(c.name, func(t *testing.T) {
			base := shop()
			head := base.clone()
			c.change(&base, &head)
			var stated []string
			if c.hasState {
				stated = []string{"x"}
			}
			got := filter(t, base.bundle(t), head.bundle(t), readSettings(t, c.settings), stated...)
			if len(got) != 1 {
				t.Fatalf("got %d outcomes, want 1: %+v", len(got), got)
			}
			got[0].Base, got[0].Head, got[0].Use = nil, nil, nil
			if !reflect.DeepEqual(got[0], c.want) {
				t.Errorf("got  %+v\nwant %+v", got[0], c.want)
			}
		})
	}
}

// The definition to run by is that of base, or that of head when base has no
// command.
func TestUse(t *testing.T) {
	for _, c := range []struct {
		name          string
		before, after object // nil: not defined
		want          string
	}{
		{"both", x(object{"cmd": "base"}), x(object{"cmd": "head"}), "base"},
		{"head disables", x(object{"cmd": "base"}), x(object{"cmd": "head", "disabled": true}), "base"},
		{"head alone", nil, x(object{"cmd": "head"}), "head"},
		{"base alone", x(object{"cmd": "base"}), nil, "base"},
		{"head gives a pr_check", x(nil), x(object{"cmd": "head"}), "head"},
	} {
		t.Run(c.name, func(t *testing.T) {
			base := shop()
			head := base.clone()
			delete(base.data, "/i/x.yml")
			delete(head.data, "/i/x.yml")
			head.data["/b.yml"] = file("/s/b.yml", 2)
			if c.before != nil {
				base.data["/i/x.yml"] = c.before
			}
			if c.after != nil {
				head.data["/i/x.yml"] = c.after
			}
			got := filter(t, base.bundle(t), head.bundle(t), readSettings(t, ""))
			if cmd := got[0].Use.Check.Cmd; cmd != c.want {
				t.Errorf("it runs as %q, want %q", cmd, c.want)
			}
		})
	}
}

// Evidence names at most twenty files, the reason still counts all of them.
func TestManyFiles(t *testing.T) {
	base := shop()
	head := base.clone()
	for i := range 30 {
		head.data[fmt.Sprintf("/many/%02d.yml", i)] = file("/s/a.yml", i)
	}
	got := filter(t, base.bundle(t), head.bundle(t), readSettings(t, ""))[0].Conclusion
	if n := len(got.Evidence.Paths); n != 20 || got.Evidence.Paths[19] != "/many/19.yml" {
		t.Errorf("got %d paths: %v", n, got.Evidence.Paths)
	}
	if want := "it may read /many/00.yml and 29 more, which changed, and has no queries to look closer"; got.Sentence() !=
		want {
		t.Errorf("got %q, want %q", got.Sentence(), want)
	}
}

// Resources are looked up among the mentions, datafiles never are.
func TestCollectAsksForMentionsOnlyWhenNeeded(t *testing.T) {
	base := shop()
	head := base.clone()
	head.data["/a.yml"] = file("/s/a.yml", 2)
	b, h := base.bundle(t), head.bundle(t)
	schemafilter.Collect(b, h, bundle.Compare(b, h), func() *bundle.Mentions {
		t.Error("asked for mentions though no resource changed")
		return bundle.IndexMentions(b, h)
	})
}

// A name from head does not become part of a command unless it is plain.
func TestTrustedButNotPlain(t *testing.T) {
	rules, err := settings.Read("prcheck.yaml", []byte("version: 1\ntrust: {new_integrations: true}\n"))
	if err != nil {
		t.Fatal(err)
	}
	for name, blocked := range map[string]bool{"plain-1.x": false, "../x": true, "a b": true, "-x": true, "é": true} {
		got := schemafilter.Filter(schemafilter.Input{
			Head:     []integration.Definition{{Name: name, Check: &integration.Check{Cmd: "x"}}},
			Changes:  schemafilter.Changes{Files: []schemafilter.File{{Path: "/i.yml", Repo: "data/i.yml"}}},
			Settings: rules,
		})
		if len(got) != 1 || (got[0].Blocked.Code != "") != blocked {
			t.Errorf("%q: got %+v, want blocked %v", name, got, blocked)
		}
	}
}
