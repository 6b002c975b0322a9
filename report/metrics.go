package report

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/app-sre/prcheck/plan"
)

// MaxSeries is for how many tasks [Metrics] has series of their own.
const MaxSeries = 1000

// Metrics writes the numbers of a report as OpenMetrics text, which Prometheus's
// older text format and the metrics report of GitLab can read as well. Tasks of
// their own are the [MaxSeries] that took longest; the sums are over all.
func Metrics(w io.Writer, f Findings) error {
	var m metrics
	rep := f.Report
	m.family("prcheck_passed", "gauge", "", "1 when the check passed, 0 when it failed.")
	m.sample(boolean(rep.Verdict == Passed))
	m.integrations(rep)
	m.tasks(rep)
	m.again(rep)
	m.outages(rep)
	m.each(rep)
	m.calibration(cmp.Or(rep.Estimates, &Calibration{}))
	m.out.WriteString("# EOF\n")
	_, err := io.WriteString(w, m.out.String())
	return err
}

// integrations writes what was decided.
func (m *metrics) integrations(rep *Report) {
	m.family("prcheck_integrations", "gauge", "", "Integrations, by the rung that decided and what it decided.")
	reused := 0
	for _, r := range rep.Rungs {
		for _, d := range []struct {
			decision plan.Action
			n        int
		}{{plan.Run, r.Run}, {plan.Shards, r.Shards}, {plan.Skip, r.Skip}} {
			m.sample(float64(d.n), "decision", string(d.decision), "rung", string(r.Rung))
		}
		if r.Rung == plan.RungResult {
			reused = r.Skip
		}
	}
	m.family("prcheck_results_reused", "gauge", "", "Integrations that were not run, since an earlier result still holds.")
	m.sample(float64(reused))
	m.family("prcheck_tasks_reused", "gauge", "", "Tasks that were not run, since they passed with the same inputs before.")
	m.sample(float64(rep.Counts.Reused))
}

// tasks writes how the tasks ended, and their sums.
func (m *metrics) tasks(rep *Report) {
	type end struct {
		status plan.Status
		class  plan.Class
	}
	ends := map[end]int{{plan.Passed, ""}: 0, {plan.Failed, plan.ClassTask}: 0}
	var retries int
	var took, waited, held float64
	for _, t := range rep.Results {
		ends[end{t.Status, t.Class}]++
		retries += max(t.Attempts-1, 0)
		took += t.Seconds
		waited += t.Waited
		held += t.TargetWait
	}
	var order []end
	for e := range ends {
		order = append(order, e)
	}
	slices.SortFunc(order, func(a, b end) int { return cmp.Or(cmp.Compare(a.status, b.status), cmp.Compare(a.class, b.class)) })
	m.family("prcheck_tasks", "gauge", "", "Tasks, by how they ended and the class of the failure.")
	for _, e := range order {
		m.sample(float64(ends[e]), "class", string(e.class), "status", string(e.status))
	}
	m.family("prcheck_retries", "gauge", "", "Attempts of tasks after their first.")
	m.sample(float64(retries))
	m.family("prcheck_tasks_duration_seconds", "gauge", "seconds", "Time that all tasks took together.")
	m.sample(took)
	m.family("prcheck_tasks_wait_seconds", "gauge", "seconds", "Time that all tasks together were ready and waited for a free slot and for their targets.")
	m.sample(waited)
	m.family("prcheck_tasks_target_wait_seconds", "gauge", "seconds", "Time that all tasks together waited for room at their targets, although there was a slot.")
	m.sample(held)
}

// again writes what ran more than once, and what can be relied upon less.
func (m *metrics) again(rep *Report) {
	flaky, onBase, took := 0, 0, 0.0
	for _, t := range rep.Results {
		if t.Flaky != nil {
			flaky++
		}
		if t.Baseline != nil {
			onBase++
			took += t.Baseline.Seconds
		}
	}
	m.family("prcheck_tasks_flaky", "gauge", "", "Tasks that are known to have failed and passed with the same inputs.")
	m.sample(float64(flaky))
	m.family("prcheck_baseline_tasks", "gauge", "", "Failed tasks that were compared with base.")
	m.sample(float64(onBase))
	m.family("prcheck_baseline_duration_seconds", "gauge", "seconds", "Time that tasks took on base together.")
	m.sample(took)
}

// maxTargets is how many targets have a series of their own.
const maxTargets = 100

// outages writes what was not run since a target was unavailable.
func (m *metrics) outages(rep *Report) {
	outages := rep.Outages()
	m.family("prcheck_tasks_unavailable", "gauge", "", "Tasks that were not run, since their target was unavailable.")
	m.sample(float64(rep.Counts.Unavailable))
	m.family("prcheck_targets_unavailable", "gauge", "", "Targets that were unavailable, as far as tasks were not run for that.")
	m.sample(float64(len(outages)))
	slices.SortStableFunc(outages, func(a, b Outage) int { return cmp.Compare(len(b.Tasks), len(a.Tasks)) })
	m.family("prcheck_target_tasks_unavailable", "gauge", "", "Tasks that were not run, since this target was unavailable; of the targets with most of them.")
	for _, o := range outages[:min(len(outages), maxTargets)] {
		m.sample(float64(len(o.Tasks)), "target", o.Target)
	}
}

