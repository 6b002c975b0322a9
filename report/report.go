package report

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/app-sre/prcheck/plan"
)

// A Verdict is the answer of the whole check.
type Verdict = plan.Verdict

// The verdicts.
const (
	Passed     = plan.VerdictPassed
	Failed     = plan.VerdictFailed
	NotChecked = plan.VerdictNotChecked
)

// A Report is a plan together with what its tasks said. Its JSON form is a
// contract: fields may be added, never renamed.
type Report struct {
	Version string  `json:"version"` // plan.Version
	Plan    string  `json:"plan"`    // digest of the plan
	Verdict Verdict `json:"verdict"`
	// NotChecked says why the check has no answer; "" if it has one.
	NotChecked   string        `json:"not_checked,omitempty"`
	Counts       Counts        `json:"counts"`
	Rungs        []Rung        `json:"rungs"` // every rung, in climbing order
	Integrations []Integration `json:"integrations"`
	Results      []Task        `json:"results"` // every task, in plan order
	Warnings     []string      `json:"warnings"`
	// Observed is what the integrations read against what they may read.
	Observed []plan.Observed `json:"observed,omitempty"`
	// Estimates tells how good those of the plan were; nil when nothing does.
	Estimates *Calibration `json:"estimates,omitempty"`
}

// Counts are the numbers of a report.
type Counts struct {
	Integrations int     `json:"integrations"`
	Run          int     `json:"run"`
	Shards       int     `json:"shards"`
	Skip         int     `json:"skip"`
	Tasks        int     `json:"tasks"`
	Passed       int     `json:"passed"`
	Failed       int     `json:"failed"`
	TimedOut     int     `json:"timed_out"`
	Canceled     int     `json:"canceled"`
	NotRun       int     `json:"not_run"`
	Unavailable  int     `json:"unavailable,omitempty"` // of those not run: their target failed other tasks
	Baseline     int     `json:"baseline"`              // failed as on base: neither passed, nor a failure of the check
	Reused       int     `json:"reused,omitempty"`      // not in the plan, since they passed with the same inputs before
	Seconds      float64 `json:"seconds"`               // of all tasks together
}

// A Rung tells how many integrations one rung decided, how, and for which reasons.
type Rung struct {
	Rung   plan.Rung `json:"rung"`
	Run    int       `json:"run"`
	Shards int       `json:"shards"`
	Skip   int       `json:"skip"`
	Left   int       `json:"left"` // integrations that were left for the rungs above
	// Codes counts the integrations that the rung decided by the code of the reason.
	// Decisions of an earlier prcheck, which have no code, are not counted.
	Codes map[plan.Code]int `json:"codes,omitempty"`
}

// An Integration is one decision.
type Integration struct {
	Name     string      `json:"name"`
	Decision plan.Action `json:"decision"`
	Rung     plan.Rung   `json:"rung"`
	Code     plan.Code   `json:"code,omitempty"` // of the reason
	Reason   string      `json:"reason"`
	Tasks    []string    `json:"tasks"` // task ids
}

// A Task is what one task said.
type Task struct {
	Integration string        `json:"integration"`
	Shard       string        `json:"shard,omitempty"`
	Static      plan.Fraction `json:"static,omitzero"` // which of the static shards of it
	plan.Result
}

// New puts a plan and its results together. Results may be nil or incomplete,
// see the rules of the package comment.
func New(p *plan.Plan, r *plan.Results) *Report {
	rep := outline(p)
	if r == nil {
		r = &plan.Results{Plan: p.Digest}
	}
	if r.Plan != p.Digest {
		rep.problem("the results belong to plan %q and are not used", r.Plan)
		r = &plan.Results{}
	}
	known := make(map[string]bool, len(p.Tasks))
	for _, t := range p.Tasks {
		known[t.ID] = true
	}
	results := make(map[string]plan.Result, len(r.Results))
	for _, result := range r.Results {
		if _, twice := results[result.Task]; twice {
			rep.problem("task %q has two results", result.Task)
		}
		if !known[result.Task] {
			rep.problem("there is a result for %q, which is no task of the plan", result.Task)
		}
		results[result.Task] = result
	}
	for _, t := range p.Tasks {
		result, ok := results[t.ID]
		if !ok {
			result = plan.Result{Task: t.ID, Status: plan.NotRun, Reason: plan.MissingReason, ExitCode: -1}
		}
		rep.add(Task{Integration: t.Integration, Shard: t.Shard, Static: t.Static, Result: result})
	}
	rep.Warnings = append(rep.Warnings, r.Warnings...)
	rep.judge()
	rep.Observed = r.Observed
	rep.Estimates = calibrate(p, rep.Results)
	rep.Counts.Seconds = math.Round(rep.Counts.Seconds*1000) / 1000
	return rep
}

