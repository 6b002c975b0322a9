package pipelines

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/internal/sanitize"
	"github.com/app-sre/prcheck/natives/reconcile"
	"github.com/app-sre/prcheck/natives/saas"
	"github.com/app-sre/prcheck/natives/saas/pipelines/decide"
	"github.com/app-sre/prcheck/natives/saas/pipelines/loop"
	"github.com/app-sre/prcheck/plan"
)

// The codes of findings.
const (
	codeHeld     = "HELD"        // something differs and waits
	codeFailed   = "FAILED"      // a run failed, and what differs stays so
	codeBroken   = "BROKEN"      // the data or a source allow no decision
	codeFinished = "FINISHED"    // a target can be removed from the data
	codeNoSlack  = "SAAS_UNUSED" // messages that a saas file asks for are not sent
)

// actionStart is the action of the step that starts a run.
const actionStart = "start"

// report reports what became of the cells, and returns the errors.
func report(env integration.Environment, act *integration.Actors, m *saas.Model, at *scene, out []loop.Outcome,
	now time.Time) []error {
	var errs []error
	for _, f := range m.Files {
		if f.AsksForSlack && !f.Deprecated && slices.ContainsFunc(at.files, func(l loop.RunnableFile) bool {
			return l.Name == f.Name
		}) {
			env.Report(finding(codeNoSlack, plan.SeverityNote, plan.Place{File: f.Path},
				f.Name+" asks for messages on Slack, which are not sent"))
		}
	}
	var away saas.Outages
	places := map[string]plan.Place{}
	for _, o := range out {
		place := placeOf(at.cells[o.Cell], o)
		tell(env, act, o, place)
		for _, text := range slices.Compact(slices.Sorted(slices.Values(o.Errors))) {
			if places[o.Cell] = place; o.State != decide.Broken {
				away.Add(errors.New(text), o.Cell)
				continue
			}
			env.Report(finding(codeBroken, plan.SeverityError, place, o.Cell+": "+text))
			errs = append(errs, fmt.Errorf("%s: %s", o.Cell, text))
		}
		env.Stand(standing(o))
	}
	for _, a := range away.All() {
		env.Report(finding(codeBroken, plan.SeverityError, places[a.Targets[0]], a.Err().Error()))
		errs = append(errs, a.Err())
	}
	if len(errs) > 0 {
		return []error{fmt.Errorf("%d of %d cells have errors: %w", countErrors(out), len(out), errors.Join(errs...))}
	}
	return nil
}

func countErrors(out []loop.Outcome) int {
	n := 0
	for _, o := range out {
		if len(o.Errors) > 0 {
			n++
		}
	}
	return n
}

// placeOf returns where a cell stands in the data: at the first target that is a reason, or else
// at the saas file.
func placeOf(c saas.Cell, o loop.Outcome) plan.Place {
	for _, r := range o.Reasons {
		for _, t := range c.Targets {
			if t.Label() == r.Target {
				return t.Place
			}
		}
	}
	if c.File == nil {
		return plan.Place{}
	}
	return plan.Place{File: c.File.Path}
}

func finding(code plan.FindingCode, severity plan.Severity, at plan.Place, message string) integration.Remark {
	return integration.Remark{Finding: plan.Finding{Code: code, Severity: severity, Place: at, Message: message}}
}

// tell reports what became of one cell.
func tell(env integration.Environment, act *integration.Actors, o loop.Outcome, at plan.Place) {
	because := describe(o.Reasons)
	switch {
	case o.Create && act == nil:
		env.Report(integration.Remark{
			Finding: plan.Finding{Severity: plan.SeverityNote, Place: at, Message: "would start " + o.Fingerprint + ": " +
				because},
			Effect: &plan.Effect{Kind: plan.EffectCreate, Subject: o.Cell, Times: 1}, Action: actionStart, Shard: o.File,
		})
	case o.Create:
		deed := integration.Deed{Shard: o.File, Key: o.Cell, Action: actionStart, Status: string(reconcile.StatusDone),
			File: at.File, Pointer: at.Pointer}
		if !o.Started {
			deed.Status, deed.Error = string(reconcile.StatusFailed), strings.Join(o.Errors, "; ")
		}
		if act.Did != nil {
			act.Did(deed)
		}
		say(env, o.Cell+": run of "+o.Fingerprint+": "+deed.Status+": "+because)
	case o.State == decide.Held:
		env.Report(finding(codeHeld, plan.SeverityNote, at, o.Cell+": "+o.Hold+opens(o.Opens)))
	case o.State == decide.Failed:
		env.Report(finding(codeFailed, plan.SeverityWarning, at, o.Cell+": "+o.Hold+opens(o.Opens)))
	}
	for _, note := range o.Notes {
		say(env, o.Cell+": "+note)
	}
	for _, t := range o.Finished {
		env.Report(finding(codeFinished, plan.SeverityNote, plan.Place{File: t.File, Pointer: t.Pointer},
			t.Label+": it was deleted, and is safe to remove from the data"))
	}
}

// opens says when a wait ends.
func opens(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return "; it opens at " + at.UTC().Format("2006-01-02 15:04Z")
}

// maxReasons is how many reasons a message names.
const maxReasons = 5

// describe names reasons in a message.
func describe(reasons []decide.Reason) string {
	var words []string
	for _, r := range reasons[:min(len(reasons), maxReasons)] {
		text := string(r.Kind) + " of " + r.Target
		if r.Text != "" {
			text += " (" + r.Text + ")"
		}
		words = append(words, text)
	}
	if more := len(reasons) - maxReasons; more > 0 {
		words = append(words, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(words, ", ")
}

// say writes a line into the log.
func say(env integration.Environment, line string) { _, _ = fmt.Fprintln(env.Log, sanitize.Line(line)) }

// standing returns how a cell stands, for the table and the metrics.
func standing(o loop.Outcome) integration.Standing {
	out := integration.Standing{Key: o.Cell, State: string(o.State), Hold: o.Hold, Opens: o.Opens, Started: o.Started}
	out.Waits = slices.Contains([]decide.State{decide.Held, decide.Failed, decide.Broken, decide.Unknown}, o.State)
	if out.Hold == "" && len(o.Errors) > 0 {
		out.Hold = o.Errors[0]
	}
	for _, r := range o.Reasons {
		if !slices.Contains(out.Reasons, string(r.Kind)) {
			out.Reasons = append(out.Reasons, string(r.Kind))
		}
	}
	switch {
	case o.State == decide.Failed && o.Memory.Failed != nil:
		out.Since = o.Memory.Failed.Since
	case o.State == decide.Busy && o.Memory.Intent != nil:
		out.Since = o.Memory.Intent.Since
	}
	return out
}
