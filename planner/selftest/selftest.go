package selftest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/app-sre/prcheck/affected"
	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/planner"
	"github.com/app-sre/prcheck/planner/peer"
	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/qontract/live"
	"github.com/app-sre/prcheck/report"
)

// Replacements are parts of the planner that stand in for the real ones. The zero value has the real planner.
// Tests put a broken planner here, which a law must find.
type Replacements struct {
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
func Check(ctx context.Context, in planner.Input, o Replacements) ([]Result, error) {
	if o.Make == nil {
		o.Make = planner.Make
	}
	if o.Partition == nil {
		o.Partition = plan.Partition
	}
	t := &tester{Replacements: o, in: in}
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
	Replacements
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

// maxShrinks is how many smaller changes are tried to find a small counterexample.
const maxShrinks = 80

// shrink looks for a smaller change that breaks the law as well: it takes away groups of
// changed files, first half of them, at last single ones, as long as the law stays broken.
func (t *tester) shrink(ctx context.Context, l Law, found *Counterexample) *Counterexample {
	kept := changedFiles(t.in.Base, t.in.Head)
	best := *found
	size := (len(kept) + 1) / 2
	for tries := 0; tries < maxShrinks && size > 0 && len(kept) > 0 && ctx.Err() == nil; {
		smaller := false
		for at := 0; at < len(kept) && tries < maxShrinks; {
			end := min(at+size, len(kept))
			rest := append(append([]string{}, kept[:at]...), kept[end:]...)
			tries++
			if c := t.breaks(ctx, l, rest); c != nil {
				kept, best, smaller = rest, *c, true
				continue
			}
			at = end
		}
		if size == 1 && !smaller {
			break
		}
		size = min(max(size/2, 1), max(len(kept), 1))
	}
	best.Changes = append([]string{}, kept...)
	return &best
}

// breaks returns the counterexample that a change of these files alone is, or nil.
func (t *tester) breaks(ctx context.Context, l Law, files []string) *Counterexample {
	head, err := mix(t.in.Base, t.in.Head, files)
	if err != nil {
		return nil
	}
	small := *t
	small.in.Head = head
	f, err := l.check(ctx, &small, small.in.Base, head)
	if err != nil {
		return nil
	}
	return f.broken
}

// checkServer asks the server of the options what the skips of the real plan rest on. It is no
// law of the planner alone, and no variant is made: the server has these two bundles only.
func (t *tester) checkServer(ctx context.Context) (Result, error) {
	r := Result{
		Law: "server", Says: "a running qontract-server gives the answers on which skips rest",
		Conditions: "the server has loaded both bundle files, and is not prcheck itself", Status: Held,
	}
	p, err := t.Make(ctx, t.in)
	if err != nil {
		return r, err
	}
	proven, err := planner.Verify(ctx, t.in, p)
	if err != nil {
		return r, fmt.Errorf("law %s: %w", r.Law, err)
	}
	r.Server, err = peer.Ask(ctx, peer.Input{Server: t.Server, Base: t.in.Base, Head: t.in.Head,
		Questions: proven.Questions, Progress: t.Progress})
	if err != nil {
		return r, err
	}
	r.Checked, r.Why = r.Server.Asked, r.Server.Numbers()
	switch a := r.Server; {
	case a.Different > 0:
		d := a.Differences[0]
		r.Status = Broken
		r.Counterexample = &Counterexample{Integration: d.Integrations[0], What: d.Sentence(),
			Changes: changedFiles(t.in.Base, t.in.Head)}
	case a.NotAsked > 0:
		r.Status = NotAsked
		r.Why += ": " + a.Silences[0].Why
	case a.Asked == 0:
		r.Status, r.Why = NotApplicable, "no skip rests on the answer to a query"
	}
	return r, nil
}

// checkSources opens both bundles anew: apart, put together from their files, and so that
// head shares nothing with base.
func checkSources(ctx context.Context, t *tester, base, head *bundle.Bundle) (finding, error) {
	want, err := t.decisions(ctx, base, head)
	if err != nil {
		return finding{}, err
	}
	b, err := variantOf(base).bundle(nil)
	if err != nil {
		return finding{}, err
	}
	var f finding
	for _, like := range []*bundle.Bundle{nil, b} {
		h, err := variantOf(head).bundle(like)
		if err != nil {
			return f, err
		}
		how := "opened again from their files"
		if like == nil {
			how += ", each alone"
		}
		g, err := t.compare(ctx, want, b, h, how, nil)
		g.checked += f.checked
		if f = g; err != nil || f.broken != nil {
			return f, err
		}
	}
	for _, s := range t.Sources {
		g, err := t.compareSource(ctx, s, want, base, head)
		if ctx.Err() != nil || g.broken != nil {
			return g, ctx.Err()
		}
		f.checked += g.checked
		if err != nil {
			f.why = fmt.Sprintf("not compared %s: %v", s.Name, err)
		}
	}
	return f, nil
}

// compareSource compares the decisions with those about the bundles of another source. A
// server does not tell all of the types, and answers with errors are judged differently
// there, so what these concern is left out.
func (t *tester) compareSource(ctx context.Context, s Source, want map[string]plan.Decision,
	base, head *bundle.Bundle) (f finding, err error) {
	if d := bundle.Compare(base, head); len(d.Schemas)+len(d.GraphQL) > 0 {
		return f, errors.New("head changes JSON schemas or GraphQL types")
	}
	if base.SHA256() == head.SHA256() {
		return f, nil
	}
	opened, err := s.Open(ctx, base, head)
	if err != nil {
		return f, err
	}
	in := t.plain(opened.Base, opened.Head)
	in.BaseServer, in.HeadServer = opened.BaseServer, opened.HeadServer
	p, err := t.Make(ctx, in)
	if err = errors.Join(err, opened.Close()); err != nil {
		return f, err
	}
	got := byName(p)
	for _, name := range sortedNames(want) {
		a, b := want[name], got[name]
		if len(a.Evidence.Doubts)+len(b.Evidence.Doubts) > 0 {
			continue
		}
		f.checked++
		if !isSameWork(a, b) {
			f.broken = &Counterexample{Integration: name, What: fmt.Sprintf("as it is: %s; %s: %s", describe(a), s.Name,
				describe(b))}
			return f, nil
		}
	}
	return f, nil
}

// maxNamed is how many changed files of a counterexample the text names.
const maxNamed = 5

// WriteText writes one line for each law, the lines of its counterexample, and how many laws
// hold.
func WriteText(w io.Writer, results []Result) error {
	count := map[Status]int{}
	var b strings.Builder
	for _, r := range results {
		count[r.Status]++
		fmt.Fprintf(&b, "%-14s  %-7s  %s", r.Status, r.Law, r.Says)
		if r.Why != "" {
			fmt.Fprintf(&b, " (%s)", report.Printable(r.Why))
		}
		b.WriteByte('\n')
		if c := r.Counterexample; c != nil {
			fmt.Fprintf(&b, "  %s: %s\n", report.Printable(nameOf(*c)), report.Printable(c.What))
			fmt.Fprintf(&b, "  changed files: %s\n", named(c.Changes))
			fmt.Fprintf(&b, "  holds when: %s\n", r.Conditions)
		}
	}
	fmt.Fprintf(&b, "%d laws: %d ok, %d broken, %d not applicable", len(results), count[Held], count[Broken],
		count[NotApplicable])
	if n := count[NotAsked]; n > 0 {
		fmt.Fprintf(&b, ", %d not asked", n)
	}
	b.WriteByte('\n')
	_, err := io.WriteString(w, b.String())
	return err
}

func nameOf(c Counterexample) string {
	if c.Integration == "" {
		return "the plan"
	}
	return c.Integration
}

// named lists changed files on one line.
func named(files []string) string {
	if len(files) == 0 {
		return "none are needed"
	}
	var out []string
	for _, f := range files[:min(len(files), maxNamed)] {
		out = append(out, report.Printable(f))
	}
	line := strings.Join(out, ", ")
	if more := len(files) - maxNamed; more > 0 {
		line += fmt.Sprintf(" and %d more", more)
	}
	return line
}
