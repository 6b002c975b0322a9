package note_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/app-sre/prcheck/ci/note"
	"github.com/app-sre/prcheck/plan"
)

var update = flag.Bool("update", false, "rewrite the golden files")

const head = "4be1f0c9d27a35e86b0412cd9f7783aa5de01b92"

// newPlan returns the sealed plan of a change to two files: 144 integrations (16
// for at most 3 tasks), and so many tasks, most of them shards.
func newPlan(t testing.TB, tasks int, warnings ...string) *plan.Plan {
	t.Helper()
	p := &plan.Plan{Warnings: warnings, Changes: plan.Changes{
		Datafiles: []plan.Datafile{
			{Path: "/users/ana.yml", Schema: "/access/user-1.yml", Kind: plan.Modified,
				Fields: []string{"/roles/1", "/org_username"}},
			{Path: "/services/app/prod.yml", Schema: "/openshift/namespace-1.yml", Kind: plan.Added},
		},
		Resources: []plan.Resource{{Path: "/grafana/app.json", Kind: plan.Modified}},
	}}
	count := 144
	if 0 < tasks && tasks <= 3 {
		count = 16
	}
	for i := range count {
		d := plan.Decision{Name: fmt.Sprintf("integration-%03d", i), Decision: plan.Skip, Rung: plan.Rungs()[i%4]}
		d.Reason = map[plan.Rung]string{
			plan.RungDefinition: "it has no pr_check",
			plan.RungSchema:     fmt.Sprintf("none of the 2 changed schemas is one of the %d it may read", 1+i%9),
			plan.RungFields:     "its queries read no changed field",
			plan.RungState:      "its desired state is the same on both sides",
		}[d.Rung]
		p.Integrations = append(p.Integrations, d)
	}
	for i := range tasks {
		d := &p.Integrations[i%20*7]
		task := plan.Task{ID: d.Name, Integration: d.Name, Argv: []string{"check"}, Timeout: "10m0s"}
		d.Decision, d.Rung, d.Reason = plan.Run, plan.RungSchema, "it may read /access/user-1.yml and declares no queries"
		d.Evidence = plan.Evidence{Paths: []string{"/users/ana.yml", "/services/app/prod.yml"}}
		if tasks > 20 {
			task.Shard = fmt.Sprintf("account-%d", i/20)
			task.ID += "/" + task.Shard
			d.Decision, d.Rung, d.Reason = plan.Shards, plan.RungShards, "its desired state differs for some of its 90 keys"
			d.Evidence.Queries = []plan.QueryDifference{{Name: "roles", Fields: []string{"/users/ana.yml#/roles/1"}}}
		}
		d.Tasks = append(d.Tasks, task.ID)
		p.Tasks = append(p.Tasks, task)
	}
	seal(t, p)
	return p
}

func seal(t testing.TB, p *plan.Plan) {
	t.Helper()
	if err := p.Seal(); err != nil {
		t.Fatal(err)
	}
}

// newResultsWith returns results in which all tasks passed except those for which
// fail returns a result.
func newResultsWith(p *plan.Plan, fail func(i int) plan.Result) *plan.Results {
	rs := &plan.Results{Plan: p.Digest}
	for i, task := range p.Tasks {
		r := plan.Result{Status: plan.Passed, Tail: fmt.Sprintf("%d actions", i%3)}
		if fail != nil {
			if bad := fail(i); bad.Status != "" {
				r = bad
			}
		}
		r.Task = task.ID
		if r.Status != plan.NotRun {
			r.Attempts, r.Seconds = max(r.Attempts, 1), 2.5+float64(i%7)
			r.Spans = []plan.Span{{Started: float64(i), Seconds: r.Seconds}}
		} else {
			r.ExitCode = -1
		}
		rs.Results = append(rs.Results, r)
	}
	return rs
}

