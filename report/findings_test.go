package report_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/report"
)

// gitlabSuites is the part of a JUnit report that GitLab reads. Unknown attributes and
// elements end up in Extra, which must stay empty.
type gitlabSuites struct {
	XMLName xml.Name `xml:"testsuites"`
	Suites  []struct {
		Name     string       `xml:"name,attr"`
		Tests    int          `xml:"tests,attr"`
		Failures int          `xml:"failures,attr"`
		Errors   int          `xml:"errors,attr"`
		Skipped  int          `xml:"skipped,attr"`
		Time     float64      `xml:"time,attr"`
		Cases    []gitlabCase `xml:"testcase"`
		Extra    []xml.Attr   `xml:",any,attr"`
	} `xml:"testsuite"`
	Extra []xml.Attr `xml:",any,attr"`
}

type gitlabCase struct {
	ClassName string        `xml:"classname,attr"`
	Name      string        `xml:"name,attr"`
	File      string        `xml:"file,attr"`
	Time      float64       `xml:"time,attr"`
	Failure   *gitlabEnd    `xml:"failure"`
	Error     *gitlabEnd    `xml:"error"`
	Skipped   *gitlabEnd    `xml:"skipped"`
	Out       string        `xml:"system-out"`
	Extra     []xml.Attr    `xml:",any,attr"`
	More      []interface{} `xml:",any"`
}

type gitlabEnd struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr"`
	Text    string `xml:",chardata"`
}

// readJUnit writes a JUnit report and reads it.
func readJUnit(t testing.TB, f report.Input) ([]byte, []gitlabCase) {
	t.Helper()
	var out bytes.Buffer
	if err := report.JUnit(&out, f); err != nil {
		t.Fatal(err)
	}
	if out.Len() >= 20<<20 {
		t.Errorf("got %d bytes, more than GitLab shows", out.Len())
	}
	return out.Bytes(), parseJUnit(t, out.Bytes())
}

// parseJUnit reads a JUnit report strictly.
func parseJUnit(t testing.TB, raw []byte) []gitlabCase {
	t.Helper()
	var got gitlabSuites
	if err := xml.Unmarshal(raw, &got); err != nil {
		t.Fatalf("%v in\n%.1000s", err, raw)
	}
	if len(got.Suites) != 1 || len(got.Extra) > 0 {
		t.Fatalf("got %d suites, %v", len(got.Suites), got.Extra)
	}
	s := got.Suites[0]
	failures, errors, skipped, seen := 0, 0, 0, map[string]bool{}
	for _, c := range s.Cases {
		if c.ClassName == "" || c.Name == "" || len(c.Extra)+len(c.More) > 0 ||
			(c.Failure != nil || c.Skipped != nil) && c.Error != nil || c.Failure != nil && c.Skipped != nil {
			t.Errorf("GitLab cannot read %+v", c)
		}
		for _, end := range []*gitlabEnd{c.Failure, c.Error, c.Skipped} {
			if end != nil && (end.Text == "" || end.Type == "") {
				t.Errorf("%s %s: GitLab would show nothing of %+v", c.ClassName, c.Name, end)
			}
		}
		if id := fmt.Sprintf("%q %q", c.ClassName, c.Name); seen[id] {
			t.Errorf("GitLab would merge the cases %s", id)
		} else {
			seen[id] = true
		}
		if c.Failure != nil {
			failures++
		}
		if c.Error != nil {
			errors++
		}
		if c.Skipped != nil {
			skipped++
		}
	}
	if s.Tests != len(s.Cases) || s.Failures != failures || s.Errors != errors || s.Skipped != skipped ||
		len(s.Extra) > 0 {
		t.Errorf("the suite says %d, %d, %d; it has %d, %d, %d, and more: %v", s.Tests, s.Failures, s.Errors, len(s.Cases),
			failures, errors, s.Extra)
	}
	return s.Cases
}

