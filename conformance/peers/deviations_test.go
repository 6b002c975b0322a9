package peers

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/app-sre/prcheck/internal/shared"
)

// Each deviation says its rule, why users are better off, and the decision that has it.
func TestDeviations(t *testing.T) {
	table := shared.Deviations(t)
	for i, d := range table {
		found, err := filepath.Glob(fmt.Sprintf("../../docs/decisions/%04d-*.md", d.Decision))
		if err != nil || len(found) != 1 {
			t.Errorf("deviation %d: there is no decision %d: %v", i, d.Decision, err)
		}
		if d.Judge == "" || d.Input == "" || d.Answer == "" || d.Rule == "" || d.Why == "" {
			t.Errorf("deviation %d: something is missing: %+v", i, d)
		}
	}
	fmt.Printf("judge deviations: %d in the table\n", len(table))
}
