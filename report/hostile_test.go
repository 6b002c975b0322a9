package report_test

import (
	"bytes"
	"io"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/report"
)

// newHostilePlan returns a plan and results with the text in every untrusted place.
func newHostilePlan(text string) (*plan.Plan, *plan.Results) {
	p := &plan.Plan{
		Changes: plan.Changes{
			Datafiles: []plan.Datafile{{Path: text, Schema: text, Kind: plan.Kind(text), Fields: []string{text}}},
			Resources: []plan.Resource{{Path: text, Schema: text, Kind: plan.Kind(text)}},
			Schemas:   []string{text}, GraphQL: []string{text},
		},
		Integrations: []plan.Decision{
			{Name: text, Decision: plan.Run, Rung: plan.RungSchema, Reason: text, Tasks: []string{text}, Evidence: plan.Evidence{
				Definition: []string{text}, Fields: []string{text}, Schemas: []string{text}, Paths: []string{text}, Rule: text,
				Queries: []plan.QueryDifference{{Name: text, Fields: []string{text}}}, State: &plan.State{Base: text, Head: text},
				Keys: []string{text}, Doubts: []string{text},
			}},
			{Name: text + "2", Decision: plan.Skip, Rung: plan.RungSchema, Reason: text},
			{Name: text + "3", Decision: plan.Action(text), Rung: plan.Rung(text), Reason: text},
		},
		Warnings: []string{text},
		MergeRequest: &plan.MergeRequest{Name: text, Commit: text, InTrain: true, Train: &plan.Train{
			Results: 3, Moved: []plan.Moved{{Integration: text, Shard: text, Code: plan.Code(text), Reason: text}}}},
		Tasks: []plan.Task{{ID: text, Integration: text, Shard: text, Argv: []string{text, text}, Timeout: text},
			{ID: text + "b", Integration: text, Blocked: text, Timeout: text}},
	}
	for _, more := range []string{"c", "d"} {
		p.Tasks = append(p.Tasks, plan.Task{ID: text + more, Integration: text, Shard: text, Argv: []string{text},
			Timeout: text})
	}
	earlier, base := []plan.Attempt{{Status: plan.Status(text), Class: plan.Class(text), Reason: text, Log: text}},
		&plan.Baseline{Finding: text, Log: text}
	r := &plan.Results{Results: []plan.Result{
		{Task: text, Status: plan.Status(text), Class: plan.Class(text), Reason: text, Log: text, Tail: text, Attempts: 2,
			Before: earlier, Baseline: base},
		{Task: text + "c", Status: plan.Failed, Class: plan.ClassBaseline, Reason: text, Log: text, Tail: text, Attempts: 1,
			Baseline: base, Flaky: &plan.Flaky{Failures: -1}},
		{Task: text + "d", Status: plan.NotRun, Class: plan.ClassTransient, Reason: text, Unavailable: text},
	}}
	return p, r
}

// renderAll returns everything that is written about a plan as text and as Markdown.
func renderAll(t testing.TB, p *plan.Plan, r *plan.Results) (text, markdown string) {
	t.Helper()
	var txt, md bytes.Buffer
	rep := report.New(p, r)
	for _, err := range []error{
		report.Text(&txt, rep, report.Style{}), report.PlanText(&txt, p, report.Style{}),
		report.ExplainText(&txt, p, p.Integrations[0].Name, nil),
		report.Markdown(&md, rep), report.PlanMarkdown(&md, p), report.JSON(io.Discard, rep),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	return txt.String(), md.String()
}

var (
	fence   = regexp.MustCompile("^ {0,3}(```+) *$")
	escaped = regexp.MustCompile(`\\[!-/:-@\[-` + "`" + `{-~]`)
	spans   = regexp.MustCompile("`[^`\n]+`")
	own     = regexp.MustCompile(`</?(details|summary)>|&#(124|92);`)
	harmful = regexp.MustCompile("[@!~#%$^][A-Za-z0-9{\"]|://|(?i:www\\.)|[<`]|(?m:^[ \t]*/)")
)

// checkHarmless checks what the package comment promises about untrusted text.
func checkHarmless(t *testing.T, text, markdown string) {
	t.Helper()
	for _, out := range []string{text, markdown} {
		for _, r := range out {
			if r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)) || r == '\u2028' ||
				r == '\u2029' {
				t.Fatalf("control character %U in\n%s", r, out)
			}
		}
	}
	prose := withoutFences(t, markdown)
	for line := range strings.Lines(prose) {
		if cells := strings.Count(line, "|"); cells > 0 && (!strings.HasPrefix(line, "| ") || cells < 3 || cells > 7) {
			t.Fatalf("not a table row: %q", line)
		}
	}
	prose = own.ReplaceAllString(spans.ReplaceAllString(escaped.ReplaceAllString(prose, ""), ""), "")
	if found := harmful.FindString(prose); found != "" {
		t.Fatalf("%q in\n%s", found, prose)
	}
}

