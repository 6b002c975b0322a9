package proving_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/queue"
	"github.com/app-sre/prcheck/queue/proving"
	"github.com/app-sre/prcheck/state"
	"github.com/app-sre/prcheck/state/audits"
)

// shop is a small checkout of the test: two programs, each with a query of its own.
func shop() map[string]*string {
	out := map[string]*string{}
	for name, text := range map[string]string{
		"data/rooms/a.yml":  "$schema: /room-1.yml\nname: a\ndesks: 1\n",
		"data/rooms/b.yml":  "$schema: /room-1.yml\nname: b\ndesks: 1\n",
		"data/people/p.yml": "$schema: /person-1.yml\nname: p\n",
		"data/check.yml": "$schema: /app-sre/integration-1.yml\nname: desks\npr_check: {cmd: desks}\n" +
			"schemas: [/room-1.yml]\n",
		"data/other.yml": "$schema: /app-sre/integration-1.yml\nname: other\npr_check: {cmd: other}\n" +
			"schemas: [/other-1.yml]\n",
		"schemas/room-1.yml":         "$schema: /metaschema-1.json\ntype: object\nproperties: {name: {type: string}, desks: {type: integer}}\n",
		"schemas/person-1.yml":       "$schema: /metaschema-1.json\ntype: object\nproperties: {name: {type: string}, desks: {type: integer}}\n",
		"graphql-schemas/schema.yml": "$schema: /app-interface/graphql-schemas-1.yml\nconfs:\n- {name: Room_v1, datafile: /room-1.yml, fields: [{name: name, type: string}, {name: desks, type: int}]}\n- {name: Query, fields: [{name: rooms, type: Room_v1, isList: true, datafileSchema: /room-1.yml}]}\n",
		"prcheck.yaml":               "version: 1\nexec: {argv: [run, \"{cmd}\"]}\nprograms: none\nintegrations:\n  desks: {queries: [desks.graphql]}\n",
		"desks.graphql":              "{rooms: rooms {name desks}}\n",
		"resources/unused":           "x",
	} {
		out[name] = &text
	}
	return out
}

func text(s string) *string { return &s }

// A result holds only if nothing speaks against it, and a proof without a state holds nothing.
func TestWhatHolds(t *testing.T) {
	mine := map[string]*string{"data/rooms/a.yml": text("$schema: /room-1.yml\nname: a\ndesks: 2\n")}
	others := map[string]*string{"data/people/p.yml": text("$schema: /person-1.yml\nname: q\n")}
	reads := map[string]*string{"data/rooms/b.yml": text("$schema: /room-1.yml\nname: b\ndesks: 3\n")}
	failed := func(r *plan.Result) { r.Status = plan.Failed }
	for name, c := range map[string]struct {
		others   map[string]*string
		prepare  func(s *scene, p *plan.Plan)
		isHolder bool
	}{
		"passed":                       {others, func(s *scene, p *plan.Plan) { s.remember(p, time.Minute, nil) }, true},
		"others changed what it reads": {reads, func(s *scene, p *plan.Plan) { s.remember(p, time.Minute, nil) }, false},
		"nothing is remembered":        {others, func(*scene, *plan.Plan) {}, false},
		"too old":                      {others, func(s *scene, p *plan.Plan) { s.remember(p, 2*time.Hour, nil) }, false},
		"from the future":              {others, func(s *scene, p *plan.Plan) { s.remember(p, -time.Hour, nil) }, false},
		"failed":                       {others, func(s *scene, p *plan.Plan) { s.remember(p, time.Minute, failed) }, false},
		"failed later": {others, func(s *scene, p *plan.Plan) {
			s.remember(p, 2*time.Minute, nil)
			s.remember(p, time.Minute, failed)
		}, false},
		"at the second attempt": {others, func(s *scene, p *plan.Plan) {
			s.remember(p, time.Minute, func(r *plan.Result) {
				r.Attempts, r.Before = 2, []plan.Attempt{{Status: plan.Failed, Class: plan.ClassTransient}}
			})
		}, false},
		"flaky with other inputs": {others, func(s *scene, p *plan.Plan) {
			other := *p
			other.Tasks = slices.Clone(p.Tasks)
			for i := range other.Tasks {
				other.Tasks[i].Inputs = "sha256:other"
			}
			s.remember(&other, 3*time.Minute, nil)
			s.remember(&other, 2*time.Minute, failed)
			s.remember(p, time.Minute, nil)
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t, shop(), mine, c.others)
			c.prepare(s, s.plan())
			got := s.decide()
			if got.State.MayMerge() != c.isHolder || slices.Equal(got.Delta, []string{"desks"}) == c.isHolder {
				t.Errorf("got %s: %s, delta %q", got.State, got.Reason, got.Delta)
			}
		})
	}
}

// An integration of whose results an audit found one wrong holds nothing until somebody confirms, if the settings say so.
func TestMissEndsHolding(t *testing.T) {
	mine := map[string]*string{"data/rooms/a.yml": text("$schema: /room-1.yml\nname: a\ndesks: 2\n")}
	others := map[string]*string{"data/people/p.yml": text("$schema: /person-1.yml\nname: q\n")}
	distrusting := shop()
	distrusting["prcheck.yaml"] = text(*distrusting["prcheck.yaml"] + "audit: {on_miss: distrust}\n")
	for name, c := range map[string]struct {
		of       string // the integration about which a result was wrong; "" is none
		confirms bool
		holds    bool
	}{"no miss": {"", false, true}, "a miss": {"desks", false, false}, "of another one": {"other", false, true},
		"confirmed": {"desks", true, true}} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t, distrusting, mine, others)
			s.remember(s.plan(), time.Minute, nil)
			store, err := state.At(t.Context(), s.state, state.Writing)
			if err != nil {
				t.Fatal(err)
			}
			kept := audits.NewStore(store)
			if c.of != "" {
				miss := plan.Audited{Task: c.of, Integration: c.of, Rung: plan.RungResult, Outcome: plan.AuditWrong}
				if _, err := kept.Add(t.Context(), &plan.Audit{Units: []plan.Audited{miss}}, time.Now()); err != nil {
					t.Fatal(err)
				}
			}
			if c.confirms {
				if _, err := kept.Confirm(t.Context(), c.of, time.Now()); err != nil {
					t.Fatal(err)
				}
			}
			if got := s.decide(); got.State.MayMerge() != c.holds {
				t.Errorf("got %s: %s, delta %q", got.State, got.Reason, got.Delta)
			}
		})
	}
}

