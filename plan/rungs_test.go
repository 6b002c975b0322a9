package plan_test

import (
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/plan"
)

// Each rung has all its words, and words of its own. The documents say the same.
func TestRungs(t *testing.T) {
	page, err := os.ReadFile("../docs/how-it-works.md")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]plan.Rung{}
	for _, r := range plan.Rungs() {
		for _, text := range []func(plan.Rung) string{plan.Rung.Question, plan.Rung.Skipped, plan.Rung.RulesOut,
			plan.Rung.Replayed} {
			said := text(r)
			if other, isThere := seen[said]; isThere || strings.TrimSpace(said) == "" {
				t.Errorf("rung %s says %q, as does %q", r, said, other)
			}
			seen[said] = r
		}
		if row := fmt.Sprintf("| %s | %s | %s | %s |\n", r, r.Question(), r.Skipped(),
			r.Replayed()); !strings.Contains(string(page), row) {
			t.Errorf("docs/how-it-works.md has no row %q", row)
		}
	}
	if other := plan.Rung("luck"); other.Question()+other.Skipped()+other.RulesOut()+other.Replayed() != "" {
		t.Error("a rung that is none has words")
	}
	if !reflect.DeepEqual(plan.Rungs()[:2], []plan.Rung{plan.RungDefinition, plan.RungSchema}) {
		t.Errorf("the first rungs are %q", plan.Rungs()[:2])
	}
}
