package rounds

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/state/loops"
)

// A round that writes leaves how the loop stands. One that writes nothing, and one that only does what a person asked
// for, leave it as it was.
func TestNoteLoop(t *testing.T) {
	in, log := input(fake{run: func(_ context.Context, env integration.Environment, _ integration.Actors) error {
		env.Stand(integration.Standing{Key: "a\x1b[2J", State: "held", Waits: true, Hold: "it\nsoaks"})
		env.Pass(integration.Flow{Source: "x\n", Stages: []string{"stage"},
			Commits: []integration.Commit{{SHA: "c", Passes: []integration.Passage{{State: integration.Bad, Why: "b\x07ad"}}}}})
		return errors.New("one of two failed")
	}})
	in.State = newMemory()
	known := func() []loops.Loop {
		list, damaged, err := loops.NewStore(in.State).All(t.Context())
		if err != nil || damaged != nil {
			t.Fatal(damaged, err)
		}
		return list
	}
	once(t, in, Orders{})
	once(t, in, Orders{Writes: true, Wait: time.Minute, Approve: integration.Approvals{Adopt: true}})
	if got := known(); len(got) != 0 {
		t.Fatalf("a dry run or an adoption left %+v", got)
	}
	once(t, in, Orders{Writes: true, Wait: time.Minute, Shard: "s"})
	got := known()
	if len(got) != 1 {
		t.Fatalf("got %+v, %s", got, log)
	}
	l := got[0]
	if l.Integration != "it" || l.Shard != "s" || l.Outcome != "failed" || !l.Good.IsZero() || l.Ended.IsZero() ||
		len(l.Units) != 1 || l.Units[0].Key != "a" || l.Units[0].Hold != "it soaks" ||
		len(l.Flows) != 1 || l.Flows[0].Source != "x" || l.Flows[0].Commits[0].Passes[0].Why != "bad" ||
		len(l.Errors) != 1 {
		t.Errorf("got %+v", l)
	}
}