// Head's settings, programs and queries decide nothing, and neither does the working tree.
func TestHeadDecidesNothing(t *testing.T) {
	mine := map[string]*string{"data/rooms/a.yml": text("$schema: /room-1.yml\nname: a\ndesks: 2\n")}
	for name, file := range map[string]map[string]*string{
		"settings that start nothing": {"prcheck.yaml": text("version: 1\nexec: {argv: [none]}\nprograms: none\npaths: {ignore: [\"**\"]}\n")},
		"a query that reads nothing":  {"desks.graphql": text("{rooms: rooms {name}}\n")},
		"a definition that reads nothing": {"data/check.yml": text("$schema: /app-sre/integration-1.yml\nname: desks\n" +
			"pr_check: {cmd: desks}\nschemas: []\n")},
	} {
		for where, isTree := range map[string]bool{"in head": false, "in the working tree": true} {
			t.Run(name+" "+where, func(t *testing.T) {
				edits := map[string]*string{}
				for n, of := range mine {
					edits[n] = of
				}
				if !isTree {
					for n, of := range file {
						edits[n] = of
					}
				}
				s := newScene(t, shop(), edits, nil)
				if isTree {
					s.write(file)
				}
				if got := s.decide(); got.State != queue.Delta || !slices.Contains(got.Delta, "desks") {
					t.Errorf("got %s: %s", got.State, got.Reason)
				}
			})
		}
	}
}

// Requests are proven on top of each other, and what was made is gone afterwards.
func TestOnTopOfEachOther(t *testing.T) {
	room := func(name, desks string) map[string]*string {
		return map[string]*string{"data/rooms/" + name + ".yml": text("$schema: /room-1.yml\nname: " + name + "\ndesks: " +
			desks + "\n")}
	}
	s := newScene(t, shop(), room("a", "2"), nil)
	s.git("checkout", "-q", "-b", "second", "main")
	second := s.commit(room("b", "2"))
	s.git("checkout", "-q", "-b", "third", "main")
	third := s.commit(room("a", "3"))
	folders := t.TempDir()
	t.Setenv("TMPDIR", folders)
	p, err := proving.New(t.Context(), proving.Place{Env: s.env, Repository: s.dir, State: s.state})
	if err != nil {
		t.Fatal(err)
	}
	look := p.Look(t.Context())
	first := look(s.now, queue.Request{Head: s.mine})
	if d := first.Decide(queue.Pair{Head: s.mine, Base: s.now}); d.State != queue.Delta {
		t.Fatalf("the first: %s: %s", d.State, d.Reason)
	}
	made, ok := p.Plan(first.Pair)
	if !ok || len(made.Tasks) != 1 {
		t.Errorf("the plan has %d tasks", len(made.Tasks))
	}
	for head, want := range map[string]queue.State{second: queue.Delta, third: queue.Conflict, s.mine: queue.NothingLeft} {
		proof := look(first.Tree, queue.Request{Head: head})
		if d := proof.Decide(queue.Pair{Head: head, Base: first.Tree}); d.State != want {
			t.Errorf("%s on the first: %s: %s, want %s", head, d.State, d.Reason, want)
		}
	}
	unknown := look(s.now, queue.Request{Head: strings.Repeat("1", 40)})
	if d := unknown.Decide(unknown.Pair); d.State != queue.Unknown {
		t.Errorf("a commit that is not here: %s: %s", d.State, d.Reason)
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(folders); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// What the base has already broken does not keep a request back, and new mistakes do.
func TestOldMistakes(t *testing.T) {
	mine := map[string]*string{"data/rooms/a.yml": text("$schema: /room-1.yml\nname: a\ndesks: 2\n")}
	broken := shop()
	broken["data/rooms/c.yml"] = text("$schema: /room-1.yml\nname: {$ref: /nowhere.yml}\n")
	s := newScene(t, broken, mine, nil)
	if got := s.decide(); got.State != queue.Delta {
		t.Errorf("got %s: %s", got.State, got.Reason)
	}
	mine["data/rooms/d.yml"] = text("$schema: /none-1.yml\nname: d\n")
	s = newScene(t, broken, mine, nil)
	if got := s.decide(); got.State != queue.Invalid || !strings.Contains(got.Reason.String(), "/rooms/d.yml") {
		t.Errorf("got %s: %s", got.State, got.Reason)
	}
	mine["data/rooms/d.yml"] = text("name: d\n")
	s = newScene(t, broken, mine, nil)
	if got := s.decide(); got.State != queue.Invalid || !strings.Contains(got.Reason.String(), "/rooms/d.yml") {
		t.Errorf("a file without a schema: got %s: %s", got.State, got.Reason)
	}
}

// Without a repository there is no prover.
func TestNoRepository(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	folders := t.TempDir()
	t.Setenv("TMPDIR", folders)
	if _, err := proving.New(t.Context(), proving.Place{Repository: filepath.Join(folders, "none")}); err == nil {
		t.Error("no error")
	}
	if left, err := os.ReadDir(folders); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}