const trace = `[2026-11-21 10:11:12] [INFO] [early_exit.py] starting
Traceback (most recent call last):
  File "/home/venv/lib/python3.12/site-packages/reconcile/cli.py", line 553, in run_integration
    run_class_integration(integration=integration)
/home/venv/bin/qontract-reconcile: line 12: warning
reconcile.utils.oc.StatusCodeError: [app-prod-01]: namespace "app-prod" refers to role @dev-access, which does not exist`

func failed(class plan.Class, code int, tail string) plan.Result {
	return plan.Result{Status: plan.Failed, Class: class, Reason: fmt.Sprintf("exit code %d", code), ExitCode: code,
		Tail: tail}
}

// threeFailures lets 3 tasks fail, one of them with a transient failure.
func threeFailures(i int) plan.Result {
	switch i {
	case 7:
		return failed(plan.ClassTask, 1, trace)
	case 31:
		r := failed(plan.ClassTransient, 1,
			"connecting to api.github.com\nHTTP 503: no server is available to handle this request")
		r.Attempts = 3
		return r
	case 52:
		return failed(plan.ClassConfig, 1,
			`/users/ana.yml: "/roles/1" must be a reference to a file of schema /access/role-1.yml`)
	}
	return plan.Result{}
}

// manyFailures lets 300 tasks fail, most of them with the same message, and has every
// other outcome.
func manyFailures(i int) plan.Result {
	switch {
	case i%10 == 9:
		return plan.Result{}
	case i < 250:
		return failed(plan.ClassTask, 1, trace)
	case i < 290:
		return failed(plan.ClassTask, 2, fmt.Sprintf("checking\ncluster app-%d: quota of %d pods is exceeded", i, i*3))
	case i < 310:
		return plan.Result{Status: plan.TimedOut, Class: plan.ClassTransient, Reason: "timed out after 10m0s", ExitCode: -1,
			Tail: "waiting for the lock"}
	case i < 325:
		return plan.Result{Status: plan.Canceled, Reason: "canceled", ExitCode: -1}
	}
	return plan.Result{Status: plan.NotRun, Reason: plan.MissingReason}
}

func links() note.Links {
	return note.Links{
		Pipeline: "https://gitlab.example.com/app/interface/-/pipelines/4711",
		Report:   "https://gitlab.example.com/app/interface/-/jobs/1/artifacts/file/report.html",
		Log: func(task string) string {
			return "https://gitlab.example.com/app/interface/-/jobs/1/artifacts/file/logs/" +
				strings.ReplaceAll(task, "/", "-") + ".log"
		},
	}
}

// writeBody returns the body of a note and checks it.
func writeBody(t testing.TB, n note.Note, previous string) string {
	t.Helper()
	text, err := n.Body(previous)
	if err != nil {
		t.Fatal(err)
	}
	limit := n.Limit
	if limit == 0 {
		limit = note.DefaultLimit
	}
	if got := utf8.RuneCountInString(text); got > limit {
		t.Errorf("the body has %d characters, the limit is %d", got, limit)
	}
	checkBody(t, text)
	if generation, ok := n.Generation(text); !ok || generation != n.Serial {
		t.Errorf("its generation is %d %t, want %d", generation, ok, n.Serial)
	}
	if again, err := n.Body(text); err != nil || again != text {
		t.Errorf("made from itself it is another:\n%s\nbefore:\n%s (%v)", again, text, err)
	}
	return text
}

// hostile contains every kind of markup that untrusted text must not bring in.
const hostile = "@all /lgtm `x` | <img src=x onerror=alert(1)> [l](https://evil.example) www.evil.example #1 !2 ~\"bug\" %3 $4 &5 " +
	":tada: **b** _i_ $`m`$ [[_TOC_]] {+ins+} APP-12 0123456789abcdef </details> --> \u202ertl\u200b \\"

func infested(t testing.TB) *plan.Plan {
	t.Helper()
	return newHostilePlan(t, hostile)
}

