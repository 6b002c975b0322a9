package plan_test

import (
	"reflect"
	"testing"

	"github.com/app-sre/prcheck/plan"
)

func TestMergeObserved(t *testing.T) {
	p := &plan.Plan{Digest: "sha256:p"}
	one := &plan.Results{Plan: p.Digest, Warnings: []string{"w1"}, Observed: []plan.Observed{
		{Integration: "b", Read: []string{"/x", "/z"}, Unread: []string{"/u", "/v"}, Partial: true},
		{Integration: "c", Read: []string{"/c"}, Unread: []string{}},
	}}
	two := &plan.Results{Plan: p.Digest, Warnings: []string{"w2"}, Observed: []plan.Observed{
		{Integration: "a", Read: []string{"/a"}, Unread: []string{}, Partial: true},
		{Integration: "b", Read: []string{"/u", "/x"}, Unread: []string{"/v", "/z"}, Partial: true},
		{Integration: "c", Read: []string{"/c"}, Unread: []string{}, Partial: true},
	}}
	merged, err := plan.MergeResults(p, one, two)
	if err != nil {
		t.Fatal(err)
	}
	want := []plan.Observed{
		{Integration: "a", Read: []string{"/a"}, Unread: []string{}, Partial: true},
		{Integration: "b", Read: []string{"/u", "/x", "/z"}, Unread: []string{"/v"}, Partial: true},
		{Integration: "c", Read: []string{"/c"}, Unread: []string{}},
	}
	if !reflect.DeepEqual(merged.Observed, want) {
		t.Errorf("got %+v, want %+v", merged.Observed, want)
	}
	if !reflect.DeepEqual(merged.Warnings, []string{"w1", "w2"}) {
		t.Errorf("got %q", merged.Warnings)
	}
	if len(one.Observed[0].Unread) != 2 {
		t.Error("a part was changed")
	}
}
