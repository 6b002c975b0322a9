package plan_test

import (
	"encoding/json"
	"testing"

	"github.com/app-sre/prcheck/plan"
)

func TestLabel(t *testing.T) {
	for _, c := range []struct {
		task       plan.Task
		label      string
		shards, id int
		json       string // of static
	}{
		{plan.Task{}, "", 1, 0, ""},
		{plan.Task{Shard: "one"}, "one", 1, 0, ""},
		{plan.Task{Shard: "one", Static: plan.Fraction{Part: 2, Of: 3}}, "one{2/3}", 3, 1, `"2/3"`},
		{plan.Task{Static: plan.Fraction{Part: 1, Of: 3}}, "{1/3}", 3, 0, `"1/3"`},
	} {
		if got := c.task.Label(); got != c.label {
			t.Errorf("got label %q, want %q", got, c.label)
		}
		if shards, id := c.task.Static.Numbers(); shards != c.shards || id != c.id {
			t.Errorf("%s: got %d and %d, want %d and %d", c.label, shards, id, c.shards, c.id)
		}
		raw, err := json.Marshal(c.task)
		if err != nil {
			t.Fatal(err)
		}
		var got struct{ Static json.RawMessage }
		var again plan.Task
		if json.Unmarshal(raw, &got) != nil || string(got.Static) != c.json || json.Unmarshal(raw, &again) != nil ||
			again.Static != c.task.Static {
			t.Errorf("%s: got %s, and read again %+v", c.label, raw, again.Static)
		}
	}
	var task plan.Task
	if err := json.Unmarshal([]byte(`{"static":"4/3"}`), &task); err == nil {
		t.Errorf("got %+v", task.Static)
	}
}
