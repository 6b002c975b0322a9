package note_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/app-sre/prcheck/ci/note"
	"github.com/app-sre/prcheck/plan"
)

var traps = []string{
	"@all", "/lgtm", "\n/approve", "`", "``", "```", "````\n", "~~~", "<script>", "<!--", "-->", "</details>", "<details>",
	"](https://evil)", "![", "[", "]", "https://x.y",
	"www.x.y", "a@b.c", "|", "\\", "\\|", "*", "_", "#1", "!2", "~bug", "%3", "$4", "&5", "&#64;", "&commat;", ":tada:",
	"{+", "[-", "-]", "[^1]", ": ", "[[_TOC_]]", "APP-1",
	"0123456789abcdef", "\u202e", "\u200b", "\u2060", "\ufeff", "\x1b[31m", "\x00", "\xff", "\r\n", "\t", "    ", "- ",
	"1. ", "> ", "# ", "---", "===", "| - |", "$`", "`$",
	"mailto:", "é", "日本", "👩‍👩‍👧", "שלום", "word ", "a/b.yml", "12", " ",
}

// randomText returns random text with much markup.
func randomText(r *rand.Rand) string {
	var out strings.Builder
	for range r.IntN(8) {
		out.WriteString(traps[r.IntN(len(traps))])
		if r.IntN(20) == 0 {
			out.WriteString(strings.Repeat(traps[r.IntN(len(traps))], r.IntN(400)))
		}
	}
	return out.String()
}

// randomEffects returns random effects, or nil.
func randomEffects(r *rand.Rand) *plan.Effects {
	if r.IntN(3) == 0 {
		return nil
	}
	e := &plan.Effects{Compared: r.IntN(2) == 0}
	for range r.IntN(6) {
		kinds := append(plan.EffectKinds(), plan.EffectKind(randomText(r)))
		since := []plan.Since{"", plan.SinceChange, plan.SinceBase, plan.SinceGone, plan.Since(randomText(r))}
		e.Items = append(e.Items, plan.Effect{Kind: kinds[r.IntN(len(kinds))], Subject: randomText(r),
			Since: since[r.IntN(len(since))], Times: r.IntN(4)})
	}
	switch r.IntN(6) {
	case 0:
		e = &plan.Effects{Unknown: "x" + randomText(r)}
	case 1:
		e.Beyond = map[plan.EffectKind]int{plan.EffectDelete: r.IntN(9), plan.EffectOther: r.IntN(9)}
	case 2:
		e.Uncompared, e.Problems = randomText(r), []string{randomText(r), randomText(r)}
	}
	return e
}

// randomFindings returns random findings.
func randomFindings(r *rand.Rand) []plan.Finding {
	var out []plan.Finding
	for range r.IntN(4) * r.IntN(8) {
		severities := append(plan.Severities(), plan.Severity(randomText(r)))
		out = append(out, plan.Finding{Code: plan.FindingCode(randomText(r)), Severity: severities[r.IntN(len(severities))],
			Place: plan.Place{File: randomText(r), Pointer: randomText(r)}, Message: randomText(r), Old: r.IntN(3) == 0})
	}
	return out
}

// randomNote returns a random note.
func randomNote(r *rand.Rand) note.Note {
	p := &plan.Plan{Digest: "sha256:" + fmt.Sprintf("%016x", r.Uint64())}
	rs := &plan.Results{Plan: p.Digest}
	pick := func(words ...string) string { return words[r.IntN(len(words))] }
	for range r.IntN(4) {
		p.Warnings = append(p.Warnings, randomText(r))
		p.Changes.Datafiles = append(p.Changes.Datafiles,
			plan.Datafile{Path: randomText(r), Fields: []string{randomText(r), randomText(r)}})
	}
	for i := range r.IntN(30) {
		d := plan.Decision{Name: fmt.Sprintf("%s%d", randomText(r), i), Decision: plan.Skip, Rung: plan.Rungs()[r.IntN(6)],
			Reason: randomText(r)}
		d.Evidence = plan.Evidence{Paths: []string{randomText(r)}, Definition: []string{randomText(r)},
			Fields:  []string{randomText(r)},
			Queries: []plan.QueryDifference{{Fields: []string{randomText(r) + "#" + randomText(r)}}}}
		for j := range r.IntN(4) {
			id := fmt.Sprintf("%s%d-%d", randomText(r), i, j)
			d.Decision, d.Tasks = plan.Run, append(d.Tasks, id)
			p.Tasks = append(p.Tasks, plan.Task{ID: id, Integration: d.Name})
			if r.IntN(10) == 0 {
				continue // lost
			}
			rs.Results = append(rs.Results, plan.Result{
				Effects: randomEffects(r), Findings: randomFindings(r), FindingsBeyond: r.IntN(2),
				Task: id, Status: plan.Status(pick("passed", "failed", "timed_out", "canceled", "not_run", randomText(r))),
				Class:  plan.Class(pick("", "task", "config", "transient", "baseline", randomText(r))),
				Reason: randomText(r), Tail: randomText(r) + pick("", "\n", randomText(r)) + randomText(r),
				Log: pick("", randomText(r)), Attempts: r.IntN(3), Seconds: r.Float64() * 100,
				Spans: []plan.Span{{Started: 1, Seconds: r.Float64() * 9}},
			})
		}
		p.Integrations = append(p.Integrations, d)
	}
	n := note.Note{Tool: "x", Plan: p, Results: rs, Serial: r.Int64N(3), Commit: pick("", head, randomText(r)),
		Links: links()}
	if r.IntN(3) == 0 {
		n.Links.Log = func(task string) string { return "https://gitlab.example.com/" + task }
	}
	return n
}