type issue struct {
	Description, Severity, Fingerprint *string
	CheckName                          *string `json:"check_name"`
	Location                           *struct {
		Path  *string
		Lines *struct{ Begin *int }
	}
}

// readCodeQuality writes a Code Quality report and reads it strictly.
func readCodeQuality(t testing.TB, f report.Input) ([]byte, []issue) {
	t.Helper()
	var out bytes.Buffer
	if err := report.CodeQuality(&out, f); err != nil {
		t.Fatal(err)
	}
	if out.Len() >= 20<<20 {
		t.Errorf("got %d bytes, more than GitLab shows", out.Len())
	}
	dec := json.NewDecoder(bytes.NewReader(out.Bytes()))
	dec.DisallowUnknownFields()
	var got []issue
	if err := dec.Decode(&got); err != nil || got == nil {
		t.Fatalf("%v in\n%.1000s", err, out.Bytes())
	}
	seen := map[string]bool{}
	for i, q := range got {
		if q.Description == nil || *q.Description == "" || q.CheckName == nil || q.Fingerprint == nil || q.Severity == nil ||
			q.Location == nil || q.Location.Path == nil || q.Location.Lines == nil || q.Location.Lines.Begin == nil {
			t.Fatalf("finding %d lacks something: %.500s", i, out.Bytes())
		}
		if !slices.Contains([]string{"blocker", "critical", "major", "minor", "info"}, *q.Severity) {
			t.Errorf("unknown severity %q", *q.Severity)
		}
		if seen[*q.Fingerprint] {
			t.Errorf("two findings have the fingerprint %s", *q.Fingerprint)
		}
		seen[*q.Fingerprint] = true
		if name := *q.Location.Path; !fs.ValidPath(name) || strings.ContainsAny(name, "\x00\n\x1b\\") ||
			*q.Location.Lines.Begin < 1 {
			t.Errorf("%q:%d is no place in a repository", name, *q.Location.Lines.Begin)
		}
	}
	return out.Bytes(), got
}

// listIssues returns the findings as SEVERITY PATH:LINE DESCRIPTION.
func listIssues(list []issue) []string {
	var out []string
	for _, q := range list {
		out = append(out, fmt.Sprintf("%s %s:%d %s", *q.Severity, *q.Location.Path, *q.Location.Lines.Begin, *q.Description))
	}
	return out
}