// newHostilePlan returns a plan with the text in every untrusted place.
func newHostilePlan(t testing.TB, text string) *plan.Plan {
	t.Helper()
	p := &plan.Plan{
		Changes: plan.Changes{Datafiles: []plan.Datafile{{Path: text, Schema: text, Kind: plan.Modified,
			Fields: []string{text}}}},
		Integrations: []plan.Decision{
			{Name: "a" + text, Decision: plan.Run, Rung: plan.RungSchema, Reason: "z" + text,
				Tasks: []string{text + "1", text + "2", text + "3"}, Evidence: plan.Evidence{
					Definition: []string{text}, Fields: []string{text}, Paths: []string{text, "other"},
					Queries: []plan.QueryDifference{{Fields: []string{text + "#" + text}}}}},
			{Name: "b" + text, Decision: plan.Skip, Rung: plan.RungSchema, Reason: "y" + text},
		},
		Warnings: []string{text},
		Tasks: []plan.Task{{ID: text + "1", Integration: "a" + text, Blocked: "x", Timeout: "1s"},
			{ID: text + "2", Integration: "a" + text, Blocked: "x", Timeout: "1s"},
			{ID: text + "3", Integration: "a" + text, Blocked: "x", Timeout: "1s"}},
	}
	seal(t, p)
	return p
}

func infestedResults(p *plan.Plan, text string) *plan.Results {
	return newResultsWith(p, func(i int) plan.Result {
		r := failed(plan.ClassTask, 1, text+"\n/approve\n```\n@all\n````\n<!-- x -->\n"+text)
		r.Reason, r.Log = text, text
		r.Effects = &plan.Effects{Problems: []string{text}, Uncompared: text, Items: []plan.Effect{
			{Kind: plan.EffectDelete, Subject: text + "\n/merge", Since: plan.Since(text)},
			{Kind: plan.EffectKind(text), Subject: "/close " + text}}}
		r.Findings = []plan.Finding{{Code: plan.FindingCode(text), Severity: plan.Severity(text),
			Place: plan.Place{File: text, Pointer: text}, Message: text + "\n/merge"},
			{Severity: plan.SeverityError, Message: "/close"}}
		if i == 2 {
			return plan.Result{Status: plan.Passed, Findings: r.Findings}
		}
		if i == 1 {
			r.Status, r.Unavailable = plan.NotRun, text
		}
		return r
	})
}

