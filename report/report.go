package report

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/app-sre/prcheck/plan"
)

// A Report is a plan together with the results of its tasks. Its JSON form is a
// contract: fields may be added, never renamed.
type Report struct {
	Version string       `json:"version"` // plan.Version
	Plan    string       `json:"plan"`    // the digest of the plan
	Verdict plan.Verdict `json:"verdict"`
	// NotChecked says why the check has no answer; "" if it has one.
	NotChecked   string        `json:"not_checked,omitempty"`
	Counts       Counts        `json:"counts"`
	Rungs        []RungTally   `json:"rungs"` // every rung, in climbing order
	Integrations []Integration `json:"integrations"`
	Results      []TaskResult  `json:"results"` // every task, in plan order
	Effects      AllEffects    `json:"effects"` // what the tasks would do
	Warnings     []string      `json:"warnings"`
	// Train tells which results of the merge request's own pipeline hold in its merge train;
	// nil outside of a merge train, or if they are not remembered.
	Train *plan.Train `json:"train,omitempty"`
	// Observed compares the schemas that integrations read with those that they
	// may read.
	Observed []plan.Observed `json:"observed,omitempty"`
	// Estimates compares the estimated durations with the real ones; nil if no
	// task can be compared.
	Estimates *Calibration `json:"estimates,omitempty"`
	// Forecast is how long the tasks were to take together, and how long they took; nil if nobody
	// knew.
	Forecast *plan.Forecast `json:"forecast,omitempty"`
	// Audit tells how a sample of what the plan leaves out ended; nil if nobody asked for it.
	Audit *plan.Audit `json:"audit,omitempty"`
}

// Counts are the numbers of a report: of integrations by decision, and of tasks by
// outcome.
type Counts struct {
	Integrations int `json:"integrations"`
	Run          int `json:"run"`
	Shards       int `json:"shards"`
	Skip         int `json:"skip"`
	Believed     int `json:"believed,omitempty"` // skips that rest on the word of definitions alone
	Tasks        int `json:"tasks"`
	Passed       int `json:"passed"`
	Failed       int `json:"failed"`
	TimedOut     int `json:"timed_out"`
	Canceled     int `json:"canceled"`
	NotRun       int `json:"not_run"`
	// tasks not run because their target was unavailable; NotRun includes them
	Unavailable int `json:"unavailable,omitempty"`
	// tasks that failed as on base: not passed, but they do not fail the check
	Baseline int `json:"baseline"`
	// tasks left out of the plan because they passed with the same inputs before
	Reused  int     `json:"reused,omitempty"`
	Seconds float64 `json:"seconds"` // the time of all tasks together
}

// A RungTally tells how many integrations one rung decided, how, and for which reasons.
type RungTally struct {
	Rung   plan.Rung `json:"rung"`
	Run    int       `json:"run"`
	Shards int       `json:"shards"`
	Skip   int       `json:"skip"`
	Left   int       `json:"left"` // integrations that were left for the rungs above
	// Codes counts the integrations that the rung decided by the code of the reason.
	// Decisions of an earlier prcheck, which have no code, are not counted.
	Codes map[plan.Code]int `json:"codes,omitempty"`
}

// An Integration is one integration with the decision about it.
type Integration struct {
	Name     string      `json:"name"`
	Decision plan.Action `json:"decision"`
	Rung     plan.Rung   `json:"rung"`
	Code     plan.Code   `json:"code,omitempty"` // of the reason
	Reason   string      `json:"reason"`
	Believed bool        `json:"believed,omitempty"` // the skip rests on the word of the definition alone
	Tasks    []string    `json:"tasks"`              // task ids
	// Causes are the changed files that made it run (at most 3).
	Causes     []Cause `json:"causes,omitempty"`
	MoreCauses int     `json:"more_causes,omitempty"` // number of further files
}

// A TaskResult is one task with its result.
type TaskResult struct {
	Integration string        `json:"integration"`
	Shard       string        `json:"shard,omitempty"`
	Static      plan.Fraction `json:"static,omitzero"` // its number among the static shards of the integration
	plan.Result               // with findings of its own: [Report.Locate] fills in their lines
}

// New returns the report of a plan and its results. The results may be nil or
// incomplete: a task without a result counts as failed.
func New(p *plan.Plan, r *plan.Results) *Report {
	rep := newOutline(p)
	if r == nil {
		r = &plan.Results{Plan: p.Digest}
	}
	if r.Plan != p.Digest {
		rep.addProblem("the results belong to plan %q and are not used", r.Plan)
		r = &plan.Results{}
	}
	results := rep.indexResults(p, r)
	for _, t := range p.Tasks {
		result, ok := results[t.ID]
		if !ok {
			result = plan.Result{Task: t.ID, Status: plan.NotRun, Reason: plan.MissingReason, ExitCode: -1}
		}
		result.Findings, result.Effects = slices.Clone(result.Findings), withOwnPlaces(result.Effects)
		rep.addTask(TaskResult{Integration: t.Integration, Shard: t.Shard, Static: t.Static, Result: result})
	}
	rep.Warnings = append(rep.Warnings, r.Warnings...)
	rep.setVerdict()
	rep.Effects = collectEffects(p, rep.Results)
	rep.Observed = r.Observed
	rep.Estimates, rep.Forecast = calibrate(p, rep.Results), r.Forecast
	rep.Audit = r.Audit
	rep.Counts.Seconds = math.Round(rep.Counts.Seconds*1000) / 1000
	return rep
}

