package report_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/report"
)

// renderPage returns the page of a plan with results.
func renderPage(t testing.TB, p *plan.Plan, r *plan.Results, c *report.Contents) string {
	t.Helper()
	var out bytes.Buffer
	if err := report.HTML(&out, report.Page{Plan: p, Report: report.New(p, r), Contents: c}); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// newContents returns contents for the files of the plan of change.
func newContents() *report.Contents {
	return &report.Contents{
		Datafiles: map[string][]report.Field{
			"/users/ana.yml": {
				{Pointer: "/roles/0", Kind: plan.Modified, Old: `"<a>"`, New: "[\n  \"b\"\n]"},
				{Pointer: "/roles/1", Kind: plan.Added, New: `{"$ref":"/roles/dev.yml"}`},
				{Pointer: "/tags", Kind: plan.Modified, Moved: true, Old: `["a","b"]`, New: `["b","a"]`},
			},
			"/roles/dev.yml": {{Pointer: "/__identifier", Kind: plan.Removed, Old: `"dev"`}},
		},
		Resources: map[string]string{"/grafana/app.json": "@@ -1,2 +1,2 @@\n {\n-\"a\": 1\n+\"a\": 2"},
	}
}

// timedResults returns failedResults with the times of a run on two lanes.
func timedResults(p *plan.Plan) *plan.Results {
	r := failedResults(p)
	r.Results[0].Waited, r.Results[0].Spans = 12, []plan.Span{{Started: 12, Seconds: 3.2}}
	r.Results[1].Spans = []plan.Span{{Started: 0, Seconds: 4}, {Started: 6.34, Seconds: 6}}
	r.Results[2].Spans = []plan.Span{{Started: 0.1, Seconds: 600.1}}
	r.Observed = []plan.Observed{{Integration: "user-validator", Read: []string{"/access/user-1.yml"},
		Unread: []string{"/access/bot-1.yml", "/aws/group-1.yml"}}}
	return r
}

// embeddedAssets matches the style, the script and their hashes, which golden files
// leave out.
var embeddedAssets = regexp.MustCompile(`(?s)(<style>).*?(</style>)|(<script>).*?(</script>)|&#39;sha256-.*?&#39;`)

func TestHTMLGolden(t *testing.T) {
	p := change(t)
	for name, text := range map[string]string{
		"failed.html":  renderPage(t, p, timedResults(p), newContents()),
		"broken.html":  renderPage(t, p, baselineResults(p), nil),
		"outage.html":  renderPage(t, p, outageResults(p), nil),
		"reused.html":  renderPage(t, reusedPlan(t), passedResults(reusedPlan(t)), nil),
		"train.html":   renderPage(t, trainPlan(t), passedResults(trainPlan(t)), nil),
		"passed.html":  renderPage(t, p, passedResults(p), nil),
		"nothing.html": renderPage(t, emptyPlan(t), nil, nil),
	} {
		t.Run(name, func(t *testing.T) {
			got := embeddedAssets.ReplaceAllString(text, "$1$2$3$4")
			file := filepath.Join("testdata", name+".golden")
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

func TestHTMLIsValid(t *testing.T) {
	p := change(t)
	pages := map[string]string{
		"failed": renderPage(t, p, timedResults(p), newContents()), "no values": renderPage(t, p, failedResults(p), nil),
		"no results": renderPage(t, p, nil, nil),
		"passed":     renderPage(t, p, passedResults(p), &report.Contents{}), "broken": renderPage(t, p, baselineResults(p),
			nil), "both": renderPage(t, p, mixedResults(p), nil), "outage": renderPage(t, p, outageResults(p), nil),
		"train": renderPage(t, trainPlan(t), nil, nil), "nothing": renderPage(t, emptyPlan(t), nil, nil),
		"empty": renderPage(t, &plan.Plan{}, nil, nil),
	}
	large, results := newLargePlan(200, 600)
	pages["large"] = renderPage(t, large, results, nil)
	for name, text := range pages {
		t.Run(name, func(t *testing.T) { checkPage(t, text) })
	}
}

// hostileTexts are texts that must stay text in a page.
var hostileTexts = []string{
	"</script><img src=x onerror=alert(1)>", "</style><script>alert(1)</script>",
	"</title></textarea><svg onload=alert(1)>",
	`" onmouseover="alert(1)`, "' autofocus onfocus='alert(1)", "javascript:alert(1)", "#\" href=\"//evil.example",
	"<!-- ", "]]>", "<!--<script>",
	"{{.Policy}}", "\u202egnp.exe", "\u2066\u2069", "\x1b[31mred\x1b]0;t\x07", "\x00\x01\x7f\u009b", "\u2028\u2029",
	"\xff\xfe", "&lt;b&gt;", "%3Cscript%3E",
	"", " ", "a b", "integration-a", "../../etc", strings.Repeat("long ", 1000), "é日本😀",
}

func TestHTMLHoldsHostileText(t *testing.T) {
	for _, text := range hostileTexts {
		t.Run(text[:min(20, len(text))], func(t *testing.T) { hostilePage(t, text) })
	}
}

func FuzzHTML(f *testing.F) {
	f.Add("</script><img src=x onerror=alert(1)>")
	f.Fuzz(func(t *testing.T, text string) { hostilePage(t, text) })
}

func hostilePage(t *testing.T, text string) {
	p, r := newHostilePlan(text)
	p.Integrations[0].Evidence.Paths = []string{text, text + "#" + text}
	p.Base, p.Head = plan.Side{Ref: text, Commit: text}, plan.Side{Ref: text}
	p.Integrations[0].Evidence.Traces = []plan.TraceProof{{Shard: text, Digest: text, Doubt: text}}
	r.Observed, r.Warnings = []plan.Observed{{Integration: text, Read: []string{text}, Unread: []string{text}}},
		[]string{text}
	r.Results[0].Spans = []plan.Span{{Seconds: 1}, {Started: 2, Seconds: 1}}
	contents := &report.Contents{
		Datafiles: map[string][]report.Field{text: {{Pointer: text, Kind: plan.Kind(text), Old: text, New: text},
			{Pointer: text + "2"}}},
		Resources: map[string]string{text: "+" + text + "\n-" + text + "\n@@ " + text},
	}
	checkPage(t, renderPage(t, p, r, contents))
	checkPage(t, renderPage(t, p, r, nil))
}

// TestHTMLData checks that the script finds one entry for each row.
func TestHTMLData(t *testing.T) {
	p := change(t)
	text := renderPage(t, p, timedResults(p), nil)
	_, rest, _ := strings.Cut(text, `<script type="application/json" id="data">`)
	raw, _, _ := strings.Cut(rest, "</script>")
	var data []struct {
		D, S string
		R    int
		T    float64
	}
	if err := json.Unmarshal([]byte(raw), &data); err != nil {
		t.Fatal(err)
	}
	var got []string
	rows := regexp.MustCompile(`<tbody id="([^"]*)"`).FindAllStringSubmatch(text, -1)
	if len(rows) != len(data) {
		t.Fatalf("there are %d rows and %d data", len(rows), len(data))
	}
	for i, d := range data {
		got = append(got, fmt.Sprintf("%s %s %d %s %g", rows[i][1], d.D, d.R, d.S, d.T))
	}
	want := []string{
		"integration-new-thing run 0 not_run 0", "integration-terraform-users shards 4 timed_out 612.44",
		"integration-user-validator run 1 passed 3.2", "integration-dns skip 1  0", "integration-github-users skip 3  0",
		"integration-housekeeping skip 0  0", "integration-quay-repos skip 1  0",
	}
	want[1] = strings.Replace(want[1], "timed_out", "failed", 1) // a failure says more than a timeout
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestHTMLIsTheSameTwice(t *testing.T) {
	p := change(t)
	first := renderPage(t, p, timedResults(p), newContents())
	if second := renderPage(t, p, timedResults(p), newContents()); first != second {
		t.Error("two pages of one report differ")
	}
}

// newLargePlan returns a large plan with results.
func newLargePlan(integrations, tasks int) (*plan.Plan, *plan.Results) {
	p, r := &plan.Plan{}, &plan.Results{}
	for i := range 50 {
		p.Changes.Datafiles = append(p.Changes.Datafiles, plan.Datafile{
			Path: fmt.Sprintf("/files/%d.yml", i), Schema: "/file-1.yml", Kind: plan.Modified, Fields: []string{"/a", "/b/0"},
		})
	}
	perRun := max(1, 5*tasks/max(1, integrations))
	for i := range integrations {
		file := p.Changes.Datafiles[i%50].Path
		d := plan.Decision{
			Name: fmt.Sprintf("integration-%04d", i), Decision: plan.Skip, Rung: plan.RungFields,
			Reason: "its queries read no field that changed",
			Evidence: plan.Evidence{Definition: []string{fmt.Sprintf("/integrations/%d.yml", i)}, Allowed: 3,
				Paths: []string{file}},
		}
		if i%5 == 0 {
			d.Decision, d.Rung, d.Reason = plan.Shards, plan.RungShards, fmt.Sprintf("its desired state differs for %d shards",
				perRun)
			d.Evidence.Queries = []plan.QueryDifference{{Name: "q.graphql", Reached: 1, Roots: 2,
				Fields: []string{file + "#/a"}}}
			for n := range perRun {
				id := fmt.Sprintf("%s/shard-%d", d.Name, n)
				d.Tasks = append(d.Tasks, id)
				p.Tasks = append(p.Tasks, plan.Task{ID: id, Integration: d.Name, Shard: fmt.Sprint(n), Argv: []string{"task", id}})
				at := float64(len(r.Results) / 16)
				one := plan.Result{Task: id, Status: plan.Passed, Seconds: .9, Attempts: 1, Waited: at,
					Spans: []plan.Span{{Started: at, Seconds: .9}}, Tail: "would change nothing"}
				if n == 7 && i%100 == 0 {
					one.Status, one.Class, one.Reason, one.ExitCode = plan.Failed, plan.ClassTask, "exit code 1", 1
				}
				r.Results = append(r.Results, one)
			}
		}
		p.Integrations = append(p.Integrations, d)
	}
	return p, r
}

// TestHTMLStaysSmall checks the size of the page of a large merge request, and that a
// browser with a script has few elements until somebody opens a row.
func TestHTMLStaysSmall(t *testing.T) {
	text := largePage(t)
	root, err := html.Parse(strings.NewReader(text)) // as with a script: what is in noscript is text
	if err != nil {
		t.Fatal(err)
	}
	elements := 0
	for n := range root.Descendants() {
		if n.Type == html.ElementNode {
			elements++
		}
	}
	if len(text) > 550_000 || elements > 9000 {
		t.Errorf("the page has %d bytes and %d elements", len(text), elements)
	}
}

// largePage returns the page of a large merge request: 350 integrations, 300 tasks and 450
// effects.
func largePage(t *testing.T) string {
	t.Helper()
	p, r := newLargePlan(350, 300)
	for i := range r.Results {
		r.Results[i].Log = fmt.Sprintf("logs/integration-%d.log", i)
		r.Results[i].Tail = strings.Repeat(
			fmt.Sprintf("[2026-11-21 10:11:12] [INFO] [DRY-RUN] [x.py:f:%d] - ['create_user', 'app-sre', 'jane']\n", i), 5)
		r.Results[i].Effects = &plan.Effects{}
		for n := range i % 4 {
			r.Results[i].Effects.Items = append(r.Results[i].Effects.Items, plan.Effect{Kind: plan.EffectKinds()[(i+n)%4],
				Subject: fmt.Sprintf("user %d-%d in org", i, n)})
		}
	}
	return renderPage(t, p, r, nil)
}
