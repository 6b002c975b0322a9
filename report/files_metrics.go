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

// metrics collects families of samples in the OpenMetrics format.
type metrics struct {
	out  strings.Builder
	name string
}

// startFamily begins a family of samples with its type, unit and help.
func (m *metrics) startFamily(name, kind, unit, help string) {
	m.name = name
	fmt.Fprintf(&m.out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind)
	if unit != "" {
		fmt.Fprintf(&m.out, "# UNIT %s %s\n", name, unit)
	}
}

// writeSample writes one value of the current family. The labels are names and
// values in turn.
func (m *metrics) writeSample(v float64, labels ...string) {
	m.out.WriteString(m.name)
	for i := 0; i+1 < len(labels); i += 2 {
		m.out.WriteByte("{,"[min(i, 1)])
		fmt.Fprintf(&m.out, `%s="%s"`, labels[i], escapeLabel(labels[i+1]))
	}
	if len(labels) > 0 {
		m.out.WriteByte('}')
	}
	if rounded := math.Round(v*1e6) / 1e6; math.Abs(v) < 1e9 {
		v = rounded // without the rounding errors of sums
	}
	m.out.WriteString(" " + strconv.FormatFloat(v, 'g', -1, 64) + "\n")
}

// writeSummary writes a family with the quantiles, the sum and the number of some
// sorted values.
func (m *metrics) writeSummary(name, unit, help string, sorted []float64) {
	m.startFamily(name, "summary", unit, help)
	sum := 0.0
	for _, v := range sorted {
		sum += v
	}
	for _, percent := range []int{50, 90, 100} {
		if len(sorted) > 0 {
			m.writeSample(percentile(sorted, percent), "quantile", strconv.FormatFloat(float64(percent)/100, 'g', -1, 64))
		}
	}
	m.name = name + "_sum"
	m.writeSample(sum)
	m.name = name + "_count"
	m.writeSample(float64(len(sorted)))
}