// each writes the series of single tasks.
func (m *metrics) each(rep *Report) {
	var ran []int
	for i, t := range rep.Results {
		if t.Attempts > 0 {
			ran = append(ran, i)
		}
	}
	if len(ran) > MaxSeries {
		slices.SortStableFunc(ran, func(a, b int) int { return cmp.Compare(rep.Results[b].Seconds, rep.Results[a].Seconds) })
		left := len(ran) - MaxSeries
		ran = ran[:MaxSeries]
		slices.Sort(ran)
		m.family("prcheck_tasks_left_out", "gauge", "", "Tasks that have no series of their own, since there are too many.")
		m.sample(float64(left))
	}
	for _, series := range []struct {
		name, unit, help string
		of               func(Task) float64
	}{
		{"prcheck_task_attempts", "", "How often a task was started.", func(t Task) float64 { return float64(t.Attempts) }},
		{"prcheck_task_duration_seconds", "seconds", "Time that a task took, all attempts together.", func(t Task) float64 { return t.Seconds }},
		{"prcheck_task_wait_seconds", "seconds", "Time that a task was ready and waited for a free slot and for its targets.", func(t Task) float64 { return t.Waited }},
	} {
		m.family(series.name, "gauge", series.unit, series.help)
		for _, i := range ran {
			t := rep.Results[i]
			m.sample(series.of(t), "integration", t.Integration, "task", t.Task)
		}
	}
}

// calibration writes how good the estimates were.
func (m *metrics) calibration(c *Calibration) {
	m.summary("prcheck_estimate_error_seconds", "seconds", "How far the estimates were from what tasks took.", c.errors)
	m.summary("prcheck_estimate_ratio", "ratio", "What tasks took, as a part of their estimates: 1 is a good estimate, 2 one that was half of it.", c.ratios)
}

// metrics writes families of samples.
type metrics struct {
	out  strings.Builder
	name string
}

func (m *metrics) family(name, kind, unit, help string) {
	m.name = name
	fmt.Fprintf(&m.out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind)
	if unit != "" {
		fmt.Fprintf(&m.out, "# UNIT %s %s\n", name, unit)
	}
}

// sample writes one value of the family with its labels: names and values.
func (m *metrics) sample(v float64, labels ...string) {
	m.out.WriteString(m.name)
	for i := 0; i+1 < len(labels); i += 2 {
		m.out.WriteByte("{,"[min(i, 1)])
		fmt.Fprintf(&m.out, `%s="%s"`, labels[i], labelValue(labels[i+1]))
	}
	if len(labels) > 0 {
		m.out.WriteByte('}')
	}
	if rounded := math.Round(v*1e6) / 1e6; math.Abs(v) < 1e9 {
		v = rounded // sums of decimals have a tail that means nothing
	}
	m.out.WriteString(" " + strconv.FormatFloat(v, 'g', -1, 64) + "\n")
}

// summary writes the spread of sorted values.
func (m *metrics) summary(name, unit, help string, sorted []float64) {
	m.family(name, "summary", unit, help)
	sum := 0.0
	for _, v := range sorted {
		sum += v
	}
	for _, percent := range []int{50, 90, 100} {
		if len(sorted) > 0 {
			m.sample(percentile(sorted, percent), "quantile", strconv.FormatFloat(float64(percent)/100, 'g', -1, 64))
		}
	}
	m.name = name + "_sum"
	m.sample(sum)
	m.name = name + "_count"
	m.sample(float64(len(sorted)))
}

func boolean(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// maxLabel bounds the value of a label, in bytes.
const maxLabel = 200

var labelEscapes = strings.NewReplacer(`\`, `\\`, `"`, `\"`)

// labelValue makes a label of untrusted text, different ones of different texts:
// what cannot be shown becomes %XX, and so do # and %, since GitLab takes a # for
// the start of a comment.
func labelValue(text string) string {
	if len(text) > maxLabel {
		text = fmt.Sprintf("%s…%x", strings.ToValidUTF8(text[:maxLabel], ""), sha256.Sum256([]byte(text)))
	}
	var out strings.Builder
	for len(text) > 0 {
		r, n := utf8.DecodeRuneInString(text)
		if r == utf8.RuneError && n == 1 || r == '#' || r == '%' || !unicode.IsPrint(r) {
			for _, b := range []byte(text[:n]) {
				fmt.Fprintf(&out, "%%%02X", b)
			}
		} else {
			out.WriteString(text[:n])
		}
		text = text[n:]
	}
	return labelEscapes.Replace(out.String())
}
