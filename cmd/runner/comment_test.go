package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/ci"
	"github.com/app-sre/prcheck/plan"
)

// A token is taken out of every text of a result, before any of them is escaped.
func TestHide(t *testing.T) {
	token := ci.Token{Value: canaryToken}
	results := &plan.Results{Warnings: []string{canaryToken}, Results: []plan.Result{{
		Reason: canaryToken, Tail: "x " + canaryToken,
		Before:   []plan.Attempt{{Reason: canaryToken}},
		Baseline: &plan.Baseline{Finding: "fails otherwise on base, without " + canaryToken},
	}}}
	hide(results, token)
	raw, err := json.Marshal(results)
	if err != nil || strings.Contains(string(raw), "canary") {
		t.Errorf("got %s, %v", raw, err)
	}
}
