package simulation

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/app-sre/prcheck/natives/saas/pipelines/decide"
	"github.com/app-sre/prcheck/natives/saas/pipelines/executor"
	"github.com/app-sre/prcheck/natives/saas/pipelines/ledger"
	"github.com/app-sre/prcheck/natives/saas/pipelines/loop"
	"github.com/app-sre/prcheck/state"
)

// An ours is the loop of this project, with a fake executor and a state in memory.
type ours struct {
	*world
	state memory
	dirty map[*file]bool
	pace  *pacer
	of    map[string][]*run // by file
	beats int

	lies bool // a mutant: runs that failed are said to have succeeded
	deaf bool // a mutant: branches, builds and images are not looked at
}

func newOurs(w *world) *ours {
	s := &ours{world: w, state: memory{}, dirty: map[*file]bool{}, of: map[string][]*run{}}
	s.pace = &pacer{clock: &w.clock, every: every, do: s.iterate}
	for _, f := range w.files {
		doc := ledger.New(f.name)
		for _, c := range f.cells {
			for _, t := range c.targets {
				values := decide.Values{decide.Config: t.config()}
				if t.follows != decide.Config {
					values[t.follows] = t.now().follows
				}
				doc.Targets[t.uid] = decide.Applied{Key: t.uid, Values: values, Config: content(t)}
			}
		}
		if _, err := ledger.Write(context.Background(), s.state, ledger.New(f.name), doc, "begin"); err != nil {
			panic(err)
		}
	}
	return s
}

func content(t *target) []byte { return fmt.Appendf(nil, "%q", t.config()) }

func (s *ours) changed(f *file, _ ...decide.Kind) {
	s.dirty[f] = true
	s.pace.ask()
}

func (s *ours) ended(r *run) { s.changed(r.cell.file) }

// iterate is one iteration of the loop over the files of which something may differ.
func (s *ours) iterate() {
	var files []loop.RunnableFile
	for _, f := range s.files {
		if s.dirty[f] {
			files = append(files, s.file(f))
		}
	}
	dirty := s.dirty
	s.dirty = map[*file]bool{}
	s.beats++
	l := s.loop(fmt.Sprint("loop-", s.beats))
	ctx, kill := context.WithCancelCause(context.Background())
	defer kill(nil)
	if s.luck.Float64() < killed {
		s.state.writesLeft(1, kill) // it dies after the intents were written
	}
	outcomes, err := l.Run(ctx, files)
	s.state.writesLeft(-1, nil)
	if err != nil || ctx.Err() != nil {
		for f := range dirty {
			s.changed(f)
		}
		return
	}
	for _, o := range outcomes {
		s.heed(o)
	}
}

// loop returns an iteration of the loop.
func (s *ours) loop(writer string) *loop.Loop {
	return &loop.Loop{
		State: s.state, Writes: s.state, Now: func() time.Time { return s.now }, Writer: writer, Gates: s.gates,
		Policy: decide.Policy{Max: 3, Backoff: 10 * time.Minute, Name: ledger.RunName, NewID: func(cell, fp string) string {
			return state.Name(cell, fp, writer)
		}},
	}
}

// heed asks the loop again when an outcome says so.
func (s *ours) heed(o loop.Outcome) {
	f := s.files[slices.IndexFunc(s.files, func(f *file) bool { return f.name == o.File })]
	switch {
	case len(o.Errors) > 0, o.State == decide.Start && !o.Started, o.State == decide.Unknown:
		s.changed(f)
	case !o.Opens.IsZero():
		s.at(o.Opens, func() { s.changed(f) })
	}
}

// file returns a file as the loop gets it.
func (s *ours) file(f *file) loop.RunnableFile {
	out := loop.RunnableFile{Name: f.name, Named: map[string]bool{}, Environments: map[string]bool{}}
	for _, c := range f.cells {
		lc := loop.RunnableCell{Environment: c.env, Executor: s, Order: executor.Order{File: f.name, Environment: c.env,
			Place: executor.Place{Namespace: f.name}}}
		lc.Key = c.key()
		for _, t := range c.targets {
			out.Named[t.uid] = true
			lc.Targets = append(lc.Targets, decide.WatchedTarget{UID: t.uid, Key: t.uid, Label: t.uid, Signals: s.signals(t)})
		}
		out.Environments[c.env] = true
		out.Cells = append(out.Cells, lc)
	}
	return out
}

