package note_test

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/ci/note"
	"github.com/app-sre/prcheck/plan"
)

// newResults returns results with one letter for the outcome of each task: passed,
// failed, timed out, transient, canceled, not run, unavailable, baseline.
func newResults(p *plan.Plan, letters string) *plan.Results {
	return newResultsWith(p, func(i int) plan.Result {
		switch letters[i] {
		case 'f':
			return failed(plan.ClassTask, 1, "no")
		case 'o':
			return plan.Result{Status: plan.TimedOut, Class: plan.ClassTask, Reason: "timed out after 10m0s", ExitCode: -1}
		case 't':
			return failed(plan.ClassTransient, 1, "503")
		case 'c':
			return plan.Result{Status: plan.Canceled, Reason: "canceled", ExitCode: -1}
		case 'n':
			return plan.Result{Status: plan.NotRun, Reason: "blocked"}
		case 'u':
			return plan.Result{Status: plan.NotRun, Class: plan.ClassTransient, Reason: "target unavailable: aws",
				Unavailable: "aws"}
		case 'b':
			return failed(plan.ClassBaseline, 1, "old")
		}
		return plan.Result{}
	})
}

// headings returns the headings of a body and the tasks below each.
func headings(body string) string {
	var out []string
	for line := range strings.Lines(body) {
		switch line = strings.TrimSpace(line); {
		case strings.HasPrefix(line, "<details><summary>Already"):
			out = append(out, strings.TrimSuffix(strings.TrimPrefix(line, "<details><summary>"), "</summary>"))
		case strings.HasPrefix(line, "#### "):
			out = append(out, strings.TrimPrefix(line, "#### "))
		case strings.HasPrefix(line, "**`") || strings.HasPrefix(line, "`integration-"):
			out = append(out, strings.NewReplacer("*", "", "`", "", "integration-", "").Replace(strings.Split(line, " ")[0]))
		}
	}
	return strings.Join(out, " ")
}

