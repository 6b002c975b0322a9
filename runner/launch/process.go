package launch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"github.com/app-sre/prcheck/internal/reads"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/runner/effects"
	"github.com/app-sre/prcheck/runner/place"
	"github.com/app-sre/prcheck/world"
	"github.com/app-sre/prcheck/wrapper"
)

// runProcess runs the command of a task in a place of its own. It fails as a shortage when the
// place cannot be made, or when it was not what it should be: then nobody knows what the task
// has checked.
func (r runner) runProcess(ctx context.Context, task plan.Task, log io.Writer, finder *effects.Finder) error {
	at, err := r.Place(ctx, task)
	if err != nil {
		return &wrapper.ShortageError{Err: fmt.Errorf("the files in which it starts cannot be made: %w", err)}
	}
	doubt, err := r.runAt(ctx, at, task, log, finder)
	if damage := at.Close(); damage != nil {
		return &wrapper.ShortageError{Err: fmt.Errorf("the files in which it ran: %w", damage), Ran: true}
	}
	if doubt != "" && ctx.Err() == nil {
		return &wrapper.ShortageError{Err: errors.New(doubt), Ran: true}
	}
	return err
}

// runAt runs the command of a task in a place. The doubt says that a file that it read was
// changed by somebody else meanwhile.
func (r runner) runAt(ctx context.Context, at place.Place, task plan.Task, log io.Writer,
	finder *effects.Finder) (doubt string, err error) {
	if err := r.prepare(ctx, at, task, log); err != nil {
		return "", err
	}
	wrote := ""
	process := r.process
	process.Command = func(t plan.Task) (wrapper.Command, error) { return r.command(t, at) }
	process.HandOut = func(t plan.Task, values []string) { r.handOut(t, append(values, at.From, at.Root)) }
	if finder != nil {
		process.Effects = func(file string) { readEffects(file, finder) }
	}
	if r.Read != nil && (r.IsRecorded == nil || r.IsRecorded(task)) && at.Root != "" {
		process.Reads = func(plan.Task) []string { return rootsOf(at) }
		process.Record = func(t plan.Task, rec reads.Record) {
			doubt, wrote = r.Read(t, at, rec), writtenInPlace(at, rec)
			if wrote != "" && r.WritesInPlace != nil {
				r.WritesInPlace(t)
			}
		}
	}
	err = process.Run(ctx, task, log)
	if wrote != "" && ctx.Err() == nil {
		return "", &wrapper.TransientError{Err: fmt.Errorf("it writes into %q in place; "+
			"it starts again with copies of its files", wrote)}
	}
	return doubt, err
}

// rootsOf returns the folders below which it is recorded what a task in a place reads.
func rootsOf(at place.Place) []string {
	out := slices.Compact([]string{at.Root, at.From})
	if at.Outside != "" {
		out = append(out, at.Outside)
	}
	return out
}

// writtenInPlace returns a file of the tree that a task wrote into although it could only replace
// it; "" if there is none.
func writtenInPlace(at place.Place, rec reads.Record) string {
	if !at.IsLinked() || at.World == nil {
		return ""
	}
	for _, a := range rec.Accesses {
		rel, err := filepath.Rel(at.Root, a.Name)
		if !a.Wrote || a.MadeFirst || err != nil {
			continue
		}
		if _, kind, ok := at.World.Tree.Lookup(filepath.ToSlash(rel)); ok && kind == world.Regular {
			return rel
		}
	}
	return ""
}

// prepare runs the command with which the settings prepare a view of the files of a side. A task
// whose files cannot be prepared is not checked.
func (r runner) prepare(ctx context.Context, at place.Place, task plan.Task, log io.Writer) error {
	argv := r.Settings.Prepare()
	if len(argv) == 0 || !at.IsView() {
		return nil
	}
	_, _ = fmt.Fprintf(log, "prcheck: preparing the files with %q\n", argv) // the log is for people
	process := wrapper.Process{Temp: r.Temp, Command: func(t plan.Task) (wrapper.Command, error) {
		c, err := r.command(t, at)
		c.Argv, c.Config = argv, ""
		if at.Outside != "" {
			c.Dir = at.Root
		}
		return c, err
	}}
	if err := process.Run(ctx, task, log); err != nil {
		return &wrapper.ShortageError{Err: fmt.Errorf("preparing its files with %q: %w", argv, err)}
	}
	return nil
}