// judge sets the verdict of the results, unless a problem of the report has failed it.
func (rep *Report) judge() {
	rs := plan.Results{}
	for _, t := range rep.Results {
		rs.Results = append(rs.Results, t.Result)
	}
	if rep.Verdict == Failed {
		return
	}
	rep.Verdict, rep.NotChecked = rs.Verdict(), rs.WhyNotChecked()
}

// outline returns the report of a plan without results.
func outline(p *plan.Plan) *Report {
	rep := &Report{
		Version: plan.Version, Plan: p.Digest, Verdict: Passed, Rungs: []Rung{}, Integrations: []Integration{},
		Results: []Task{}, Warnings: append([]string{}, p.Warnings...),
	}
	left := len(p.Integrations)
	rep.Counts.Integrations, rep.Counts.Tasks = left, len(p.Tasks)
	for _, name := range plan.Rungs() {
		rung := Rung{Rung: name}
		for _, d := range p.Integrations {
			if d.Rung == name {
				count(d.Decision, &rung.Run, &rung.Shards, &rung.Skip)
				rung.addCode(d.Code)
				left--
			}
		}
		rung.Left = left
		rep.Rungs = append(rep.Rungs, rung)
	}
	for _, d := range p.Integrations {
		count(d.Decision, &rep.Counts.Run, &rep.Counts.Shards, &rep.Counts.Skip)
		rep.Counts.Reused += d.Evidence.Reused
		rep.Integrations = append(rep.Integrations,
			Integration{Name: d.Name, Decision: d.Decision, Rung: d.Rung, Code: d.Code, Reason: d.Reason, Tasks: append([]string{}, d.Tasks...)})
	}
	return rep
}

// addCode counts one decision by its code.
func (r *Rung) addCode(code plan.Code) {
	if code == "" {
		return
	}
	if r.Codes == nil {
		r.Codes = map[plan.Code]int{}
	}
	r.Codes[code]++
}

// count adds one decision to its number.
func count(action plan.Action, run, shards, skip *int) {
	switch action {
	case plan.Run:
		*run++
	case plan.Shards:
		*shards++
	case plan.Skip:
		*skip++
	}
}

// add takes one task with its result.
func (rep *Report) add(t Task) {
	rep.Results = append(rep.Results, t)
	rep.Counts.Seconds += t.Seconds
	switch look(t) {
	case plan.Passed:
		rep.Counts.Passed++
		return
	case onBase:
		rep.Counts.Baseline++
		return
	case plan.TimedOut:
		rep.Counts.TimedOut++
	case plan.Canceled:
		rep.Counts.Canceled++
	case unavailable:
		rep.Counts.NotRun++
		rep.Counts.Unavailable++
	case plan.NotRun:
		rep.Counts.NotRun++
	default:
		rep.Counts.Failed++
	}
}

// problem adds a warning that fails the report.
func (rep *Report) problem(format string, args ...any) {
	rep.Warnings = append(rep.Warnings, fmt.Sprintf(format, args...))
	rep.Verdict = Failed
}

// funnel returns the rungs to show: all, but for the last when nothing was
// decided there.
func (rep *Report) funnel() []Rung {
	last := len(rep.Rungs) - 1
	if last >= 0 && rep.Rungs[last].Run+rep.Rungs[last].Shards+rep.Rungs[last].Skip == 0 {
		return rep.Rungs[:last]
	}
	return rep.Rungs
}

// failures returns the tasks that fail the check and whose target was there:
// first those that ran, since they explain the others.
func (rep *Report) failures() []Task {
	var ran, rest []Task
	for _, t := range rep.Results {
		switch {
		case !t.Blocks(), look(t) == unavailable:
		case t.Status == plan.Failed || t.Status == plan.TimedOut:
			ran = append(ran, t)
		default:
			rest = append(rest, t)
		}
	}
	return append(ran, rest...)
}

// running returns the integrations that are not skipped.
func (rep *Report) running() []Integration {
	return slices.DeleteFunc(slices.Clone(rep.Integrations), func(i Integration) bool { return i.Decision == plan.Skip })
}

// skipped returns the integrations that this rung skipped.
func (rep *Report) skipped(rung plan.Rung) []Integration {
	return slices.DeleteFunc(slices.Clone(rep.Integrations), func(i Integration) bool {
		return i.Decision != plan.Skip || i.Rung != rung
	})
}

// JSON writes the report as indented JSON.
func JSON(w io.Writer, rep *Report) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(rep)
}