// setVerdict sets the verdict that follows from the results, unless a problem has
// already failed the report.
func (rep *Report) setVerdict() {
	if rep.Verdict == plan.VerdictFailed {
		return
	}
	rs := plan.Results{Reused: rep.Counts.Reused}
	for _, t := range rep.Results {
		rs.Results = append(rs.Results, t.Result)
	}
	rep.Verdict, rep.NotChecked = rs.Verdict(), rs.WhyNotChecked()
}

// indexResults returns the results by task, and fails the report if a task has two
// results or is not in the plan.
func (rep *Report) indexResults(p *plan.Plan, r *plan.Results) map[string]plan.Result {
	planned := make(map[string]bool, len(p.Tasks))
	for _, t := range p.Tasks {
		planned[t.ID] = true
	}
	results := make(map[string]plan.Result, len(r.Results))
	for _, result := range r.Results {
		if _, twice := results[result.Task]; twice {
			rep.addProblem("task %q has two results", result.Task)
		}
		if !planned[result.Task] {
			rep.addProblem("there is a result for %q, which is no task of the plan", result.Task)
		}
		results[result.Task] = result
	}
	return results
}

// newOutline returns the report of a plan without its results.
func newOutline(p *plan.Plan) *Report {
	rep := &Report{
		Version: plan.Version, Plan: p.Digest, Verdict: plan.VerdictPassed, Rungs: []RungTally{},
		Integrations: []Integration{},
		Results:      []TaskResult{}, Warnings: append([]string{}, p.Warnings...),
	}
	if p.MergeRequest != nil {
		rep.Train = p.MergeRequest.Train
	}
	left := len(p.Integrations)
	rep.Counts.Integrations, rep.Counts.Tasks = left, len(p.Tasks)
	for _, name := range plan.Rungs() {
		rung := RungTally{Rung: name}
		for _, d := range p.Integrations {
			if d.Rung == name {
				countDecision(d.Decision, &rung.Run, &rung.Shards, &rung.Skip)
				rung.addCode(d.Code)
				left--
			}
		}
		rung.Left = left
		rep.Rungs = append(rep.Rungs, rung)
	}
	changes := newChangeIndex(p)
	for _, d := range p.Integrations {
		countDecision(d.Decision, &rep.Counts.Run, &rep.Counts.Shards, &rep.Counts.Skip)
		rep.Counts.Reused += d.Evidence.Reused
		reason := d.Reason
		if d.Believed {
			rep.Counts.Believed++
			reason += " (believed)"
		}
		i := Integration{Name: d.Name, Decision: d.Decision, Rung: d.Rung, Code: d.Code, Reason: reason, Believed: d.Believed,
			Tasks: append([]string{}, d.Tasks...)}
		if d.Decision != plan.Skip {
			i.Causes, i.MoreCauses = changes.causes(d)
		}
		rep.Integrations = append(rep.Integrations, i)
	}
	return rep
}

// addCode counts one decision by its code.
func (r *RungTally) addCode(code plan.Code) {
	if code == "" {
		return
	}
	if r.Codes == nil {
		r.Codes = map[plan.Code]int{}
	}
	r.Codes[code]++
}

// countDecision increments the number that belongs to a decision.
func countDecision(action plan.Action, run, shards, skip *int) {
	switch action {
	case plan.Run:
		*run++
	case plan.Shards:
		*shards++
	case plan.Skip:
		*skip++
	}
}