// signals returns what the sources say about a target.
func (s *ours) signals(t *target) []decide.Signal {
	r := t.cell.file.repo
	out := []decide.Signal{decide.ConfigSource{Hash: t.config(), Content: content(t), Ref: t.ref,
		Auto: t.cell.env == "production"}.Signal()}
	switch {
	case s.deaf:
	case t.follows == decide.Commit:
		out = append(out, decide.CommitSource{URL: r.url, Branch: "main", Head: r.head()}.Signal())
	case t.follows == decide.Upstream:
		builds := slices.Clone(r.builds[max(0, len(r.builds)-100):])
		slices.Reverse(builds)
		out = append(out, decide.UpstreamSource{URL: r.url, Ref: "main", Server: "https://ci.test", Job: "build",
			Builds: builds}.Signal())
	case t.follows == decide.Image:
		out = append(out, decide.ImageSource{URL: r.url, Branch: "main", Head: r.head(), Images: []string{"quay.test/o/i"},
			Exists: func(string) (bool, string) { return r.images[r.head()], "" }}.Signal())
	}
	return out
}

// gates holds cells of services that miss their objectives.
func (s *ours) gates(_ context.Context, c loop.RunnableCell) []decide.Gate {
	f := s.files[slices.IndexFunc(s.files, func(f *file) bool { return f.name == c.Order.File })]
	if f.slo {
		return []decide.Gate{{Kind: decide.SLOGate, Closed: "the service misses its objectives"}}
	}
	return nil
}

// Runs implements [executor.Executor].
func (s *ours) Runs(_ context.Context, at executor.Place) ([]executor.CellRun, error) {
	var out []executor.CellRun
	for _, r := range s.of[at.Namespace] {
		phase := decide.Live
		if !r.isLive {
			phase = map[bool]decide.RunPhase{true: decide.Succeeded, false: decide.Errored}[r.isGood || s.lies]
		}
		out = append(out, executor.CellRun{Run: decide.Run{Name: r.name, Intent: r.id, Phase: phase, Created: r.started},
			File: r.cell.file.name, Environment: r.cell.env})
	}
	return out, nil
}

// Missing implements [executor.Executor].
func (s *ours) Missing(context.Context, executor.Order) (string, error) { return "", nil }

// Start implements [executor.Executor].
func (s *ours) Start(_ context.Context, o executor.Order) error {
	runs := s.of[o.File]
	for _, r := range runs {
		if r.name == o.Intent.Run {
			if r.id != o.Intent.ID {
				return executor.ErrTaken
			}
			return nil
		}
	}
	f := s.files[slices.IndexFunc(s.files, func(f *file) bool { return f.name == o.File })]
	c := f.cells[slices.IndexFunc(f.cells, func(c *cell) bool { return c.env == o.Environment })]
	r, err := s.start(c, o.Intent.Run, o.Intent.ID)
	if err != nil {
		return err
	}
	// Old runs are removed from clusters.
	s.of[o.File] = append(runs[max(0, len(runs)-20):], r)
	return nil
}

// believes asks the loop in a dry run.
func (s *ours) believes(t *target) (bool, string) {
	l := s.loop("dry-run")
	l.Writes = nil
	outcomes, err := l.Run(context.Background(), []loop.RunnableFile{s.file(t.cell.file)})
	if err != nil {
		panic(err)
	}
	for _, o := range outcomes {
		switch {
		case o.Cell != t.cell.key():
		case o.State == decide.Same:
			return true, ""
		case o.State == decide.Start: // and nobody starts it, since nothing happens any more
			return false, ""
		default:
			return false, o.Hold
		}
	}
	return false, ""
}