func TestDelta(t *testing.T) {
	p := newPlan(t, 3)
	tests := []struct {
		name        string
		before, now string
		want        string
	}{
		{"first", "", "fpp", "Failures (1) 000"},
		{"new", "ppp", "fpp", "New failures (1) 000"},
		{"still", "fpp", "fpp", "Still failing (1) 000"},
		{"another way", "fpp", "opp", "Still failing (1) 000"},
		{"fixed", "fpp", "ppp", "Fixed (1) 000"},
		{"all three", "pff", "ffp", "New failures (1) 000 Still failing (1) 007 Fixed (1) 014"},
		{"was not run", "npp", "fpp", "New failures (1) 000"},
		{"was not run and passes", "ncp", "ppp", ""},
		{"was broken on base", "bpp", "fpp", "New failures (1) 000"},
		{"is broken on base", "fpp", "bpp", "Already broken on base (1) 000"},
		{"transient comes last", "ppp", "tfp", "New failures (2) 007 000"},
		{"not run", "ppp", "ncf", "New failures (1) 014 No answer (2) 000 007"},
		// the other one said the same
		{"target down", "ppf", "ucu", "No answer (1) 007 Not checked: target `aws` unavailable (2) 000"},
		{"was not checked", "upp", "fpp", "New failures (1) 000"},
		{"was not checked and passes", "upp", "ppp", ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			previous := ""
			if test.before != "" {
				previous = writeBody(t, note.Note{Tool: "x", Plan: p, Results: newResults(p, test.before), Serial: 1,
					Links: links()}, "")
			}
			n := note.Note{Tool: "x", Plan: p, Results: newResults(p, test.now), Serial: 2, Links: links()}
			if got := headings(writeBody(t, n, previous)); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// TestBrokenOnBase checks that tasks that fail on base too are listed separately.
func TestBrokenOnBase(t *testing.T) {
	p := newPlan(t, 3)
	text := writeBody(t, note.Note{Tool: "x", Plan: p, Results: newResults(p, "bfp")}, "")
	for _, want := range []string{"- **Not your change:** 1 task failed on base already.\n",
		"- **Look at 1 failure** below.\n",
		"<details><summary>Already broken on base (1)</summary>\n\nThey fail the same way without this change, so they do not block it."} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

// TestUnavailable checks that tasks that were not run because their target was
// unavailable neither pass nor count as failures of the change.
func TestUnavailable(t *testing.T) {
	p := newPlan(t, 3)
	text := writeBody(t, note.Note{Tool: "x", Plan: p, Results: newResults(p, "upu")}, "")
	for _, want := range []string{"### ❌ x: 2 of 3 tasks did not pass",
		"- **Not checked:** 2 tasks, since a target is unavailable; try again when it is back.\n",
		"#### Not checked: target `aws` unavailable (2)\n\nOther tasks failed there again and again, so these were not run. That says nothing against this change."} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	for _, wrong := range []string{"Look at", "Nothing to do", "Failures", "gave no answer"} {
		if strings.Contains(text, wrong) {
			t.Errorf("%q in\n%s", wrong, text)
		}
	}
	two := newResults(p, "upu")
	two.Results[2].Unavailable = "gcp"
	text = writeBody(t, note.Note{Tool: "x", Plan: p, Results: two}, "")
	for _, want := range []string{"since targets are unavailable; try again when they are back.",
		"#### Not checked: targets unavailable (2)"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

// TestSameGeneration checks that a note that the same pipeline writes again is
// compared with the run before, not with itself.
func TestSameGeneration(t *testing.T) {
	p := newPlan(t, 3)
	first := writeBody(t, note.Note{Tool: "x", Plan: p, Results: newResults(p, "ppf"), Serial: 1}, "")
	half := writeBody(t, note.Note{Tool: "x", Plan: p, Results: newResults(p, "fnn"), Serial: 2}, first)
	whole := writeBody(t, note.Note{Tool: "x", Plan: p, Results: newResults(p, "ffp"), Serial: 2}, half)
	if got, want := headings(whole),
		"New failures (2) 000 007 Fixed (1) 014"; !strings.HasPrefix(got, "New failures (2) 000") ||
		!strings.HasSuffix(got, "Fixed (1) 014") {
		t.Errorf("got %q, want like %q", got, want)
	}
}

// TestUnplannedRunIsNotCompared checks that a run after one without a plan is compared
// with the run before that one, also in the same pipeline.
func TestUnplannedRunIsNotCompared(t *testing.T) {
	p := newPlan(t, 3)
	first := writeBody(t, note.Note{Tool: "x", Plan: p, Results: newResults(p, "ppf"), Serial: 1}, "")
	unplanned := writeBody(t, note.Note{Tool: "x", Unplanned: "no base", Serial: 2}, first)
	unplanned = writeBody(t, note.Note{Tool: "x", Unplanned: "no head", Serial: 3}, unplanned)
	for serial := range int64(2) {
		got := headings(writeBody(t, note.Note{Tool: "x", Plan: p, Results: newResults(p, "fpp"), Serial: 3 + serial},
			unplanned))
		if want := "New failures (1) 000 Fixed (1) 014"; !strings.HasPrefix(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if got := headings(writeBody(t, note.Note{Tool: "x", Plan: p, Results: newResults(p, "fpp"), Serial: 9},
		writeBody(t, note.Note{Tool: "x", Unplanned: "no"}, ""))); !strings.HasPrefix(got, "Failures (1)") {
		t.Errorf("got %q, want nothing compared", got)
	}
}

func TestSinceTheRunBefore(t *testing.T) {
	was, is := newPlan(t, 3), newPlan(t, 3)
	is.Integrations[1], is.Integrations[0].Name = plan.Decision{Name: "integration-001", Decision: plan.Run,
		Rung: plan.RungSchema, Reason: "it may read more",
		Tasks: []string{"integration-001"}}, "integration-000b"
	is.Integrations[7].Decision, is.Integrations[7].Reason, is.Integrations[7].Tasks = plan.Skip, "it reads less", nil
	is.Integrations[0].Tasks = []string{"integration-000b"}
	is.Tasks[0].ID, is.Tasks[0].Integration = "integration-000b", "integration-000b"
	is.Tasks[1].ID, is.Tasks[1].Integration = "integration-001", "integration-001"
	is.Integrations = append(is.Integrations, is.Integrations[8])
	is.Integrations[16].Name = "z"
	seal(t, is)
	n := note.Note{Tool: "x", Plan: was, Results: newResults(was, "ffp"), Serial: 1, Commit: head}
	first := writeBody(t, n, "")
	n.Plan, n.Results, n.Serial, n.Commit = is, newResults(is, "ppp"), 2, strings.Repeat("ab", 20)
	text := writeBody(t, n, first)
	for _, want := range []string{
		"<details><summary>Since <code>4be1f0c9d27a</code>, which failed: 2 newly checked, 1 not checked any more, 1 not there any more</summary>",
		"| `integration-001` | checked now: it may read more |",
		"| `integration-007` | not checked any more: it reads less |",
		"- 2 failures of `4be1f0c9d27a` not planned any more.",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	n.Commit = head
	if text := writeBody(t, n, first); !strings.Contains(text, "Since the run before, which failed:") {
		t.Errorf("another run of the same commit is not called so:\n%s", text)
	}
}

// newMarker returns the first line of a note with this JSON document.
func newMarker(json string) string {
	return "<!-- prcheck-note:x " + base64.RawStdEncoding.EncodeToString([]byte(json)) + " -->\n"
}

func forged() []string {
	p := &plan.Plan{}
	good, _ := note.Note{Tool: "x", Plan: p, Serial: 7}.Body("")
	other, _ := note.Note{Tool: "x-y", Plan: p, Serial: 7}.Body("")
	return []string{
		"", "hello", "<!-- prcheck-note:x", "<!-- prcheck-note:x  -->", "<!-- prcheck-note:x AAAA",
		"<!-- prcheck-note:x @@@ -->", other, " " + good,
		good[:40], strings.Replace(good, "x ", "x e", 1), newMarker(``), newMarker(`null`), newMarker(`[]`), newMarker(`{}`),
		newMarker(`{"v":2,"g":7}`),
		newMarker(`{"v":1,"g":-1,"now":{"verdict":"passed"}}`), newMarker(`{"v":1,"g":1e99,"now":{"verdict":"passed"}}`),
		newMarker(`{"v":1,"g":1,"now":{"verdict":"</details>"}}`),
		newMarker(`{"v":1,"g":1,"now":{"verdict":"passed","commit":"@all","failed":["x"]}}`),
		newMarker(`{"v":1,"g":1,"now":{"verdict":"passed","tasks":-1}}`),
		newMarker(`{"v":1,"g":1,"now":{"verdict":"passed"},"before":{}}`),
		newMarker(`{"v":1,"g":1,"now":{"verdict":"passed"}} x`), newMarker(strings.Repeat(`{"v":`, 10000)),
		"<!-- prcheck-note:x " + strings.Repeat("A", 3<<20) + " -->", strings.Repeat("x", 3<<20),
		"<!-- prcheck-note:x \xff\xfe -->",
	}
}

func TestForgedBodiesAreNone(t *testing.T) {
	p := newPlan(t, 3)
	n := note.Note{Tool: "x", Plan: p, Results: newResults(p, "ffp"), Serial: 2}
	want := writeBody(t, n, "")
	for _, previous := range forged() {
		if got, err := n.Body(previous); err != nil || got != want {
			t.Errorf("%.80q: got %v\n%s\nwant\n%s", previous, err, got, want)
		}
		if generation, ok := n.Generation(previous); ok || generation != 0 {
			t.Errorf("%.80q: its generation is %d", previous, generation)
		}
	}
}

// TestMarkerSurvives checks that a stored body can still be read after usual changes.
func TestMarkerSurvives(t *testing.T) {
	p := newPlan(t, 3)
	first := writeBody(t, note.Note{Tool: "x", Plan: p, Results: newResults(p, "fpp"), Serial: 1}, "")
	n := note.Note{Tool: "x", Plan: p, Results: newResults(p, "ffp"), Serial: 2}
	want := writeBody(t, n, first)
	line, _, _ := strings.Cut(first, "\n")
	for name, previous := range map[string]string{
		"other line ends": strings.ReplaceAll(first, "\n", "\r\n"), "cut after the first line": line,
		"another text":     line + "\n@all",
		"an unknown field": newMarker(strings.Replace(markerJSON(t, line), `"v":1`, `"v":1,"new":{"a":[]}`, 1)),
	} {
		if got := writeBody(t, n, previous); got != want {
			t.Errorf("%s: got\n%s\nwant\n%s", name, got, want)
		}
	}
	if !strings.HasPrefix(first, n.Marker()) || strings.HasPrefix(first, note.Note{Tool: "x-y"}.Marker()) {
		t.Errorf("the marker %q does not tell tools apart", n.Marker())
	}
}

// markerJSON returns the JSON document of a marker.
func markerJSON(t *testing.T, line string) string {
	t.Helper()
	raw, err := base64.RawStdEncoding.DecodeString(strings.Fields(line)[2])
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func TestWrongUse(t *testing.T) {
	p := newPlan(t, 0)
	for want, n := range map[string]note.Note{
		`the tool id is ""`:                  {Plan: p},
		`the tool id is "a--b"`:              {Plan: p, Tool: "a--b"},
		`the tool id is "a-"`:                {Plan: p, Tool: "a-"},
		`the tool id is "A"`:                 {Plan: p, Tool: "A"},
		`the tool id is "x\n"`:               {Plan: p, Tool: "x\n"},
		`the tool id is "aaaaaaaa`:           {Plan: p, Tool: strings.Repeat("a", 41)},
		"there is no plan":                   {Tool: "x"},
		"the generation is -1":               {Tool: "x", Plan: p, Serial: -1},
		"the limit is 499 characters; it mu": {Tool: "x", Plan: p, Limit: 499},
	} {
		if got, err := n.Body(""); err == nil || got != "" || !strings.HasPrefix(err.Error(), "writing the note: "+want) {
			t.Errorf("%s: got %q, %v", want, got, err)
		}
	}
}

func TestLinks(t *testing.T) {
	p := newPlan(t, 1)
	for _, address := range []string{"", "javascript:alert(1)", "https://", "//evil",
		"https://user:token@gitlab.example.com/x", "/relative", "ftp://x/y", "https://x/%zz", "\x00",
		"https://x/" + strings.Repeat("x", 3000)} {
		n := note.Note{Tool: "x", Plan: p, Results: newResults(p, "f"), Links: note.Links{Pipeline: address, Report: address,
			Log: func(string) string { return address }}}
		if text := writeBody(t, n, ""); strings.Contains(text, "](") {
			t.Errorf("%q is linked in\n%s", address, text)
		}
	}
	address := "https://gitlab.example.com/a b/(x)|<y>`z`*_'\"?q=é&copy=1#f"
	n := note.Note{Tool: "x", Plan: p, Results: newResults(p, "f"), Links: note.Links{Pipeline: address}}
	if text, want := writeBody(t, n, ""),
		"[pipeline](https://gitlab.example.com/a%20b/%28x%29%7C%3Cy%3E%60z%60%2A_%27%22?q=%C3%A9&copy=1#f)"; !strings.Contains(
		text, want) {
		t.Errorf("no %q in\n%s", want, text)
	}
}
