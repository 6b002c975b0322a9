package runner

import (
	"fmt"
	"testing"

	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/settings"
)

// Only integrations and shards that exist on base run there, and they do all their work.
func TestTasksOnBase(t *testing.T) {
	base, err := bundle.Open("../testdata/shop/base.json", nil)
	if err != nil {
		t.Fatal(err)
	}
	failed := plan.Result{Status: plan.Failed, Class: plan.ClassTask, ExitCode: 1, Reason: "exit code 1", Attempts: 1}
	config := failed
	config.Class = plan.ClassConfig
	for _, c := range []struct {
		name   string
		task   plan.Task
		result plan.Result
		want   string
	}{
		{"a whole integration", plan.Task{Integration: "price-tags"}, failed, "[[]]"},
		{"a shard", plan.Task{Integration: "warehouse-stock", Shard: "harbor"}, failed, "[[]]"},
		{"a shard of which base has no word", plan.Task{Integration: "warehouse-stock", Shard: "harbo"}, failed, "[]"},
		{"a shard that is no word", plan.Task{Integration: "warehouse-stock", Shard: "\xff"}, failed, "[]"},
		{"an integration that base does not define", plan.Task{Integration: "new"}, failed, "[]"},
		{"the data is wrong", plan.Task{Integration: "price-tags"}, config, "[]"},
		{"no result", plan.Task{Integration: "price-tags"}, plan.Result{}, "[]"},
		{"it may leave something out",
			plan.Task{Integration: "price-tags", When: []string{"state", "early_exit", "check_only_affected_shards"}}, failed,
			"[[state]]"},
	} {
		c.task.ID, c.result.Task = "a", "a"
		r := &run{Input: Input{Base: base, Settings: &settings.Settings{}}}
		again, err := r.knownOnBase(unsettled([]plan.Task{c.task}, []plan.Result{c.result}))
		got := [][]string{}
		for _, f := range again {
			got = append(got, withoutOmissions(f.task).When)
		}
		if err != nil || fmt.Sprint(got) != c.want {
			t.Errorf("%s: got %v, %v, want %s", c.name, got, err, c.want)
		}
	}
}
