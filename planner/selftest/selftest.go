package selftest

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/app-sre/prcheck/affected"
	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/planner"
	"github.com/app-sre/prcheck/planner/peer"
	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/qontract/live"
)

// Options replace parts of the planner. The zero value has the real planner. Tests put a
// broken planner here, which a law must find.
type Options struct {
	Make      func(ctx context.Context, in planner.Input) (*plan.Plan, error)
	Partition func(tasks []plan.Task, n int) []plan.Part
	// Sources are other ways to open two bundles, for the law "sources".
	Sources []Source
	// Server is a running qontract-server that has both bundles, and is asked what skips rest on;
	// nil: none is asked. Progress is called with the number of its questions so far; it may be
	// nil.
	Server   *live.Server
	Progress func(asked int)
}

// A Source opens two bundles in another way, such as through a server.
type Source struct {
	Name string
	Open func(ctx context.Context, base, head *bundle.Bundle) (Opened, error)
}

// Opened are two bundles that a [Source] opened.
type Opened struct {
	Base, Head             *bundle.Bundle
	BaseServer, HeadServer affected.Answerer
	Close                  func() error
}

// A Status is the result of a law.
type Status string

// The results of a law.
const (
	Held          Status = "ok"
	Broken        Status = "broken"
	NotApplicable Status = "not applicable"
	NotAsked      Status = "not asked" // a server did not answer
)

// A Result is the result of one law.
type Result struct {
	Law            string          `json:"law"`
	Says           string          `json:"says"`
	Conditions     string          `json:"conditions"`
	Status         Status          `json:"status"`
	Checked        int             `json:"checked"`       // how many comparisons were made
	Why            string          `json:"why,omitempty"` // it is not applicable, or what could not be compared
	Counterexample *Counterexample `json:"counterexample,omitempty"`
	Server         *peer.Answers   `json:"server,omitempty"` // how a server answered
}

// A Counterexample shows that a law is broken.
type Counterexample struct {
	Integration string   `json:"integration,omitempty"`
	What        string   `json:"what"`
	Changes     []string `json:"changes"` // the changed files that are needed, sorted
}

// Check checks all laws on the two bundles of an input, and asks the server. An error means that no plan can be
// made of the two bundles themselves.
func Check(ctx context.Context, in planner.Input, o Options) ([]Result, error) {
	if o.Make == nil {
		o.Make = planner.Make
	}
	if o.Partition == nil {
		o.Partition = plan.Partition
	}
	t := &tester{Options: o, in: in}
	if _, err := t.Make(ctx, in); err != nil {
		return nil, err
	}
	var out []Result
	for _, l := range Laws() {
		r, err := t.checkLaw(ctx, l)
		if err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	if t.Server == nil {
		return out, nil
	}
	r, err := t.checkServer(ctx)
	if err != nil {
		return nil, err
	}
	return append(out, r), nil
}

// A tester checks laws on one input.
type tester struct {
	Options
	in planner.Input
}

// A finding is what the check of a law found on one pair of bundles.
type finding struct {
	checked int
	why     string // what could not be compared; without a comparison the law is not applicable
	broken  *Counterexample
}

func (t *tester) checkLaw(ctx context.Context, l Law) (Result, error) {
	r := Result{Law: l.Name, Says: l.Says, Conditions: l.Conditions, Status: Held}
	isLive := t.in.BaseServer != nil || t.in.HeadServer != nil
	if isLive && !l.live {
		r.Status, r.Why = NotApplicable, "the bundles are those of a live server, which does not list all files"
		return r, nil
	}
	f, err := l.check(ctx, t, t.in.Base, t.in.Head)
	if ctx.Err() != nil {
		return r, ctx.Err()
	}
	var unplanned *unplannedError
	if errors.As(err, &unplanned) {
		r.Status, r.Why = NotApplicable, err.Error()
		return r, nil
	}
	if err != nil {
		return r, fmt.Errorf("law %s: %w", l.Name, err)
	}
	r.Checked = f.checked
	switch {
	case f.broken != nil:
		r.Status, r.Counterexample = Broken, f.broken
		if isLive {
			f.broken.Changes = changedFiles(t.in.Base, t.in.Head)
			break
		}
		r.Counterexample = t.shrink(ctx, l, f.broken)
	case f.checked == 0:
		r.Status, r.Why = NotApplicable, cmp.Or(f.why, "there is nothing to compare")
	default:
		r.Why = f.why
	}
	return r, ctx.Err()
}

// An unplannedError tells that no plan can be made of a variant of the bundles.
type unplannedError struct{ err error }

func (e *unplannedError) Error() string {
	return "no plan can be made of the variant: " + e.err.Error()
}
func (e *unplannedError) Unwrap() error { return e.err }

// plain returns the input of a variant: nothing is remembered, and no rule is edited.
func (t *tester) plain(base, head *bundle.Bundle) planner.Input {
	return planner.Input{
		Base: base, Head: head, BaseRef: t.in.BaseRef, HeadRef: t.in.HeadRef,
		Settings: t.in.Settings, ReadQuery: t.in.ReadQuery, Natives: t.in.Natives,
	}
}

// decisions plans a variant and returns its decisions by name.
func (t *tester) decisions(ctx context.Context, base, head *bundle.Bundle) (map[string]plan.Decision, error) {
	p, err := t.Make(ctx, t.plain(base, head))
	if err != nil {
		return nil, &unplannedError{err}
	}
	return byName(p), nil
}

func byName(p *plan.Plan) map[string]plan.Decision {
	out := make(map[string]plan.Decision, len(p.Integrations))
	for _, d := range p.Integrations {
		out[d.Name] = d
	}
	return out
}

// unedited returns the names of the integrations that both sides define in the same way,
// sorted.
func (t *tester) unedited(base, head *bundle.Bundle) ([]string, error) {
	before, err := integration.List(base, t.in.Settings)
	if err != nil {
		return nil, err
	}
	after, err := integration.List(head, t.in.Settings)
	if err != nil {
		return nil, err
	}
	onHead := map[string]integration.Definition{}
	for _, d := range after {
		onHead[d.Name] = d
	}
	var out []string
	for _, d := range before {
		if h, ok := onHead[d.Name]; ok && len(d.DifferingParts(h)) == 0 {
			out = append(out, d.Name)
		}
	}
	return out, nil
}

const noUnedited = "head changes the definitions of all integrations"

// describe says what was decided, for a counterexample.
func describe(d plan.Decision) string {
	if d.Name == "" {
		return "nothing"
	}
	return fmt.Sprintf("%s at %s (%s)", d.Decision, d.Rung, d.Reason)
}

// selects reports whether an integration runs, in full or in part.
func selects(d plan.Decision) bool { return d.Decision == plan.Run || d.Decision == plan.Shards }
