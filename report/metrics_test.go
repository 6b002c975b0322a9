package report_test

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/report"
)

var (
	metricsLine = regexp.MustCompile(
		`^([a-z_]+)(\{[a-z]+="(?:[^"\\]|\\.)*"(?:,[a-z]+="(?:[^"\\]|\\.)*")*\})? (-?[0-9.e+-]+)$`)
	metricsMeta = regexp.MustCompile(`^# (HELP|TYPE|UNIT) ([a-z_]+) (.+)$`)
)

// readMetrics writes metrics and reads them in three ways: as strict OpenMetrics, as
// the text format of Prometheus, and as GitLab does. It returns the samples.
func readMetrics(t testing.TB, f report.Input) map[string]string {
	t.Helper()
	var out bytes.Buffer
	if err := report.Metrics(&out, f); err != nil {
		t.Fatal(err)
	}
	parser := expfmt.NewTextParser(model.LegacyValidation)
	if _, err := parser.TextToMetricFamilies(bytes.NewReader(out.Bytes())); err != nil {
		t.Fatalf("%v in\n%.3000s", err, out.Bytes())
	}
	lines := strings.Split(out.String(), "\n")
	if n := len(lines); n < 2 || lines[n-1] != "" || lines[n-2] != "# EOF" {
		t.Fatalf("it does not end with # EOF: %.3000s", out.String())
	}
	samples, families, family, kind := map[string]string{}, map[string]bool{}, "", ""
	for _, text := range lines[:len(lines)-2] {
		if meta := metricsMeta.FindStringSubmatch(text); meta != nil {
			switch meta[1] {
			case "HELP":
				if family = meta[2]; families[family] {
					t.Errorf("family %s is there twice", family)
				}
				families[family] = true
			case "TYPE":
				kind = meta[3]
			case "UNIT":
				if !strings.HasSuffix(family, "_"+meta[3]) {
					t.Errorf("the name %s lacks its unit %s", family, meta[3])
				}
			}
			if meta[2] != family || !strings.HasPrefix(family, "prcheck_") {
				t.Errorf("%q does not belong to %s", text, family)
			}
			continue
		}
		sample := metricsLine.FindStringSubmatch(text)
		if sample == nil || strings.ContainsRune(text, '#') {
			t.Fatalf("OpenMetrics or GitLab cannot read %q", text)
		}
		name := sample[1]
		if kind == "summary" {
			name = strings.TrimSuffix(strings.TrimSuffix(name, "_sum"), "_count")
		}
		if name != family {
			t.Errorf("%q is not of the family %s", text, family)
		}
		if key := sample[1] + sample[2]; samples[key] != "" {
			t.Errorf("%s is there twice", key)
		} else {
			samples[key] = sample[3]
		}
	}
	return samples
}

func TestMetrics(t *testing.T) {
	p := change(t)
	got := readMetrics(t, report.Input{Plan: p, Report: report.New(p, failedResults(p))})
	for name, want := range map[string]string{
		`prcheck_passed`: "0",
		`prcheck_integrations{decision="skip",rung="schema"}`:   "2",
		`prcheck_integrations{decision="shards",rung="shards"}`: "1",
		`prcheck_results_reused`:                                "0",
		`prcheck_tasks{class="",status="passed"}`:               "1",
		`prcheck_tasks{class="task",status="failed"}`:           "1",
		`prcheck_tasks{class="task",status="timed_out"}`:        "1",
		`prcheck_tasks{class="config",status="not_run"}`:        "1",
		`prcheck_retries`: "1",
		`prcheck_task_attempts{integration="terraform-users",task="terraform-users/app-sre"}`:         "2",
		`prcheck_task_duration_seconds{integration="terraform-users",task="terraform-users/app-sre"}`: "12.34",
		`prcheck_task_duration_seconds{integration="new-thing",task="new-thing"}`:                     "",
		`prcheck_estimate_error_seconds{quantile="0.5"}`:                                              "29.66",
		`prcheck_estimate_error_seconds{quantile="1"}`:                                                "38.8",
		`prcheck_estimate_error_seconds_count`:                                                        "2",
	} {
		if got[name] != want {
			t.Errorf("%s: got %q, want %q", name, got[name], want)
		}
	}
	got = readMetrics(t, report.Input{Plan: p, Report: report.New(p, passedResults(p))})
	if got["prcheck_passed"] != "1" {
		t.Errorf("got passed %q", got["prcheck_passed"])
	}
	q := emptyPlan(t)
	q.Integrations[0].Rung = plan.RungResult
	seal(t, q)
	got = readMetrics(t, report.Input{Plan: q, Report: report.New(q, nil)})
	if got["prcheck_results_reused"] != "1" || got["prcheck_estimate_ratio_count"] != "0" {
		t.Errorf("got %v", got)
	}
}

