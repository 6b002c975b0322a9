package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/app-sre/prcheck/ci/note"
	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/internal/mask"
	"github.com/app-sre/prcheck/natives"
	"github.com/app-sre/prcheck/natives/rounds"
	"github.com/app-sre/prcheck/natives/systems"
	"github.com/app-sre/prcheck/natives/writers"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/planner"
	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/report"
	"github.com/app-sre/prcheck/runner"
	"github.com/app-sre/prcheck/runner/launch"
	"github.com/app-sre/prcheck/settings"
	"github.com/app-sre/prcheck/state"
)

// An outcome is all that one run sends and says.
type outcome struct {
	sent     []string          // lines of the wire
	said     map[string]string // documents by name, without times
	read     map[string]string // values of the secrets that were read, by variable
	secrets  int               // how many of them are no credentials of systems of base
	findings map[string]int    // by code
	effects  int
	failed   bool // the check fails
}

// A prepared scene has what both runs share.
type prepared struct {
	*scene
	kind       kind
	base, head *bundle.Bundle
	settings   *settings.Settings
	plan       *plan.Plan
}

// prepare makes bundles and plan. No secret has a part in them.
func prepare(ctx context.Context, k kind, s *scene) (prepared, error) {
	p := prepared{scene: s, kind: k}
	raw, err := s.settings()
	if err != nil {
		return p, err
	}
	if p.settings, err = settings.Read("prcheck.yaml", raw); err != nil {
		return p, err
	}
	if p.base, err = s.base.bundle(); err != nil {
		return p, err
	}
	if p.head, err = s.head.bundle(); err != nil {
		return p, err
	}
	p.plan, err = planner.Make(ctx, planner.Input{Base: p.base, Head: p.head, BaseRef: "base.json", HeadRef: "head.json",
		Settings: p.settings, Natives: integration.DryRunners(natives.List(natives.Services{}))})
	return p, err
}

// run makes one run with a store of secrets, in a folder of its own.
func (p prepared) run(ctx context.Context, folder string, value func(name string) string) (outcome, error) {
	read := newReading(value)
	w := &wire{hosts: map[string]http.Handler{}, other: http.HandlerFunc(stranger),
		owned: func(host string) map[string]string { return p.credentials(host, value) }}
	for host, make := range p.hosts {
		w.hosts[host] = make(value)
		if text, isAway := p.away[host]; isAway {
			w.hosts[host] = awayOnce(w.hosts[host], text)
		}
	}
	if !current.CompareAndSwap(nil, w) {
		return outcome{}, errors.New("two runs at once")
	}
	defer current.Store(nil)
	store, err := state.Open(filepath.Join(folder, "state"))
	if err != nil {
		return outcome{}, err
	}
	list := impatient(natives.List(p.kind.services(p.scene, w)))
	out := outcome{said: map[string]string{}, findings: map[string]int{}}
	if p.isApplied {
		p.round(ctx, p.base, list, store, read, &out, rounds.Orders{Writes: true, Workers: 1, Wait: time.Minute})
		out = outcome{said: map[string]string{}, findings: map[string]int{}}
		w.forget()
	}
	for _, do := range p.after {
		do()
	}
	before := map[string]string{} // documents of the state
	if err := addFiles(folder, before); err != nil {
		return out, err
	}
	if p.isLoop {
		orders := rounds.Orders{Workers: 2}
		if p.writes {
			orders = rounds.Orders{Writes: true, Workers: 1, Wait: time.Minute}
		}
		p.round(ctx, p.head, list, store, read, &out, orders)
	} else if err := p.check(ctx, integration.DryRunners(list), store, read, folder, &out); err != nil {
		return out, err
	}
	out.sent, out.read = w.sent(), read.all()
	out.secrets = p.foreign(out.read)
	err = addFiles(folder, out.said)
	maps.DeleteFunc(out.said, func(name, text string) bool { was, ok := before[name]; return ok && was == text })
	return out, err
}

// credentials returns the names of the credentials of a host by their values.
func (p prepared) credentials(host string, value func(string) string) map[string]string {
	out := map[string]string{}
	for _, name := range p.owned[host] {
		out[strings.TrimSpace(value(name))] = name
	}
	return out
}

// foreign returns how many of the secrets that were read are no credentials of systems of base.
func (p prepared) foreign(read map[string]string) int {
	n := len(read)
	for name := range read {
		if slices.Contains(slices.Concat(slices.Collect(maps.Values(p.owned))...), name) || p.servers[name] != "" {
			n--
		}
	}
	return n
}

// stranger answers as a host that has nothing.
func stranger(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Docker-Distribution-Api-Version", "registry/2.0")
	http.Error(w, `{"errors":[{"code":"NOT_FOUND"}]}`, http.StatusNotFound)
}

// A reading is the environment of a run, which knows what was read.
type reading struct {
	value func(string) string
	mu    sync.Mutex
	known map[string]string
}

func newReading(value func(string) string) *reading {
	return &reading{value: value, known: map[string]string{}}
}

// getenv returns a variable. Only secrets are set.
func (r *reading) getenv(name string) string {
	if !strings.HasPrefix(name, prefix+"_") {
		return ""
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.known[name] = r.value(name)
	return r.known[name]
}

func (r *reading) all() map[string]string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return maps.Clone(r.known)
}

