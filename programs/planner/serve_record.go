package planner

import (
	"context"
	"fmt"
	"time"

	"github.com/app-sre/prcheck/change"
	"github.com/app-sre/prcheck/qontract/server"
	"github.com/app-sre/prcheck/runner/recording"
	"github.com/app-sre/prcheck/state"
	"github.com/app-sre/prcheck/trace"
)

// servedCommand is the command in the traces of a server. No task of a plan has this command,
// so these traces prove nothing about tasks.
const servedCommand = "served"

// notes record what an integration reads from a server. Nil notes record nothing.
type notes struct {
	store    trace.Store
	of       trace.TaskKey
	recorder *trace.Recorder
}

func newNotes(ctx context.Context, folder, name string) (*notes, error) {
	remembered, err := change.WriteNotes(ctx, folder)
	if remembered == nil || err != nil {
		return nil, err
	}
	return &notes{trace.NewStore(remembered), trace.TaskKey{Integration: name, Command: servedCommand},
		trace.NewRecorder("", "")}, nil
}

func (n *notes) observe() func(server.Exchange) {
	if n == nil {
		return nil
	}
	return recording.Observer(n.recorder)
}

// keep remembers what was read, also when the server was stopped by a signal.
func (n *notes) keep(ctx context.Context, say func(string)) error {
	if n == nil {
		return nil
	}
	t := n.recorder.Trace(n.of, time.Now())
	if len(t.Schemas) == 0 {
		say(fmt.Sprintf("nothing was read, so nothing is noted of %q", n.of.Integration))
		return nil
	}
	say(fmt.Sprintf("noted of %q: schemas %d, datafiles %d, resources %d", n.of.Integration, len(t.Schemas),
		len(t.Datafiles), len(t.Resources)))
	ctx, cancel := state.WithGrace(ctx)
	defer cancel()
	return n.store.Save(ctx, t)
}