// addTask adds one task with its result.
func (rep *Report) addTask(t TaskResult) {
	rep.Results = append(rep.Results, t)
	rep.Counts.Seconds += t.Seconds
	switch outcome(t) {
	case plan.Passed:
		rep.Counts.Passed++
		return
	case brokenOnBase:
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

// addProblem adds a warning and fails the report.
func (rep *Report) addProblem(format string, args ...any) {
	rep.Warnings = append(rep.Warnings, fmt.Sprintf(format, args...))
	rep.Verdict = plan.VerdictFailed
}

// shownRungs returns the rungs to show: all of them, but the last one only if it
// decided something.
func (rep *Report) shownRungs() []RungTally {
	last := len(rep.Rungs) - 1
	if last >= 0 && rep.Rungs[last].Run+rep.Rungs[last].Shards+rep.Rungs[last].Skip == 0 {
		return rep.Rungs[:last]
	}
	return rep.Rungs
}

// JSON writes the report as indented JSON.
func JSON(w io.Writer, rep *Report) error { return encodeJSON(w, rep) }

func encodeJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// failedTasks returns the tasks that fail the check, without those whose target
// was unavailable. The tasks that ran come first, since they explain the others.
func (rep *Report) failedTasks() []TaskResult {
	var ran, rest []TaskResult
	for _, t := range rep.Results {
		switch {
		case !t.Blocks(), outcome(t) == unavailable:
		case t.Status == plan.Failed || t.Status == plan.TimedOut:
			ran = append(ran, t)
		default:
			rest = append(rest, t)
		}
	}
	return append(ran, rest...)
}

// brokenTasks returns the tasks that fail on base in the same way.
func (rep *Report) brokenTasks() []TaskResult {
	return slices.DeleteFunc(slices.Clone(rep.Results), func(t TaskResult) bool { return !t.OnBase() })
}

// integration returns the integration of a task. It is empty if the plan has none.
func (rep *Report) integration(t TaskResult) Integration {
	i, found := slices.BinarySearchFunc(rep.Integrations, t.Integration, func(i Integration, name string) int {
		return strings.Compare(i.Name, name)
	})
	if !found {
		return Integration{}
	}
	return rep.Integrations[i]
}

// runningIntegrations returns the integrations that are not skipped.
func (rep *Report) runningIntegrations() []Integration {
	return slices.DeleteFunc(slices.Clone(rep.Integrations), func(i Integration) bool { return i.Decision == plan.Skip })
}

// skippedAt returns the integrations that a rung skipped.
func (rep *Report) skippedAt(rung plan.Rung) []Integration {
	return slices.DeleteFunc(slices.Clone(rep.Integrations), func(i Integration) bool {
		return i.Decision != plan.Skip || i.Rung != rung
	})
}

// Formats returns the names of the formats that [Write] writes.
func Formats() []string { return []string{"text", "json", "markdown"} }

// Write writes a report in one of the formats. The style is for text.
func Write(w io.Writer, format string, r *Report, style Style) error {
	switch format {
	case "text":
		return Text(w, r, style)
	case "json":
		return JSON(w, r)
	case "markdown":
		return Markdown(w, r)
	}
	return fmt.Errorf("the format %q is none of %q", format, Formats())
}

// A Calibration compares the estimated durations of tasks with their real ones.
// It covers the tasks that had an estimate and ended by themselves: they were not
// stopped, and did not fail for an outside reason.
type Calibration struct {
	Tasks    int     `json:"tasks"`
	ErrorP50 float64 `json:"error_p50_seconds"` // half of the estimates were at most this far off
	ErrorP90 float64 `json:"error_p90_seconds"`

	errors []float64 // differences between estimate and duration in seconds, sorted
	ratios []float64 // durations divided by their estimates, sorted
}

// calibrate compares the estimates of a plan with the durations of its tasks. It
// returns nil if no task can be compared.
func calibrate(p *plan.Plan, results []TaskResult) *Calibration {
	estimates := make(map[string]float64, len(p.Tasks))
	for _, t := range p.Tasks {
		estimates[t.ID] = t.EstimateSeconds
	}
	var c Calibration
	for _, t := range results {
		estimate := estimates[t.Task]
		ended := t.OK() || t.Status == plan.Failed && (t.Class == plan.ClassTask || t.OnBase())
		if estimate <= 0 || t.Attempts == 0 || !ended {
			continue
		}
		took := t.Seconds
		if n := len(t.Spans); n > 0 {
			took = t.Spans[n-1].Seconds // an estimate is for one attempt, not for all
		}
		c.errors = append(c.errors, roundError(took-estimate))
		c.ratios = append(c.ratios, took/estimate)
	}
	slices.Sort(c.errors)
	slices.Sort(c.ratios)
	if c.Tasks = len(c.errors); c.Tasks == 0 {
		return nil
	}
	c.ErrorP50, c.ErrorP90 = percentile(c.errors, 50), percentile(c.errors, 90)
	return &c
}

// roundError returns the size of an error, rounded to the millisecond.
func roundError(s float64) float64 { return math.Round(math.Abs(s)*1000) / 1000 }

// percentile returns the smallest of some sorted values that is at least as large
// as the given percentage of them.
func percentile(sorted []float64, percent int) float64 {
	return sorted[(len(sorted)*percent+99)/100-1]
}

// writeCalibration writes how far the estimates were off, if there were any.
func (t *text) writeCalibration(c *Calibration) {
	switch {
	case c == nil:
	case c.Tasks == 1:
		t.printLine("  (the estimate of 1 task was off by %s)", formatSeconds(c.ErrorP50))
	default:
		t.printLine("  (half of the estimates of %d tasks were within %s, 9 of 10 within %s)", c.Tasks,
			formatSeconds(c.ErrorP50), formatSeconds(c.ErrorP90))
	}
}

// writeForecast writes how long the tasks took together beside how long they were to take.
func (t *text) writeForecast(f *plan.Forecast) {
	if f == nil || f.Took <= 0 {
		return
	}
	foreseen := formatSeconds(f.P50)
	if within := formatSeconds(f.P90); within != foreseen {
		foreseen += ", nine times of ten within " + within
	}
	t.printLine("  (together they took %s; foreseen: %s)", formatSeconds(f.Took), foreseen)
}