// boolSample returns 1 for true and 0 for false.
func boolSample(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// maxLabel bounds the value of a label, in bytes.
const maxLabel = 200

var labelEscapes = strings.NewReplacer(`\`, `\\`, `"`, `\"`)

// escapeLabel returns untrusted text as the value of a label. Different texts give
// different labels: bytes that cannot be shown become %XX, and a long text ends
// with its digest. The signs % and # are escaped too: GitLab takes a # for the
// start of a comment.
func escapeLabel(text string) string {
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

// MaxSeries is the number of tasks that have time series of their own in [Metrics].
const MaxSeries = 1000

// Metrics writes the numbers of a report as OpenMetrics text. Readers of the older
// Prometheus text format and the metrics report of GitLab understand it too. Only
// the [MaxSeries] tasks that took longest have time series of their own; the sums
// cover all tasks.
func Metrics(w io.Writer, f Input) error {
	var m metrics
	rep := f.Report
	m.startFamily("prcheck_passed", "gauge", "", "1 when the check passed, 0 when it failed.")
	m.writeSample(boolSample(rep.Verdict == plan.VerdictPassed))
	m.writeIntegrations(rep)
	m.writeTasks(rep)
	m.writeRepeats(rep)
	m.writeOutages(rep)
	m.writeEffects(rep.Effects)
	m.writeFindings(rep)
	m.writeTaskSeries(rep)
	m.writeCalibration(cmp.Or(rep.Estimates, &Calibration{}))
	m.writeAudit(rep.Audit)
	m.out.WriteString("# EOF\n")
	_, err := io.WriteString(w, m.out.String())
	return err
}

// writeIntegrations writes how many integrations were decided at each rung.
func (m *metrics) writeIntegrations(rep *Report) {
	m.startFamily("prcheck_integrations", "gauge", "", "Integrations, by the rung that decided and what it decided.")
	reused := 0
	for _, r := range rep.Rungs {
		for _, d := range []struct {
			decision plan.Action
			n        int
		}{{plan.Run, r.Run}, {plan.Shards, r.Shards}, {plan.Skip, r.Skip}} {
			m.writeSample(float64(d.n), "decision", string(d.decision), "rung", string(r.Rung))
		}
		if r.Rung == plan.RungResult {
			reused = r.Skip
		}
	}
	m.startFamily("prcheck_results_reused", "gauge", "",
		"Integrations that were not run, since an earlier result still holds.")
	m.writeSample(float64(reused))
	m.startFamily("prcheck_tasks_reused", "gauge", "", "Tasks that were not run, since they passed with the same inputs "+
		"before.")
	m.writeSample(float64(rep.Counts.Reused))
}

// writeTasks writes how the tasks ended, and sums over all of them.
func (m *metrics) writeTasks(rep *Report) {
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
	slices.SortFunc(order, func(a, b end) int {
		return cmp.Or(cmp.Compare(a.status, b.status), cmp.Compare(a.class, b.class))
	})
	m.startFamily("prcheck_tasks", "gauge", "", "Tasks, by how they ended and the class of the failure.")
	for _, e := range order {
		m.writeSample(float64(ends[e]), "class", string(e.class), "status", string(e.status))
	}
	m.startFamily("prcheck_retries", "gauge", "", "Attempts of tasks after their first.")
	m.writeSample(float64(retries))
	m.startFamily("prcheck_tasks_duration_seconds", "gauge", "seconds", "Time that all tasks took together.")
	m.writeSample(took)
	m.startFamily("prcheck_tasks_wait_seconds", "gauge", "seconds",
		"Time that all tasks together were ready and waited for a free slot and for their targets.")
	m.writeSample(waited)
	m.startFamily("prcheck_tasks_target_wait_seconds", "gauge", "seconds",
		"Time that all tasks together waited for room at their targets, although there was a slot.")
	m.writeSample(held)
}

// writeRepeats writes how many tasks are flaky and how many ran again on base.
func (m *metrics) writeRepeats(rep *Report) {
	flaky, compared, took := 0, 0, 0.0
	for _, t := range rep.Results {
		if t.Flaky != nil {
			flaky++
		}
		if t.Baseline != nil {
			compared++
			took += t.Baseline.Seconds
		}
	}
	m.startFamily("prcheck_tasks_flaky", "gauge", "", "Tasks that are known to have failed and passed with the same "+
		"inputs.")
	m.writeSample(float64(flaky))
	m.startFamily("prcheck_baseline_tasks", "gauge", "", "Failed tasks that were compared with base.")
	m.writeSample(float64(compared))
	m.startFamily("prcheck_baseline_duration_seconds", "gauge", "seconds", "Time that tasks took on base together.")
	m.writeSample(took)
}

// maxTargets is the number of targets that have a time series of their own.
const maxTargets = 100

// writeOutages writes how many tasks were not run because a target was unavailable.
func (m *metrics) writeOutages(rep *Report) {
	outages := rep.Outages()
	m.startFamily("prcheck_tasks_unavailable", "gauge", "", "Tasks that were not run, since their target was unavailable.")
	m.writeSample(float64(rep.Counts.Unavailable))
	m.startFamily("prcheck_targets_unavailable", "gauge", "",
		"Targets that were unavailable, as far as tasks were not run for that.")
	m.writeSample(float64(len(outages)))
	slices.SortStableFunc(outages, func(a, b Outage) int { return cmp.Compare(len(b.Tasks), len(a.Tasks)) })
	m.startFamily("prcheck_target_tasks_unavailable", "gauge", "",
		"Tasks that were not run, since this target was unavailable; of the targets with most of them.")
	for _, o := range outages[:min(len(outages), maxTargets)] {
		m.writeSample(float64(len(o.Tasks)), "target", o.Target)
	}
}

// writeEffects writes how many effects the tasks announce, and of how many tasks the
// effects are not known.
func (m *metrics) writeEffects(e AllEffects) {
	m.startFamily("prcheck_effects", "gauge", "", "Effects that tasks announce, by kind. Those that base announces as "+
		"well are pending, those that base alone announces are gone.")
	for _, side := range []struct {
		since  string
		counts EffectCounts
	}{{"change", e.Counts}, {"gone", e.Gone}, {"pending", e.Pending}} {
		for _, kind := range []plan.EffectKind{plan.EffectChange, plan.EffectCreate, plan.EffectDelete, plan.EffectOther} {
			m.writeSample(float64(side.counts.Of(kind)), "kind", string(kind), "since", side.since)
		}
	}
	m.startFamily("prcheck_tasks_effects_unknown", "gauge", "",
		"Tasks whose effects are not known, since they failed or nobody looked for effects.")
	m.writeSample(float64(e.doubtful()))
}

// writeFindings writes how many findings natives reported.
func (m *metrics) writeFindings(rep *Report) {
	type kind struct {
		severity plan.Severity
		isOld    bool
	}
	counts, beyond := map[kind]int{}, 0
	for _, t := range rep.Results {
		beyond += t.FindingsBeyond
		for _, f := range t.Findings {
			counts[kind{f.Severity, f.Old}]++
		}
	}
	m.startFamily("prcheck_findings", "gauge", "", "Findings of native integrations, by severity. Those that base has "+
		"as well are pending.")
	for _, s := range plan.Severities() {
		m.writeSample(float64(counts[kind{s, false}]), "severity", string(s), "since", "change")
		m.writeSample(float64(counts[kind{s, true}]), "severity", string(s), "since", "pending")
	}
	m.startFamily("prcheck_findings_left_out", "gauge", "",
		"Findings that are only counted, since their tasks have too many.")
	m.writeSample(float64(beyond))
}

// writeTaskSeries writes the time series of single tasks.
func (m *metrics) writeTaskSeries(rep *Report) {
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
		m.startFamily("prcheck_tasks_left_out", "gauge", "",
			"Tasks that have no series of their own, since there are too many.")
		m.writeSample(float64(left))
	}
	for _, series := range []struct {
		name, unit, help string
		of               func(TaskResult) float64
	}{
		{"prcheck_task_attempts", "", "How often a task was started.", func(t TaskResult) float64 {
			return float64(t.Attempts)
		}},
		{"prcheck_task_duration_seconds", "seconds", "Time that a task took, all attempts together.",
			func(t TaskResult) float64 { return t.Seconds }},
		{"prcheck_task_wait_seconds", "seconds", "Time that a task was ready and waited for a free slot and for its targets.",
			func(t TaskResult) float64 { return t.Waited }},
	} {
		m.startFamily(series.name, "gauge", series.unit, series.help)
		for _, i := range ran {
			t := rep.Results[i]
			m.writeSample(series.of(t), "integration", t.Integration, "task", t.Task)
		}
	}
}

// writeCalibration writes how far the estimates were off.
func (m *metrics) writeCalibration(c *Calibration) {
	m.writeSummary("prcheck_estimate_error_seconds", "seconds", "How far the estimates were from what tasks took.",
		c.errors)
	m.writeSummary("prcheck_estimate_ratio", "ratio",
		"What tasks took, as a part of their estimates: 1 is a good estimate, 2 one that was half of it.", c.ratios)
}
