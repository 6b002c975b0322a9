package report_test

import (
	"strings"
	"testing"

	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/report"
)

// "No effects announced" is said only if somebody looked at each part.
func TestNothingIsSaidOfWhatNobodyLookedAt(t *testing.T) {
	for what, want := range map[plan.UnlookedKind]string{
		"": "no effects announced", plan.UnlookedDrift: "no effects by the data alone, 1 part not looked at",
		plan.UnlookedRemoved: "no effects by the data alone, 1 part not looked at",
		plan.UnlookedAll:     "effects of 1 task unknown",
	} {
		e := &plan.Effects{Items: []plan.Effect{}}
		if what != "" {
			e.Unlooked = []plan.Unlooked{{Part: "north", What: what, Entries: 1, Why: "nobody answers"}}
		}
		got := report.New(newEffectsPlan([]*plan.Effects{e})).Effects
		if got.Summary != want || got.Silent() != (what == "") {
			t.Errorf("%q: got %q, silent %t, want %q", what, got.Summary, got.Silent(), want)
		}
		var gaps []string
		for _, list := range got.GapLists() {
			for _, gap := range list.Gaps {
				gaps = append(gaps, gap.Reason)
			}
		}
		if all := strings.Join(gaps, "; "); what != "" && !strings.Contains(all, "north: ") ||
			strings.Count(all, "nobody answers") > 1 {
			t.Errorf("%q: got the gaps %q", what, all)
		}
	}
}
