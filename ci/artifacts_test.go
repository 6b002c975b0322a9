package ci_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/ci"
	"github.com/app-sre/prcheck/plan"
)

// MaskResults masks tokens in every text of a result.
func TestMaskResults(t *testing.T) {
	token := ci.Token{Value: "glpat-canary-0123456789"}
	results := &plan.Results{Warnings: []string{token.Value}, Results: []plan.Result{{
		Reason: token.Value, Tail: "x " + token.Value,
		Before:   []plan.Attempt{{Reason: token.Value}},
		Baseline: &plan.Baseline{Finding: "fails differently on base: " + token.Value + " is missing there"},
	}}}
	ci.MaskResults(results, token)
	raw, err := json.Marshal(results)
	if err != nil || strings.Contains(string(raw), "canary") {
		t.Errorf("got %s, %v", raw, err)
	}
}