func equal(t *testing.T, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// newFailedFindings returns findings for a plan of one integration with these shards,
// all of which failed.
func newFailedFindings(t testing.TB, d plan.Decision, c plan.Changes, shards ...string) report.Input {
	t.Helper()
	d.Name, d.Decision, d.Reason = "it", plan.Run, "a reason"
	p := &plan.Plan{Changes: c}
	r := &plan.Results{}
	for _, shard := range shards {
		task := plan.Task{ID: strings.TrimSuffix("it/"+shard, "/"), Integration: "it", Shard: shard, Argv: []string{"x"},
			Timeout: "1m0s"}
		d.Tasks = append(d.Tasks, task.ID)
		p.Tasks = append(p.Tasks, task)
		r.Results = append(r.Results, plan.Result{Task: task.ID, Status: plan.Failed, Class: plan.ClassTask,
			Reason: "exit code 1", ExitCode: 1, Attempts: 1})
	}
	p.Integrations = []plan.Decision{d}
	seal(t, p)
	r.Plan = p.Digest
	return report.Input{Plan: p, Report: report.New(p, r)}
}

// TestOrigins checks that findings are shown at the places that the evidence names.
func TestOrigins(t *testing.T) {
	changes := plan.Changes{
		Datafiles: []plan.Datafile{
			{Path: "/aws/app-sre/account.yml", Kind: plan.Modified, Fields: []string{"/uid"}},
			{Path: "/aws/osd.yml", Kind: plan.Modified, Fields: []string{"/name", "/uid"}},
			{Path: "/meta.yml", Kind: plan.Metadata, Fields: []string{"/__identifier"}},
			{Path: "/new.yml", Kind: plan.Added},
			{Path: "/users/ana.yml", Kind: plan.Modified, Fields: []string{"/name", "/roles/1", "/roles/2/x"}},
		},
		Resources: []plan.Resource{{Path: "/r.json", Kind: plan.Modified}},
		Schemas:   []string{"/s-1.yml"}, GraphQL: []string{"User_v1"},
	}
	query := func(fields ...string) plan.Evidence {
		return plan.Evidence{Paths: []string{"/new.yml", "/users/ana.yml", "/r.json"},
			Queries: []plan.QueryDifference{{Reached: 1, Fields: fields}}}
	}
	for _, c := range []struct {
		name   string
		rung   plan.Rung
		e      plan.Evidence
		shards []string
		want   []string
	}{
		{"its own definition", plan.RungDefinition, plan.Evidence{Definition: []string{"/old.yml", "/it.yml"},
			Fields: []string{"schemas"}}, []string{""}, []string{"it data/it.yml /schemas"}},
		{"it always runs", plan.RungDefinition, plan.Evidence{Definition: []string{"/it.yml"}}, []string{""},
			[]string{"it data/it.yml /pr_check"}},
		{"fields of a query", plan.RungState, query("/users/ana.yml#/name"), []string{""},
			[]string{"it data/users/ana.yml /name", "it data/new.yml", "it resources/r.json"}},
		{"a list of a query", plan.RungState, query("/users/ana.yml#/roles"), []string{""},
			[]string{"it data/users/ana.yml /roles/1", "it data/new.yml", "it resources/r.json"}},
		{"below what changed", plan.RungState, query("/users/ana.yml#/roles/1/name"), []string{""},
			[]string{"it data/users/ana.yml /roles/1", "it data/new.yml", "it resources/r.json"}},
		{"an item with another number", plan.RungState, query("/users/ana.yml#/roles/7/x"), []string{""},
			[]string{"it data/users/ana.yml /roles/1", "it data/new.yml", "it resources/r.json"}},
		{"a field that the plan does not name", plan.RungState, query("/users/ana.yml#/colour"), []string{""},
			[]string{"it data/users/ana.yml /colour", "it data/new.yml", "it resources/r.json"}},
		{"no queries", plan.RungSchema, plan.Evidence{Paths: []string{"/aws/osd.yml", "/r.json"}}, []string{""},
			[]string{"it data/aws/osd.yml /name", "it resources/r.json"}},
		{"a rule", plan.RungSchema, plan.Evidence{Rule: "resources/** covers resources/r.json"}, []string{""},
			[]string{"it resources/r.json"}},
		{"a rule for data", plan.RungSchema, plan.Evidence{Rule: "data/** covers data/new.yml"}, []string{""},
			[]string{"it data/new.yml"}},
		{"nothing known", plan.RungSchema, plan.Evidence{Doubts: []string{"?"}}, []string{""},
			[]string{"it schemas/s-1.yml", "it resources/r.json", "it data/aws/app-sre/account.yml /uid",
				"it data/aws/osd.yml /name", "it data/new.yml"}},
		{"shards", plan.RungShards, plan.Evidence{Paths: []string{"/aws/app-sre/account.yml", "/aws/osd.yml"}},
			[]string{"app-sre", "osd", "other"},
			[]string{"it/app-sre data/aws/app-sre/account.yml /uid", "it/osd data/aws/osd.yml /name",
				"it/other data/aws/app-sre/account.yml /uid", "it/other data/aws/osd.yml /name"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newFailedFindings(t, plan.Decision{Rung: c.rung, Evidence: c.e}, changes, c.shards...)
			_, list := readCodeQuality(t, f)
			var got []string
			for _, q := range list {
				task, rest, _ := strings.Cut(*q.Description, ": failed: exit code 1")
				pointer := strings.TrimSuffix(strings.TrimPrefix(rest, " (changed:"), ")")
				got = append(got, task+" "+*q.Location.Path+pointer)
			}
			equal(t, got, c.want)
		})
	}
	t.Run("no change and no definition", func(t *testing.T) {
		_, list := readCodeQuality(t, newFailedFindings(t, plan.Decision{Rung: plan.RungSchema}, plan.Changes{}, ""))
		equal(t, listIssues(list), []string{"critical prcheck.yaml:1 it: failed: exit code 1"})
	})
}

// A locator returns a different line for every pointer.
type locator struct{ evil string }

func (l locator) Locate(o report.Origin) report.Location {
	if l.evil != "" {
		return report.Location{Path: l.evil, Line: 1}
	}
	return report.Location{Path: "sub/" + o.Section + o.Path, Line: 1 + len(o.Pointer)}
}

func (locator) Find(file, pointer string) report.Location {
	return report.Location{Path: "sub/data" + file, Line: 1 + len(pointer)}
}

func (locator) Concerns(o report.Origin, shard string) bool {
	return strings.HasSuffix(o.Pointer, shard)
}

func TestLocator(t *testing.T) {
	changes := plan.Changes{Datafiles: []plan.Datafile{{Path: "/a.yml", Kind: plan.Modified,
		Fields: []string{"/l/1", "/l/2", "/l/3", "/list/1", "/x", "/y"}}}}
	d := plan.Decision{Rung: plan.RungSchema, Evidence: plan.Evidence{Paths: []string{"/a.yml"}}}
	f := newFailedFindings(t, d, changes, "", "1", "9")
	f.Locator = locator{}
	_, list := readCodeQuality(t, f)
	equal(t, listIssues(list), []string{
		"critical sub/data/a.yml:5 it: failed: exit code 1 (changed: /l/1)",
		"critical sub/data/a.yml:5 it/1: failed: exit code 1 (changed: /l/1)",
		"critical sub/data/a.yml:5 it/9: failed: exit code 1 (changed: /l/1)",
		"critical sub/data/a.yml:8 it: failed: exit code 1 (changed: /list/1)",
		"critical sub/data/a.yml:8 it/1: failed: exit code 1 (changed: /list/1)",
		"critical sub/data/a.yml:8 it/9: failed: exit code 1 (changed: /list/1)",
		"critical sub/data/a.yml:3 it: failed: exit code 1 (changed: /x)",
		"critical sub/data/a.yml:3 it/9: failed: exit code 1 (changed: /x)",
	})
	_, cases := readJUnit(t, f)
	if got := cases[1].File; got != "sub/data/a.yml" {
		t.Errorf("got file %q", got)
	}
	for _, evil := range []string{"../x", "/etc/passwd", "a/../../b", "a\nb", "a\x00b", "a\\..\\b",
		strings.Repeat("x", 5000), "\xff", "."} {
		f.Locator = locator{evil}
		_, list := readCodeQuality(t, f)
		if got := *list[0].Location.Path; got != "prcheck.yaml" {
			t.Errorf("%.20q: got %q", evil, got)
		}
	}
}

// TestFingerprint checks that a fingerprint stays the same when the message, the time
// or the line of a failure changes, and differs for another class.
func TestFingerprint(t *testing.T) {
	p := change(t)
	prints := func(f report.Input) string {
		_, list := readCodeQuality(t, f)
		var out []string
		for _, q := range list {
			out = append(out, *q.Fingerprint)
		}
		return strings.Join(out, " ")
	}
	r := failedResults(p)
	first := prints(report.Input{Plan: p, Report: report.New(p, r)})
	r.Results[1].Tail, r.Results[1].Seconds, r.Results[1].Reason, r.Results[1].Attempts = "other", 1, "exit code 4", 1
	if again := prints(report.Input{Plan: p, Report: report.New(p, r), Locator: locator{}}); again != first {
		t.Errorf("got %s, want %s", again, first)
	}
	r.Results[1].Class = plan.ClassConfig
	if again := prints(report.Input{Plan: p, Report: report.New(p, r)}); again == first {
		t.Error("another class has the same fingerprint")
	}
}

// TestNeverGreen checks that only tasks that passed look green, that no failure is
// missing, and that a task that fails on base too is neither passed nor failed.
func TestNeverGreen(t *testing.T) {
	for _, status := range []plan.Status{plan.Passed, plan.Failed, plan.TimedOut, plan.Canceled, plan.NotRun, "strange"} {
		for _, class := range []plan.Class{"", plan.ClassConfig, plan.ClassTask, plan.ClassTransient, plan.ClassBaseline} {
			p := change(t)
			r := passedResults(p)
			r.Results[0].Status, r.Results[0].Class = status, class
			f := report.Input{Plan: p, Report: report.New(p, r)}
			_, cases := readJUnit(t, f)
			_, list := readCodeQuality(t, f)
			green := status == plan.Passed
			onBase := status == plan.Failed && class == plan.ClassBaseline
			if got := cases[0].Failure != nil || cases[0].Error != nil; got == (green || onBase) ||
				len(list) > 0 == (green || onBase) || (cases[0].Skipped != nil) != onBase {
				t.Errorf("%s %s: got red %v in JUnit and %d findings", status, class, got, len(list))
			}
			if got, want := cases[0].Failure != nil, status == plan.Failed && class != plan.ClassTransient &&
				!onBase; got != want {
				t.Errorf("%s %s: got a failure: %v, want %v", status, class, got, want)
			}
		}
	}
	p := change(t)
	_, cases := readJUnit(t, report.Input{Plan: p, Report: report.New(p, nil)})
	if len(cases) != len(p.Tasks) || cases[0].Error == nil {
		t.Errorf("without results: got %+v", cases)
	}
	strangers := passedResults(p)
	strangers.Results = append(strangers.Results, plan.Result{Task: "stranger", Status: plan.Passed})
	_, cases = readJUnit(t, report.Input{Plan: p, Report: report.New(p, strangers)})
	if last := cases[len(cases)-1]; last.Error == nil {
		t.Errorf("results that do not fit: got %+v", last)
	}
}

// TestFindingsAreBounded checks that reports stay within their bounds, and that
// failures are left out last.
func TestFindingsAreBounded(t *testing.T) {
	many := func(tasks, tail int, name string, bad func(i int) bool) report.Input {
		shards := make([]string, tasks)
		for i := range shards {
			shards[i] = fmt.Sprint(i, name)
		}
		f := newFailedFindings(t, plan.Decision{Rung: plan.RungSchema, Evidence: plan.Evidence{Paths: []string{"/a.yml"}}},
			plan.Changes{Datafiles: []plan.Datafile{{Path: "/a.yml", Kind: plan.Added}}}, shards...)
		r := &plan.Results{Plan: f.Plan.Digest}
		text := strings.Repeat("<&\"'\x01é\n", tail/9) + "the end"
		for i, task := range f.Plan.Tasks {
			result := plan.Result{Task: task.ID, Status: plan.Passed, Tail: text}
			if bad(i) {
				result.Status, result.Class = plan.Failed, plan.ClassTask
			}
			r.Results = append(r.Results, result)
		}
		f.Report = report.New(f.Plan, r)
		return f
	}
	count := func(cases []gitlabCase) (failed, tails, passedTails, passed int) {
		for _, c := range cases {
			switch {
			case c.Failure != nil:
				failed++
				if strings.HasSuffix(c.Failure.Text, "the end") {
					tails++
				}
			case strings.HasSuffix(c.Out, "the end"):
				passedTails++
				passed++
			case c.Error == nil:
				passed++
			}
		}
		return failed, tails, passedTails, passed
	}
	const limit = 300_000
	long := strings.Repeat("\"", 450) // becomes five times as long
	for _, c := range []struct {
		name        string
		tasks, tail int
		shard       string
		every       int // how many there are for each that failed
		want        string
	}{
		{"all of it", 100, 500, "", 2, "50 50 50 50"},
		{"no tails of passed tasks", 100, 4000, "", 10, "10 10 0 90"},
		{"no passed tasks", 150, 40, long, 10, "15 15 0 1"},
		{"short tails", 10, 40_000, "", 1, "10 10 0 0"},
		{"no tails", 50, 4500, long, 1, "50 0 0 0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := many(c.tasks, c.tail, c.shard, func(i int) bool { return i%c.every == 0 })
			raw, err := report.JUnitWithin(limit, f)
			if err != nil {
				t.Fatal(err)
			}
			failed, tails, passedTails, passed := count(parseJUnit(t, raw))
			if got := fmt.Sprint(failed, tails, passedTails, passed); got != c.want || len(raw) > limit {
				t.Errorf("got %s failed, with tails, passed with tails and passed in %d bytes, want %s", got, len(raw), c.want)
			}
		})
	}
	t.Run("not even all that failed", func(t *testing.T) {
		f := many(1200, 9, strings.Repeat("\"", 500), func(int) bool { return true })
		raw, err := report.JUnitWithin(2_500_000, f)
		if err != nil {
			t.Fatal(err)
		}
		cases := parseJUnit(t, raw)
		if failed, _, _, _ := count(cases); failed != 500 || cases[len(cases)-1].Error == nil {
			t.Errorf("got %d failures, and at the end %+v, in %d bytes", failed, cases[len(cases)-1], len(raw))
		}
		if _, list := readCodeQuality(t, f); len(list) != report.MaxFindings {
			t.Errorf("got %d findings", len(list))
		}
	})
}