// check runs the plan as runner run does, and writes all reports.
func (p prepared) check(ctx context.Context, list []integration.DryRunner, store state.Store, read *reading,
	folder string, out *outcome) error {
	var notes bytes.Buffer
	results, err := runner.Run(ctx, runner.Input{
		Plan: p.plan, Base: p.base, Head: p.head, Settings: p.settings, Natives: list, State: store, Getenv: read.getenv,
		Folder: folder,
		Connect: func(s *settings.Settings, learn func(string)) func(string) launch.Systems {
			all := systems.New(systems.Sources{Settings: s, Getenv: read.getenv, Learn: learn})
			return func(name string) launch.Systems { return all.For(name) }
		},
	}, runner.Options{Jobs: 1, Logs: filepath.Join(folder, "logs"), Temp: folder, Notes: &notes,
		Backoff: func(time.Duration) time.Duration { return 0 }})
	if results == nil {
		return fmt.Errorf("the plan was not run: %w", err)
	}
	if err != nil {
		notes.WriteString(err.Error())
	}
	for _, r := range results.Results {
		for _, f := range r.Findings {
			out.findings[string(f.Code)]++
		}
		if r.Effects != nil {
			out.effects += len(r.Effects.Items)
		}
	}
	timeless(results)
	rep := report.New(p.plan, results)
	out.failed = results.Failed()
	out.said["exit"] = fmt.Sprint(out.failed)
	out.said["notes"] = notes.String()
	raw, err := json.MarshalIndent(results, "", " ")
	out.said["results"] = string(raw)
	write := func(name string, render func(*bytes.Buffer) error) {
		var text bytes.Buffer
		err = errors.Join(err, render(&text))
		out.said[name] = text.String()
	}
	in := report.Input{Plan: p.plan, Report: rep}
	write("text", func(b *bytes.Buffer) error { return report.Text(b, rep, report.Style{Verbose: true}) })
	write("markdown", func(b *bytes.Buffer) error { return report.Markdown(b, rep) })
	write("junit", func(b *bytes.Buffer) error { return report.JUnit(b, in) })
	write("quality", func(b *bytes.Buffer) error { return report.CodeQuality(b, in) })
	write("page", func(b *bytes.Buffer) error { return report.HTML(b, report.Page{Plan: p.plan, Report: rep}) })
	write("note", func(b *bytes.Buffer) error {
		text, err := note.Note{Tool: "prcheck", Plan: p.plan, Results: results}.Body("")
		b.WriteString(text)
		return err
	})
	return err
}

// timeless removes from results what a clock says.
func timeless(r *plan.Results) {
	r.Forecast = nil
	for i := range r.Results {
		t := &r.Results[i]
		t.Seconds, t.Waited, t.TargetWait, t.Spans = 0, 0, 0, nil
		t.Tail = sortedLines(t.Tail) // parts are read side by side
		if t.Baseline != nil {
			t.Baseline.Seconds, t.Baseline.Since = 0, nil
		}
	}
}

// round makes a round as reconciler run does, of the data of one side.
func (p prepared) round(ctx context.Context, of *bundle.Bundle, list []integration.Native, store state.Store,
	read *reading, out *outcome, opts rounds.Orders) {
	var log bytes.Buffer
	r := rounds.New(rounds.Input{
		Integration: p.native, Natives: list, State: store, Log: &log, Masker: mask.New(nil),
		Settings: func(context.Context) (*settings.Settings, error) { return p.settings, nil },
		Data:     data{of},
		Connect: func(s *settings.Settings, learn func(string)) rounds.Systems {
			return recorder{
				writers.Of(systems.New(systems.Sources{Settings: s, Getenv: read.getenv, Learn: learn}).For(p.native)),
				current.Load()}
		},
	}, opts)
	rep := r.Round(ctx)
	for _, f := range rep.Findings {
		out.findings[string(f.Code)]++
	}
	out.effects, out.failed = len(rep.Steps), rep.Outcome != rounds.Done
	raw, err := json.MarshalIndent(rep, "", " ")
	out.said["report"], out.said["log"] = string(raw)+fmt.Sprint(err), sortedLines(log.String())
}

// data are the data of a round.
type data struct{ of *bundle.Bundle }

// Open implements [rounds.Source].
func (d data) Open(_ context.Context, rules *settings.Settings) (*rounds.Data, error) {
	queries, err := launch.Equipment{Head: d.of, Settings: rules}.Queries()
	if err != nil {
		return nil, err
	}
	return &rounds.Data{Query: queries.Open, Where: func(_ context.Context, file, pointer string) string {
		return file + pointer
	}}, nil
}

// addFiles adds the logs and the documents of the state.
func addFiles(folder string, to map[string]string) error {
	return filepath.WalkDir(folder, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Name() == ".lock" {
			return err
		}
		raw, err := os.ReadFile(name) //nolint:gosec // a file of the run
		text := string(raw)
		if strings.HasSuffix(name, ".log") {
			text = sortedLines(text)
		}
		to[strings.TrimPrefix(name, folder+"/")] = text
		return err
	})
}

// sortedLines returns the lines of a text in order.
func sortedLines(text string) string {
	return strings.Join(slices.Sorted(strings.Lines(text)), "")
}

// clocks match what a clock says.
var clocks = regexp.MustCompile(
	`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)|"seconds":\s*[\d.]+|":\s*\d+\.\d+|\d+(\.\d+)?(ms|µs|s)\b`)