// TestLaws checks random notes: the body keeps the rules and its limit, and does not
// change when it is made again from itself.
func TestLaws(t *testing.T) {
	for seed := range uint64(30) {
		r := rand.New(rand.NewPCG(seed, 1))
		first, second := randomNote(r), randomNote(r)
		first.Limit, second.Limit = 500+r.IntN(1+r.IntN(20000)), 500+r.IntN(1+r.IntN(20000))
		if r.IntN(2) == 0 {
			second.Plan = first.Plan
		}
		writeBody(t, second, writeBody(t, first, ""))
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

var left = regexp.MustCompile(`^and (\d+) more$`)

// TestNothingIsLostUncounted checks that every failure is shown or counted with any
// limit, and that a larger limit never shows fewer.
func TestNothingIsLostUncounted(t *testing.T) {
	p := newPlan(t, 340)
	n := note.Note{Tool: "x", Plan: p, Results: newResultsWith(p, manyFailures), Links: links()}
	last := 0
	for limit := 500; limit < 400_000; limit *= 2 {
		n.Limit = limit
		want, got, shown := 0, 0, 0
		text, err := n.Body("")
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(text) {
			line = strings.TrimSpace(line)
			switch more := left.FindStringSubmatch(line); {
			case strings.HasPrefix(line, "#### ") && strings.HasSuffix(line, ")"):
				if got != want {
					t.Fatalf("limit %d: before %q there are %d, want %d", limit, line, got, want)
				}
				want, _ = strconv.Atoi(line[strings.Index(line, "(")+1 : len(line)-1])
				got = 0
			case strings.Contains(line, "tasks planned"):
				if got != want {
					t.Fatalf("limit %d: before %q there are %d, want %d", limit, line, got, want)
				}
				want, got = 340, 0
			case strings.Contains(line, "skipped: ") && want == 340:
				if got != want && got != 0 {
					t.Fatalf("limit %d: %d tasks ran, want %d", limit, got, want)
				}
				want = 0
			case strings.HasPrefix(line, "**`"), strings.HasPrefix(line, "| `"):
				got++
				shown++
			case more != nil:
				count, _ := strconv.Atoi(more[1])
				got += count
			}
		}
		if shown < last {
			t.Errorf("limit %d shows %d rows, a smaller one %d", limit, shown, last)
		}
		last = shown
	}
	if last < 600 {
		t.Errorf("only %d rows with the largest limit", last)
	}
}

// TestHuge checks that the largest possible note is written quickly.
func TestHuge(t *testing.T) {
	p := newPlan(t, 1000)
	start := time.Now()
	n := note.Note{Tool: "x", Plan: p, Serial: math.MaxInt64, Results: newResultsWith(p, func(i int) plan.Result {
		return failed(plan.ClassTask, 1, strings.Repeat(fmt.Sprintf("%c%c%c ", 'a'+i%26, 'a'+i/26%26, 'a'+i/676), 50)+
			strings.Repeat("\n@all `", 500))
	}), Links: links()}
	text, err := n.Body("")
	if err != nil {
		t.Fatal(err)
	}
	again, err := n.Body(text)
	if err != nil || again != text {
		t.Errorf("made from itself it is another (%v)", err)
	}
	t.Logf("%d bytes twice in %s", len(text), time.Since(start))
}

func FuzzBody(f *testing.F) {
	f.Add(hostile, 2000)
	for _, trap := range traps {
		f.Add(trap, 600)
	}
	f.Fuzz(func(t *testing.T, text string, limit int) {
		text = text[:min(len(text), len(hostile))] // a long text takes long to write, and shows nothing more
		p := &plan.Plan{
			Changes: plan.Changes{Datafiles: []plan.Datafile{{Path: text, Fields: []string{text}}}}, Warnings: []string{text},
			Integrations: []plan.Decision{{Name: text, Decision: plan.Run, Rung: plan.RungSchema, Reason: text,
				Tasks:    []string{text, text + "2", text + "3"},
				Evidence: plan.Evidence{Paths: []string{text}}}, {Name: text, Decision: plan.Skip, Rung: plan.RungSchema,
				Reason: text}},
			Tasks: []plan.Task{{ID: text, Integration: text}, {ID: text + "2", Integration: text},
				{ID: text + "3", Integration: text}},
		}
		n := note.Note{Tool: "x", Plan: p, Results: infestedResults(p, text), Commit: text, Links: links(),
			Limit: 500 + (limit&0xffff)%5000}
		previous := writeBody(t, n, text)
		if n.Plan, n.Results, n.Unplanned = nil, nil, text; strings.TrimSpace(text) != "" {
			writeBody(t, n, previous)
		}
	})
}

func FuzzPrevious(f *testing.F) {
	for _, previous := range forged() {
		if len(previous) < 1000 {
			f.Add(previous, "{}")
		}
	}
	p := newPlan(f, 3)
	n := note.Note{Tool: "x", Plan: p, Results: newResults(p, "ffp"), Serial: 2, Limit: 20000}
	f.Add("", `{"v":1,"g":1,"now":{"plan":"","verdict":"passed","tasks":1,"failed":["a"],"checked":["b"]}}`)
	f.Fuzz(func(t *testing.T, previous, json string) {
		writeBody(t, n, previous)
		writeBody(t, n, newMarker(json)+previous)
	})
}
