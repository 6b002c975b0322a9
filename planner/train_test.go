package planner_test

import (
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/planner"
	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/state/trains"
)

// otherChanges are files that other changes changed in one commit.
type otherChanges []bundle.Path

func (o otherChanges) Files() []bundle.Path      { return o }
func (o otherChanges) Commit(bundle.Path) string { return "4be1f0c" }

// Why a result of the own pipeline does not hold in the merge train.
func TestTrain(t *testing.T) {
	const whole = exec + "integrations: {it: {}}\n"
	email := func(s *side) { s.at("/users/bob.yml")["email"] = "new" }
	resize := func(s *side) { s.at("/groups/dev.yml")["size"] = 7 }
	nothing := func(*side) {}
	type inputs = func(*planner.Input)
	for _, tt := range []struct {
		name, settings string
		change, ahead  func(*side) // what the merge request changes, and those ahead of it
		with           inputs
		want           string // how many results hold
		code           plan.Code
		reason         string
	}{
		{"nothing is ahead", whole, email, nothing, nil, "1 of 1", "", ""},
		{"nothing that it sees", asks("", "roles.graphql"), resize, func(s *side) { s.at("/others/else.yml")["name"] = "x" },
			nil, "1 of 1", "", ""},
		{"what it sees", whole, email, resize, nil, "0 of 1", plan.CodeOthersChanged,
			"other changes since that pipeline changed what it sees"},
		{"a file that it may read", whole, email, resize, func(in *planner.Input) {
			in.Others = otherChanges{"/gone.yml", "/groups/dev.yml", "/others/else.yml", "/users/bob.yml"}
		},
			"0 of 1", plan.CodeOthersFiles,
			"other changes since that pipeline changed what it may read: /groups/dev.yml (commit 4be1f0c) and 1 more"},
		{"a file that it may not read", whole, email, func(s *side) { s.at("/others/else.yml")["name"] = "x" },
			func(in *planner.Input) { in.Others = otherChanges{"/others/else.yml"} },
			"0 of 1", plan.CodeOthersChanged, ""},
		{"the same change is ahead", whole, email, email, nil, "0 of 1", plan.CodeNotNeeded,
			"its task is left out without it, at the rung schema"},
		{"its definition is gone", exec, email, func(s *side) {
			s.data["/two.yml"] = definition("two", nil)
			delete(s.data, "/it.yml")
		}, nil, "0 of 1", plan.CodeNotNeeded, "its task is left out without it, at the rung definition"},
		{"another push", whole, email, resize, func(in *planner.Input) { in.MergeRequest.Commit = "d" }, "0 of 1",
			plan.CodeOwnCommits, ""},
		{"an unknown commit", whole, email, resize, func(in *planner.Input) { in.MergeRequest.Commit = "" }, "0 of 1",
			plan.CodeOthersChanged, ""},
		{"another command", whole, email, func(s *side) {
			s.check()["cmd"] = "it --more"
		}, nil, "0 of 1", plan.CodeOtherCommand, ""},
		{"too old", whole, email, nothing, func(in *planner.Input) {
			for key := range in.Results.(results) {
				in.Results.(results)[key] = 2 * time.Hour
			}
		}, "0 of 1", plan.CodeOldResult, ""},
		{"no reuse", whole, email, nothing, func(in *planner.Input) { in.Results = planner.NoResults{} }, "0 of 1",
			plan.CodeOldResult, ""},
		{"nothing is remembered", whole, email, resize, func(in *planner.Input) { in.Own = nil }, "unknown", "", ""},
		{"no merge train", whole, email, resize, func(in *planner.Input) { in.MergeRequest.InTrain = false }, "unknown", "",
			""},
		{"no task passed", whole, email, resize, func(in *planner.Input) { in.Own = &trains.Pipeline{Commit: "c"} }, "0 of 0",
			"", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			build := func(changes ...func(*side)) *side {
				s := world()
				for _, change := range changes {
					change(s)
				}
				return s
			}
			before := input(t, build(), build(tt.change), tt.settings)
			before.Results = results{}
			earlier := made(t, before)
			own := &trains.Pipeline{Commit: "c"}
			for _, task := range earlier.Tasks {
				own.Passed = append(own.Passed, trains.Passed{Integration: task.Integration, Shard: task.Label(),
					Command: task.Command, Inputs: task.Inputs})
			}
			in := input(t, build(tt.ahead), build(tt.ahead, tt.change), tt.settings)
			in.Results, in.Own = passing(earlier), own
			in.MergeRequest = &plan.MergeRequest{Name: "shop/data!7", Commit: "c", InTrain: true}
			if tt.with != nil {
				tt.with(&in)
			}
			p := made(t, in)
			got, code, reason := "unknown", plan.Code(""), ""
			if train := p.MergeRequest.Train; train != nil {
				got = strconv.Itoa(train.Hold) + " of " + strconv.Itoa(train.Results)
				for _, m := range train.Moved {
					code, reason = m.Code, m.Reason
				}
			}
			if got != tt.want || code != tt.code || tt.reason != "" && reason != tt.reason {
				t.Errorf("got %s: %s: %s, want %s: %s: %s", got, code, reason, tt.want, tt.code, tt.reason)
			}
		})
	}
}

// Outside of the pipeline of a merge request a plan says nothing about one.
func TestNoMergeRequest(t *testing.T) {
	head := world()
	head.at("/users/bob.yml")["email"] = "new"
	in := input(t, world(), head, exec)
	in.Own = &trains.Pipeline{}
	if p := made(t, in); p.MergeRequest != nil {
		t.Errorf("got %+v", p.MergeRequest)
	}
}

// All tasks that the own pipeline left out are in its plan, also those that no evidence names.
func TestTrainOfManyShards(t *testing.T) {
	many := func(size int) *side {
		s := world()
		for i := range 30 {
			name := fmt.Sprintf("/groups/%02d.yml", i)
			s.data[name] = object{"$schema": "/group-1.yml", "name": name, "account": fmt.Sprint("account-", i), "size": size}
			s.data["/roles/"+fmt.Sprint(i)+".yml"] = object{"$schema": "/role-1.yml", "name": fmt.Sprint(i), "tags": list{},
				"groups": list{object{"$ref": name}}}
		}
		return s
	}
	in := input(t, many(1), many(2), byAccount(""))
	in.MergeRequest, in.Results = &plan.MergeRequest{Name: "shop/data!7", Commit: "c"}, results{}
	first := made(t, in)
	in.Results = passing(first)
	again := made(t, in)
	if len(first.Tasks) != 30 || len(again.Tasks) != 0 || len(again.MergeRequest.Reused) != 10 {
		t.Fatalf("%d tasks, then %d and %d that no evidence names", len(first.Tasks), len(again.Tasks),
			len(again.MergeRequest.Reused))
	}
	store := openTrains(t)
	if err := store.Add(t.Context(), again, nil); err != nil {
		t.Fatal(err)
	}
	in.MergeRequest, in.Own = &plan.MergeRequest{Name: "shop/data!7", Commit: "c", InTrain: true},
		store.Last(t.Context(), "shop/data!7")
	p := made(t, in)
	if train := p.MergeRequest.Train; train.Results != 30 || train.Hold != 30 || len(p.MergeRequest.Reused) != 0 {
		t.Errorf("got %s", train)
	}
	if gaps := verify(t, in, p); len(gaps) > 0 {
		t.Errorf("got gaps %v", gaps)
	}
}