// withoutFences removes the code blocks that a Markdown reader finds.
func withoutFences(t *testing.T, markdown string) string {
	t.Helper()
	var prose strings.Builder
	open := ""
	for line := range strings.Lines(markdown) {
		mark := fence.FindStringSubmatch(strings.TrimSuffix(line, "\n"))
		switch {
		case open == "" && mark != nil:
			open = mark[1]
		case open == "":
			prose.WriteString(line)
		case mark != nil && len(mark[1]) >= len(open):
			open = ""
		case strings.HasPrefix(strings.TrimLeft(line, " \t"), "/"):
			t.Fatalf("a line of code starts with a slash: %q", line)
		}
	}
	if open != "" {
		t.Fatalf("a fence stays open in\n%s", markdown)
	}
	return prose.String()
}

func TestHostileTextIsHarmless(t *testing.T) {
	for _, text := range []string{
		"@all", "x @ana", "/lgtm", "a\n/lgtm\n  /approve", "<script>alert(1)</script>", "<!-- prcheck -->", "</details>",
		"[x](http://evil)", "![x](//evil/y.png)", "https://evil.example/x", "wWw.evil.example", "<https://evil>",
		"#1 !2 ~bug %3 $4 &5",
		"a|b", `a\|b`, "`a`", "```\n@all\n/lgtm\n```", "~~~", "````````", "a`|`b", "\x1b[31mred\x1b]0;t\x07",
		"\r\n\x00\x7f\u009b",
		"\u202egnirts", "\u2028/lgtm", "\xff\xfe", "| a | b |\n| -- | -- |", "# title", "> quote", "*b* _i_",
		"&#64;all &commat;all", "\\", " ",
		strings.Repeat("long ", 1000), strings.Repeat("`", 5000), "-", "1.", "    code",
	} {
		p, r := newHostilePlan(text)
		txt, md := renderAll(t, p, r)
		checkHarmless(t, txt, md)
	}
}

func FuzzRenderers(f *testing.F) {
	f.Add("@all\n/lgtm `x` | <b>")
	f.Fuzz(func(t *testing.T, text string) {
		p, r := newHostilePlan(text)
		txt, md := renderAll(t, p, r)
		checkHarmless(t, txt, md)
	})
}

func TestOnlySomeTailsAreShownInMarkdown(t *testing.T) {
	p, r := &plan.Plan{}, &plan.Results{}
	for i := range 30 {
		id := string(rune('a'+i%26)) + string(rune('a'+i/26))
		p.Tasks = append(p.Tasks, plan.Task{ID: id})
		r.Results = append(r.Results, plan.Result{Task: id, Status: plan.Failed, Tail: "the tail of " + id})
	}
	var out bytes.Buffer
	if err := report.Markdown(&out, report.New(p, r)); err != nil {
		t.Fatal(err)
	}
	if got := strings.Count(out.String(), "the tail"); got != report.MaxTails ||
		!strings.Contains(out.String(), "10 failures without") {
		t.Errorf("%d tails in\n%s", got, out.String())
	}
}
