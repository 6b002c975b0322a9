package revisions

import (
	"maps"
	"reflect"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/plan"
)

func TestReadJob(t *testing.T) {
	const a, b, c, zeros = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb",
		"cccccccccccccccccccccccccccccccccccccccc", "0000000000000000000000000000000000000000"
	long := strings.Repeat("a", 64)
	for _, tt := range []struct {
		name, env string
		want      Job
		failure   string
	}{
		{"merge request",
			"CI_COMMIT_SHA=" + a + " CI_MERGE_REQUEST_IID=1 CI_MERGE_REQUEST_DIFF_BASE_SHA=" + b + " CI_COMMIT_BEFORE_SHA=" +
				zeros,
			Job{Head: a, Base: b, Reason: "CI_MERGE_REQUEST_DIFF_BASE_SHA"}, ""},
		{"merged results",
			"CI_COMMIT_SHA=" + a + " CI_MERGE_REQUEST_IID=1 CI_MERGE_REQUEST_DIFF_BASE_SHA=" + b +
				" CI_MERGE_REQUEST_TARGET_BRANCH_SHA=" + c,
			Job{Head: a, Base: c, Reason: "CI_MERGE_REQUEST_TARGET_BRANCH_SHA"}, ""},
		{"merge train",
			"CI_COMMIT_SHA=" + a +
				" CI_MERGE_REQUEST_IID=1 CI_MERGE_REQUEST_EVENT_TYPE=merge_train CI_MERGE_REQUEST_DIFF_BASE_SHA=" + b +
				" CI_MERGE_REQUEST_TARGET_BRANCH_SHA=" + c,
			Job{Head: a, Base: c, Reason: "CI_MERGE_REQUEST_TARGET_BRANCH_SHA"}, ""},
		{"a target of zeros",
			"CI_COMMIT_SHA=" + a + " CI_MERGE_REQUEST_IID=1 CI_MERGE_REQUEST_DIFF_BASE_SHA=" + b +
				" CI_MERGE_REQUEST_TARGET_BRANCH_SHA=" + zeros,
			Job{Head: a, Base: b, Reason: "CI_MERGE_REQUEST_DIFF_BASE_SHA"}, ""},
		{"a merge request never takes what was there before a push",
			"CI_COMMIT_SHA=" + a + " CI_MERGE_REQUEST_IID=1 CI_COMMIT_BEFORE_SHA=" + b + " CI_DEFAULT_BRANCH=main",
			Job{}, "what the merge request starts from"},
		{"push", "CI_COMMIT_SHA=" + a + " CI_COMMIT_BEFORE_SHA=" + b + " CI_DEFAULT_BRANCH=main",
			Job{Head: a, Base: b, Reason: "CI_COMMIT_BEFORE_SHA"}, ""},
		{"new branch", "CI_COMMIT_SHA=" + a + " CI_COMMIT_BEFORE_SHA=" + zeros + " CI_DEFAULT_BRANCH=main",
			Job{Head: a, target: "main", Reason: "where it left the branch main"}, ""},
		{"sha256", "CI_COMMIT_SHA=" + long + " CI_COMMIT_BEFORE_SHA=" + strings.Repeat("0", 64) + " CI_DEFAULT_BRANCH=main",
			Job{Head: long, target: "main", Reason: "where it left the branch main"}, ""},
		{"short", "CI_COMMIT_SHA=" + a + " CI_COMMIT_BEFORE_SHA=abc", Job{}, `CI_COMMIT_BEFORE_SHA is "abc"`},
		{"an option", "CI_COMMIT_SHA=--all", Job{}, `CI_COMMIT_SHA is "--all"`},
		{"capitals", "CI_COMMIT_SHA=" + strings.ToUpper(a), Job{}, "CI_COMMIT_SHA is"},
		{"more behind it", "CI_COMMIT_SHA=" + a + "\n", Job{}, "CI_COMMIT_SHA is"},
		{"nothing", "", Job{}, `CI_COMMIT_SHA is ""`},
		{"no default branch", "CI_COMMIT_SHA=" + a, Job{}, "nor CI_DEFAULT_BRANCH"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			env := map[string]string{}
			for word := range strings.SplitSeq(tt.env, " ") {
				name, value, _ := strings.Cut(word, "=")
				env[name] = value
			}
			got, err := ReadJob(func(name string) string { return env[name] })
			if tt.failure != "" {
				if err == nil || !strings.Contains(err.Error(), tt.failure) {
					t.Errorf("got %v, want an error with %q", err, tt.failure)
				}
				return
			}
			if err != nil || got != tt.want {
				t.Errorf("got %+v, %v, want %+v", got, err, tt.want)
			}
		})
	}
}

func TestReadMergeRequest(t *testing.T) {
	own := map[string]string{"GITLAB_CI": "true", "CI_MERGE_REQUEST_IID": "7",
		"CI_MERGE_REQUEST_PROJECT_PATH": "shop/data", "CI_COMMIT_SHA": "head", "CI_MERGE_REQUEST_EVENT_TYPE": "detached",
		"CI_PIPELINE_ID": "9"}
	with := func(more map[string]string) map[string]string {
		out := maps.Clone(own)
		maps.Copy(out, more)
		return out
	}
	for _, tt := range []struct {
		name string
		env  map[string]string
		want *plan.MergeRequest
	}{
		{"its own pipeline", own, &plan.MergeRequest{Name: "shop/data!7", Pipeline: 9, Commit: "head"}},
		{"merged results",
			with(map[string]string{"CI_MERGE_REQUEST_SOURCE_BRANCH_SHA": "source",
				"CI_MERGE_REQUEST_EVENT_TYPE": "merged_result"}), &plan.MergeRequest{Name: "shop/data!7", Pipeline: 9,
				Commit: "source"}},
		{"a merge train",
			with(map[string]string{"CI_MERGE_REQUEST_SOURCE_BRANCH_SHA": "source",
				"CI_MERGE_REQUEST_EVENT_TYPE": "merge_train"}), &plan.MergeRequest{Name: "shop/data!7", Pipeline: 9,
				Commit: "source", InTrain: true}},
		{"a train that names no source",
			with(map[string]string{"CI_MERGE_REQUEST_EVENT_TYPE": "merge_train", "CI_PIPELINE_ID": "x"}),
			&plan.MergeRequest{Name: "shop/data!7", InTrain: true}},
		{"a branch", with(map[string]string{"CI_MERGE_REQUEST_IID": ""}), nil},
		{"no job", with(map[string]string{"GITLAB_CI": ""}), nil},
	} {
		if got := ReadMergeRequest(func(name string) string { return tt.env[name] }); !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s: got %+v, want %+v", tt.name, got, tt.want)
		}
	}
	if got := ReadMergeRequest(nil); got != nil {
		t.Errorf("without variables: got %+v", got)
	}
}

func TestCIFile(t *testing.T) {
	for value, want := range map[string]string{
		"": "", "ci/own.yml": "ci/own.yml", "./ci/../own.yml": "own.yml", "/own.yml": "own.yml",
		"ci.yml@group/project": "", "https://example.org/ci.yml": "",
	} {
		if got := CIFile(func(string) string { return value }); got != want {
			t.Errorf("%q: got %q, want %q", value, got, want)
		}
	}
}
