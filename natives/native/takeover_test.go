package native_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/natives/native"
	"github.com/app-sre/prcheck/natives/reconcile"
)

// What another version of the integration made is told, and taken by a run that does nothing else.
func TestTakeOverOfAnotherVersion(t *testing.T) {
	ours := reconcile.Mark{Integration: "books", Caller: "north"}
	peers := func(caller string) reconcile.Mark {
		return reconcile.Mark{Integration: "books", Version: "1.2.0", Caller: caller}
	}
	before := map[reconcile.Key]reconcile.Thing{
		"same": {Body: "S", Mark: peers("upstream")}, "other": {Body: "old", Mark: peers("")},
		"rival": {Body: "R", Mark: peers("south")},
		"goes":  {Body: "G", Mark: peers("upstream")}, "left": {Body: "L", Mark: peers("north")},
		"own": {Body: "old", Mark: ours}, "over": {Body: "O", Mark: ours}, "free": {Body: "F"},
		"foreign": {Body: "X", Mark: reconcile.Mark{Integration: "papers", Version: "1.2.0", Caller: "north"}},
	}
	for i := range 12 {
		before[reconcile.Key(fmt.Sprintf("over-%d", i))] = reconcile.Thing{Body: "O", Mark: ours}
	}
	const data = `{"north": {"same": "S", "other": "new", "rival": "R", "goes": "!", "own": "new", "fresh": "N", "foreign": "Y"}, "south": {}}`
	for _, c := range []struct {
		name    string
		take    bool
		says    []string
		not     []string
		changed []string
	}{
		{"a usual run", false, []string{
			`error NOT_ADOPTED same: it belongs to another version of the integration, "1.2.0", and its caller "upstream": take it over with reconciler take-over books`,
			"error NOT_ADOPTED other", "error NOT_ADOPTED rival", "error NOT_ADOPTED goes", "error TOO_MANY_DELETES"},
			[]string{"left"},
			[]string{"change own", "create fresh"}},
		{"a take-over", true, []string{"error OWNED_BY_OTHER rival", "note LEFT_BY_PEER left: ",
			"warning  same: it is taken over from version"},
			[]string{"note LEFT_BY_PEER goes", "note LEFT_BY_PEER foreign", "TOO_MANY", "EMPTY", "error DELETE"},
			[]string{"change goes", "change other", "change same"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := &shelf{things: map[reconcile.Key]reconcile.Thing{}}
			for k, th := range before {
				s.put(k, th)
			}
			s.with = seeEverything(s)
			then := maps.Clone(s.things)
			var effects []string
			for _, isDry := range []bool{true, false} {
				said, err := s.run(t, "", data, isDry, func(e *integration.Environment) { e.Approve.TakeOver = c.take })
				if err != nil {
					t.Fatal(err)
				}
				for _, want := range c.says {
					if !strings.Contains(said, want) {
						t.Errorf("dry %v: it does not say %q:\n%s", isDry, want, said)
					}
				}
				for _, no := range c.not {
					if strings.Contains(said, no) {
						t.Errorf("dry %v: it says %q:\n%s", isDry, no, said)
					}
				}
				for line := range strings.SplitSeq(said, "\n") {
					if _, subject, ok := strings.Cut(line, " "); ok && !strings.Contains(subject, " ") {
						effects = append(effects, line)
					}
				}
			}
			slices.Sort(effects)
			if done := changes(then, s.things); !slices.Equal(done, c.changed) || !slices.Equal(effects, c.changed) {
				t.Errorf("the run does %q, the dry run says %q, want %q", done, effects, c.changed)
			}
			if c.take && (s.things["goes"].Mark != ours || s.things["same"].Mark != ours || s.things["other"].Body != "new") {
				t.Errorf("there is %+v", s.things)
			}
		})
	}
}

// seeEverything lets the part north see everything, and the others nothing.
func seeEverything(s *shelf) func(*native.Recipe) {
	return func(i *native.Recipe) {
		i.Current = func(_ context.Context, _ integration.Environment, p native.Part) (native.Current, error) {
			if p.Shard != "north" {
				return native.Current{}, nil
			}
			return native.Current{Things: slices.Collect(maps.Values(s.things))}, nil
		}
	}
}

// A take-over from another integration marks what the data desire, and leaves its change to the next run.
func TestTakeOverFromAnotherIntegration(t *testing.T) {
	papers := reconcile.Mark{Integration: "papers", Caller: "north"}
	s := &shelf{things: map[reconcile.Key]reconcile.Thing{}}
	s.put("same", reconcile.Thing{Body: "S", Mark: papers})
	s.put("other", reconcile.Thing{Body: "old", Mark: papers})
	s.with = seeEverything(s)
	for i, want := range []string{"old", "new"} {
		_, err := s.run(t, "", `{"north": {"same": "S", "other": "new"}}`, false, func(e *integration.Environment) {
			e.Approve.TakeOver = i == 0
			e.Settings.TakeOverFrom = "papers"
		})
		ours := reconcile.Mark{Integration: "books", Caller: "north"}
		if got := s.things["other"]; err != nil || got.Body != want || got.Mark != ours || s.things["same"].Mark != ours {
			t.Errorf("run %d: got %+v, %v, want %q", i, s.things, err, want)
		}
	}
}