func TestGolden(t *testing.T) {
	big, bigger := newPlan(t, 80), newPlan(t, 340)
	small := newPlan(t, 70)
	quiet, again := newPlan(t, 0), newPlan(t, 0)
	again.Integrations[5].Rung, again.Integrations[5].Reason = plan.RungResult,
		"its desired state differs; each of its 3 tasks passed with the same inputs, the first 2026-11-21 11:30 UTC"
	again.Integrations[5].Evidence = plan.Evidence{Reused: 3}
	seal(t, again)
	queued := newPlan(t, 3)
	queued.Integrations[5].Evidence = plan.Evidence{Reused: 3}
	queued.MergeRequest = &plan.MergeRequest{Name: "shop/data!7", Commit: "4be1f0c9", InTrain: true,
		Train: &plan.Train{Own: "sha256:0123", Results: 4, Hold: 3}}
	queued.MergeRequest.Train.Add("integration-000", "<b>", func() plan.Reason {
		return plan.Reason{Code: plan.CodeOthersFiles, Names: []string{"/users/@all.yml", "/users/c.yml"}}
	})
	seal(t, queued)
	trust := newPlan(t, 80,
		"this merge request changes prcheck.yaml: the settings of base were used, and what its edit concerns runs in full",
		`datafile "/users/ana.yml" refers to "/roles/gone.yml", which does not exist on head`)
	old := note.Note{Tool: "prcheck", Serial: 1, Commit: "aa" + head[2:], Plan: small,
		Results: newResultsWith(small, func(i int) plan.Result {
			switch i {
			case 7, 12, 13, 69:
				return failed(plan.ClassTask, 1, trace)
			}
			return plan.Result{}
		})}
	before := writeBody(t, old, "")
	host := infested(t)
	tests := map[string]struct {
		note     note.Note
		previous string
	}{
		"nothing": {note.Note{Plan: quiet}, ""},
		"reused":  {note.Note{Plan: again}, ""},
		"train":   {note.Note{Plan: queued, Results: newResultsWith(queued, nil)}, ""},
		"green":   {note.Note{Plan: trust, Results: newResultsWith(trust, nil)}, before},
		"three":   {note.Note{Plan: big, Results: newResultsWith(big, threeFailures)}, ""},
		"delta":   {note.Note{Plan: trust, Results: newResultsWith(trust, threeFailures)}, before},
		"many":    {note.Note{Plan: bigger, Results: newResultsWith(bigger, manyFailures)}, before},
		"lost":    {note.Note{Plan: big}, ""},
		"hostile": {note.Note{Plan: host, Results: infestedResults(host, hostile)}, ""},
		"unplanned": {note.Note{
			Unplanned: "note: comparing 4be1f0c9d27a with aa1f0c9d27a1\nplanner: data/users/eve.yml:2:1: this is no YAML\n"},
			before},
		"unplanned-hostile": {note.Note{Unplanned: hostile + "\n```\n" + hostile, Limit: 2000}, ""},
		"limit-500":         {note.Note{Plan: bigger, Results: newResultsWith(bigger, manyFailures), Limit: 500}, before},
		"limit-2000":        {note.Note{Plan: bigger, Results: newResultsWith(bigger, manyFailures), Limit: 2000}, before},
		"limit-20000":       {note.Note{Plan: bigger, Results: newResultsWith(bigger, manyFailures), Limit: 20000}, before},
		"hostile-2000":      {note.Note{Plan: host, Results: infestedResults(host, hostile), Limit: 2000}, ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			n := test.note
			n.Tool, n.Serial, n.Commit, n.Links = "prcheck", 2, head, links()
			got := writeBody(t, n, test.previous)
			compareGolden(t, name, got)
		})
	}
}

// compareGolden compares a note with a golden file.
func compareGolden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name+".md")
	if *update {
		if err := os.WriteFile(file, []byte(got+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got+"\n" != string(want) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestNotChecked checks that the note on a check without an answer says so in the title,
// says why once, and can be read by the next note.
func TestNotChecked(t *testing.T) {
	p := newPlan(t, 3)
	rs := newResultsWith(p, threeFailures)
	for i := range rs.Results {
		rs.Results[i] = plan.Result{Task: rs.Results[i].Task, Status: plan.Failed, Class: plan.ClassBaseline, ExitCode: 1,
			Attempts: 1, Tail: "ImportError: no <b>",
			Baseline: &plan.Baseline{Finding: "fails the same way on base"}}
	}
	n := note.Note{Tool: "prcheck", Serial: 1, Plan: p, Results: rs}
	first := writeBody(t, n, "")
	if !strings.Contains(first, "### ⚠️ prcheck: not checked\n") || strings.Count(first, "**Nothing was checked**") != 1 ||
		strings.Contains(first, "Nothing to do") {
		t.Errorf("got %s", first)
	}
	if !strings.Contains(first, "all of them say: ImportError") || strings.Contains(first, "no <b>.") {
		t.Errorf("got %s", first)
	}
	n.Serial = 2
	if second := writeBody(t, n, first); !strings.Contains(second, "which was not checked: ") {
		t.Errorf("got %s", second)
	}
}

// A note says how long the tasks took also if that was no time at all: whether the sentence is there
// depends on no clock.
func TestNoTime(t *testing.T) {
	p := newPlan(t, 1)
	for _, seconds := range []float64{0, 0.001} {
		results := newResultsWith(p, func(int) plan.Result { return plan.Result{} })
		results.Results[0].Seconds, results.Results[0].Spans = seconds, []plan.Span{{Seconds: seconds}}
		if body := writeBody(t, note.Note{Tool: "prcheck", Plan: p, Results: results}, ""); !strings.Contains(body,
			"It took 0.0s.") {
			t.Errorf("after %v seconds: %s", seconds, body)
		}
	}
}