// TestMetricsOfFlakyAndUnavailableTasks checks that there are numbers for tasks that ran
// on base, that are flaky, and that did not run because a target was unavailable.
func TestMetricsOfFlakyAndUnavailableTasks(t *testing.T) {
	p := change(t)
	for name, c := range map[string]struct {
		results *plan.Results
		want    map[string]string
	}{
		"broken on base": {baselineResults(p), map[string]string{
			`prcheck_tasks{class="baseline",status="failed"}`: "1", "prcheck_tasks_flaky": "1", "prcheck_baseline_tasks": "1",
			"prcheck_baseline_duration_seconds": "11", "prcheck_retries": "1", "prcheck_passed": "1",
			"prcheck_tasks_unavailable": "0"}},
		"an outage": {outageResults(p), map[string]string{
			`prcheck_tasks{class="transient",status="not_run"}`: "2", "prcheck_tasks_unavailable": "2",
			"prcheck_targets_unavailable":                        "1",
			`prcheck_target_tasks_unavailable{target="aws/<x>"}`: "2", "prcheck_tasks_flaky": "0", "prcheck_baseline_tasks": "0",
			"prcheck_passed": "0"}},
	} {
		got := readMetrics(t, report.Input{Plan: p, Report: report.New(p, c.results)})
		for sample, want := range c.want {
			if got[sample] != want {
				t.Errorf("%s: %s: got %q, want %q", name, sample, got[sample], want)
			}
		}
	}
}

// TestHostileMetrics checks that different tasks have different series, whatever their
// names.
func TestHostileMetrics(t *testing.T) {
	texts := []string{"", "a b", `"`, `\`, `\"`, "#", "%23", "\n", "\x00", "\xff", "\xc285", "\u0085", "é",
		"a\"} 1\nprcheck_passed 1", strings.Repeat("x", 500), strings.Repeat("x", 501),
		strings.Repeat("é", 500), "'", "$(x)", "`", "{}", "\u202e"}
	for _, text := range texts {
		p, r := newHostilePlan(text)
		readMetrics(t, report.Input{Plan: p, Report: report.New(p, r)})
	}
	var shards []string
	for _, text := range texts {
		shards = append(shards, strings.ToValidUTF8(text, "?"))
	}
	slices.Sort(shards)
	f := newFailedFindings(t, plan.Decision{Rung: plan.RungSchema}, plan.Changes{}, slices.Compact(shards)...)
	count := 0
	for name := range readMetrics(t, f) {
		if strings.HasPrefix(name, "prcheck_task_attempts{") {
			count++
		}
	}
	if want := len(f.Plan.Tasks); count != want {
		t.Errorf("got series of %d tasks, want %d", count, want)
	}
}

// TestMetricsAreBounded checks that only the tasks that took longest have series.
func TestMetricsAreBounded(t *testing.T) {
	p := &plan.Plan{}
	rep := &report.Report{Counts: report.Counts{}}
	for i := range 3 * report.MaxSeries {
		rep.Results = append(rep.Results,
			report.TaskResult{Integration: "it", Result: plan.Result{Task: fmt.Sprint(i), Attempts: 1, Status: plan.Passed,
				Seconds: float64(i)}})
	}
	for i := range 500 {
		down := plan.Result{Task: fmt.Sprint("down", i), Status: plan.NotRun, Unavailable: fmt.Sprint("target", i/2*i%300)}
		rep.Results = append(rep.Results, report.TaskResult{Integration: "it", Result: down})
	}
	got := readMetrics(t, report.Input{Plan: p, Report: rep})
	if len(got) > 3*report.MaxSeries+150 || got["prcheck_tasks_left_out"] != "2000" ||
		got[`prcheck_tasks{class="",status="passed"}`] != "3000" {
		t.Errorf("got %d series, %q left out", len(got), got["prcheck_tasks_left_out"])
	}
	if got[`prcheck_task_attempts{integration="it",task="2999"}`] == "" ||
		got[`prcheck_task_attempts{integration="it",task="1999"}`] != "" {
		t.Error("the wrong tasks are left out")
	}
}

// TestCalibration checks that estimates are compared with the last attempt of tasks
// that ended by themselves.
func TestCalibration(t *testing.T) {
	p := change(t) // four tasks, each with an estimate of 42 s
	r := passedResults(p)
	r.Results[0].Seconds, r.Results[0].Spans = 100, []plan.Span{{Seconds: 60}, {Started: 61, Seconds: 39}}
	r.Results[1] = plan.Result{Task: r.Results[1].Task, Status: plan.Failed, Class: plan.ClassTask, Seconds: 43,
		Attempts: 1}
	r.Results[2] = plan.Result{Task: r.Results[2].Task, Status: plan.Failed, Class: plan.ClassConfig, Seconds: 1,
		Attempts: 1}
	r.Results[3] = plan.Result{Task: r.Results[3].Task, Status: plan.Canceled, Seconds: 1, Attempts: 1}
	got := report.New(p, r).Estimates
	if got == nil || got.Tasks != 2 || got.ErrorP50 != 1 || got.ErrorP90 != 3 {
		t.Errorf("got %+v", got)
	}
	if got := report.New(p, nil).Estimates; got != nil {
		t.Errorf("without results: got %+v", got)
	}
}
