package plan

import (
	"strings"
	"testing"
)

func TestTrainString(t *testing.T) {
	for want, train := range map[string]Train{
		"3 of 4 results of the merge request's pipeline hold in this train":        {Results: 4, Hold: 3},
		"1 of 4 results of the merge request's pipeline holds in this train":       {Results: 4, Hold: 1},
		"0 of 4 results of the merge request's pipeline hold in this train":        {Results: 4},
		"the 1 result of the merge request's pipeline holds in this train":         {Results: 1, Hold: 1},
		"the 1 result of the merge request's pipeline does not hold in this train": {Results: 1},
		"the merge request's pipeline has no result that could hold in this train": {},
		"30 of 50 results of the merge request's pipeline hold in this train":      {Results: 50, Hold: 30},
	} {
		if got := train.String(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// A list of results that do not hold is bounded, and says how many it leaves out.
func TestTrainAdd(t *testing.T) {
	train := Train{Results: 30, Hold: 5}
	asked := 0
	for range 25 {
		train.Add("a", "s{1/2}", func() Reason { asked++; return Reason{Code: CodeOldResult} })
	}
	if asked != 20 || len(train.Moved) != 20 || train.More() != 5 || train.Moved[0].Name() != "a/s{1/2}" ||
		train.Moved[0].Code != CodeOldResult || train.Moved[0].Reason == "" {
		t.Errorf("got %d results, %d more: %+v", len(train.Moved), train.More(), train.Moved[0])
	}
}

// A plan that says more about its merge train than can be true is refused.
func TestMergeRequestCheck(t *testing.T) {
	moved := []Moved{{Integration: "a", Code: CodeOldResult, Reason: "old"}}
	for want, m := range map[string]*MergeRequest{
		"": {Name: "p!1", InTrain: true, Train: &Train{Results: 3, Hold: 2, Moved: moved}},
		"3 tasks are left out because they passed, but": {Name: "p!1", Reused: make([]Reused, 3)},
		"the name is empty":                             {},
		"only a merge train":                            {Name: "p!1", Train: &Train{}},
		"of 1 results 1 hold and 1 do not": {Name: "p!1", InTrain: true,
			Train: &Train{Results: 1, Hold: 1, Moved: moved}},
		"of 1 results -1 hold":             {Name: "p!1", InTrain: true, Train: &Train{Results: 1, Hold: -1}},
		"3 results hold, but only 2 tasks": {Name: "p!1", InTrain: true, Train: &Train{Results: 3, Hold: 3}},
		"needs an integration and a reason": {Name: "p!1", InTrain: true,
			Train: &Train{Results: 1, Moved: []Moved{{Integration: "a"}}}},
	} {
		p := Plan{MergeRequest: m,
			Integrations: []Decision{{Name: "a", Decision: Skip, Rung: RungResult, Reason: "r", Evidence: Evidence{Reused: 2}}}}
		err := p.Seal()
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}