// TestHostileFindings checks that hostile text breaks neither format, and that no place
// is outside of the repository.
func TestHostileFindings(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	texts := []string{"", "]]>", "</testcase><testcase>", "\x00\x01\x1b[31m\ufffe\uffff", "\xff\xed\xa0\x80",
		"/../../etc/passwd", "../x", "/a\nb", "/\u202e",
		strings.Repeat("/long", 3000), "[[ATTACHMENT|/etc/passwd]]", "a#b", "&lt;", "data/x covers data/../y"}
	for range 200 {
		raw := make([]byte, random.IntN(40))
		for i := range raw {
			raw[i] = "/.~#\\\n\x00<>&]\"é\xff ab"[random.IntN(18)]
		}
		texts = append(texts, string(raw))
	}
	for _, text := range texts {
		p, r := newHostilePlan(text)
		r.Results[0].Tail += "\x00]]>[[ATTACHMENT|/etc/passwd]]"
		f := report.Input{Plan: p, Report: report.New(p, r)}
		_, cases := readJUnit(t, f)
		for _, c := range cases {
			if c.Error != nil && strings.Contains(c.Error.Text, "[[ATTACHMENT") || strings.Contains(c.Out, "[[ATTACHMENT") {
				t.Errorf("%q: GitLab would link to the attachment in %+v", text, c.Error)
			}
		}
		_, list := readCodeQuality(t, f)
		if len(cases) < 2 || len(list) == 0 {
			t.Errorf("%q: got %d cases and %d findings", text, len(cases), len(list))
		}
	}
}

func TestFindingsAreDeterministic(t *testing.T) {
	p := change(t)
	f := report.Input{Plan: p, Report: report.New(p, failedResults(p))}
	for _, render := range []func(io.Writer, report.Input) error{report.JUnit, report.CodeQuality} {
		var a, b bytes.Buffer
		if err := render(&a, f); err != nil {
			t.Fatal(err)
		}
		if err := render(&b, f); err != nil || a.String() != b.String() {
			t.Errorf("%v, got\n%s\nthen\n%s", err, &a, &b)
		}
	}
}
