package runner_test

import (
	"strings"
	"testing"

	"github.com/app-sre/prcheck/runner"
	"github.com/app-sre/prcheck/wrapper"
)

// Two keys of shards were looked for whose tasks have one log: found in two minutes. A plan with
// both is refused, because one log could stand for the other.
func TestTwoTasksOfOneLog(t *testing.T) {
	one, two := "it/"+strings.Repeat("j", 57)+"39084935", "it/"+strings.Repeat("j", 57)+"43554454"
	if wrapper.LogName(one) != wrapper.LogName(two) {
		t.Fatal("the names of the logs differ")
	}
	c := newChange(t)
	first := c.in.Plan.Tasks[0]
	second := first
	first.ID, second.ID = one, two
	c.in.Plan.Tasks = append(c.in.Plan.Tasks[:0:0], first, second)
	_, err := runner.Run(t.Context(), c.in, runner.Options{})
	if err == nil || !strings.Contains(err.Error(), "would have one log") {
		t.Errorf("got %v", err)
	}
}
