package insights_test

import (
	"strings"
	"testing"
	"time"

	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/report/insights"
	"github.com/app-sre/prcheck/state/audits"
)

// Audits are a line, and each wrong skip is one with its remedy. Texts of tasks are harmless.
func TestAudits(t *testing.T) {
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	in := insights.New(nil, func(string) (float64, float64) { return 0, 0 }, nil)
	in.Audits = map[plan.Rung]plan.AuditCount{plan.RungSchema: {Right: 3, Wrong: 1}, plan.RungShards: {Unclear: 2}}
	in.Misses = []audits.Miss{{Integration: "a<b\x1b[2J", Rung: plan.RungSchema, Finding: "x\ny<script>", Remedy: "z",
		Last: at, Times: 3}}
	var text, page strings.Builder
	if err := insights.Text(&text, in); err != nil {
		t.Fatal(err)
	}
	if err := insights.HTML(&page, in); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"1 wrong of 4 audited skips: less than 76 %; 2 more could not be compared (wrong at schema 1 of 4)\n",
		"\nWrong skips that audits found\n  a<b at schema, 3 times, last on 2026-03-01: ",
		"; to avoid it, z\n",
	} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("got\n%s\nwant %q in it", &text, want)
		}
	}
	if strings.Contains(text.String(), "\x1b") || strings.Contains(page.String(), "<script>") ||
		!strings.Contains(page.String(), "Wrong skips that audits found") {
		t.Errorf("got\n%s\n%s", &text, &page)
	}
}
