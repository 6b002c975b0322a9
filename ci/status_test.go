package ci

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"unicode/utf8"

	"github.com/app-sre/prcheck/doubles/gitlabtest"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/report"
)

var commit = Commit{Project: gitlabtest.Project, Pipeline: gitlabtest.Pipeline, SHA: gitlabtest.SHA}

// results returns a plan and its results. Each word is an integration with the statuses of
// its tasks.
func results(words map[string][]plan.Status) (*plan.Plan, *plan.Results) {
	p, r := &plan.Plan{}, &plan.Results{}
	for name, statuses := range words {
		p.Integrations = append(p.Integrations, plan.Decision{Name: name})
		for i, status := range statuses {
			id := fmt.Sprint(name, "/", i)
			p.Tasks = append(p.Tasks, plan.Task{ID: id, Integration: name})
			if status != "" {
				r.Results = append(r.Results, plan.Result{Task: id, Status: status})
			}
		}
	}
	slices.SortFunc(p.Integrations, func(a, b plan.Decision) int { return strings.Compare(a.Name, b.Name) })
	return p, r
}

func TestStates(t *testing.T) {
	p, r := results(map[string][]plan.Status{
		"a-passed":   {plan.Passed, plan.Passed},
		"b-failed":   {plan.Passed, plan.Failed, plan.Canceled},
		"c-late":     {plan.TimedOut},
		"d-canceled": {plan.Canceled, plan.Passed},
		"e-not-run":  {plan.NotRun},
		"f-missing":  {""},
		"g-skipped":  nil,
	})
	want := []CommitStatus{
		{"x/a-passed", Success, "2 tasks passed", ""},
		{"x/b-failed", Failed, "2 of 3 tasks did not pass", ""},
		{"x/c-late", Failed, "1 of 1 tasks did not pass", ""},
		{"x/d-canceled", Canceled, "1 of 2 tasks did not pass", ""},
		{"x/e-not-run", Failed, "1 of 1 tasks did not pass", ""},
		{"x/f-missing", Failed, "1 of 1 tasks did not pass", ""},
	}
	if got := IntegrationStatuses("x", p, r); !slices.Equal(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	for _, tt := range []struct {
		statuses []plan.Status
		want     CommitStatus
	}{
		{nil, CommitStatus{"x", Success, "nothing to run", ""}},
		{[]plan.Status{plan.Passed}, CommitStatus{"x", Success, "1 tasks passed", ""}},
		{[]plan.Status{plan.Passed, plan.Canceled}, CommitStatus{"x", Canceled, "1 of 2 tasks did not pass", ""}},
		{[]plan.Status{plan.NotRun, plan.Canceled}, CommitStatus{"x", Failed, "2 of 2 tasks did not pass", ""}},
	} {
		_, r := results(map[string][]plan.Status{"a": tt.statuses})
		if got := OverallStatus("x", r); got != tt.want {
			t.Errorf("got %+v, want %+v", got, tt.want)
		}
	}
}

// A check without an answer is red and says why; a single task that is broken on base
// is green and says that nothing was checked.
func TestStatusNotChecked(t *testing.T) {
	onBase := plan.Result{Task: "a", Status: plan.Failed, Class: plan.ClassBaseline, Tail: "ImportError: x"}
	for want, results := range map[CommitStatus][]plan.Result{
		{"x", Success, "not checked: 1 broken on base already", ""}: {
			onBase},
		{"x", Failed, "not checked: no task passed, and 2 fail the same way on base; all of them say: ImportError: x", ""}: {
			onBase, onBase},
		{"x", Success, "1 tasks passed, 1 broken on base already", ""}: {onBase, {Status: plan.Passed}},
	} {
		if got := OverallStatus("x", &plan.Results{Results: results}); got != want {
			t.Errorf("got %+v, want %+v", got, want)
		}
	}
}

func shown1(s *gitlabtest.Server) []string {
	var out []string
	for _, status := range s.Statuses() {
		out = append(out, fmt.Sprintf("%s %s by %d", status.Name, status.State, status.Author))
	}
	slices.Sort(out)
	return out
}

// SetStatuses sets the given statuses and updates those of an earlier plan. It does not
// change statuses of others.
func TestSetStatuses(t *testing.T) {
	s := server(t)
	for _, old := range []gitlabtest.Status{
		{Name: "x/gone", State: "failed", Author: gitlabtest.Bot, Pipeline: gitlabtest.Pipeline},
		{Name: "x/gone-green", State: "success", Author: gitlabtest.Bot, Pipeline: gitlabtest.Pipeline},
		{Name: "x/a", State: "failed", Author: gitlabtest.Bot, Pipeline: gitlabtest.Pipeline},
		{Name: "x/theirs", State: "failed", Author: gitlabtest.Human, Pipeline: gitlabtest.Pipeline},
		{Name: "x/newer", State: "failed", Author: gitlabtest.Bot, Pipeline: gitlabtest.Pipeline + 1},
		{Name: "xy/other", State: "failed", Author: gitlabtest.Bot, Pipeline: gitlabtest.Pipeline},
	} {
		s.AddStatus(old)
	}
	err := client(t, memory{s}).SetStatuses(t.Context(), commit, CommitStatus{Name: "x", State: Failed},
		[]CommitStatus{{Name: "x/a", State: Success}, {Name: "x/b", State: Failed}})
	want := []string{"x failed by 42", "x/a success by 42", "x/b failed by 42", "x/gone success by 42",
		"x/gone-green success by 42",
		"x/newer failed by 42", "x/theirs failed by 5", "xy/other failed by 42"}
	if got := shown1(s); err != nil || !slices.Equal(got, want) {
		t.Errorf("got  %q, %v\nwant %q", got, err, want)
	}
	if all := s.Requests(); !strings.Contains(all[len(all)-1], "POST") || s.Statuses()[len(s.Statuses())-1].Name != "x" {
		t.Errorf("the overall status is not the last: %q", all)
	}
}

// The number of statuses is limited, and those that correct a wrong status come first.
func TestSetStatusesLimits(t *testing.T) {
	s := server(t)
	s.AddStatus(gitlabtest.Status{Name: "x/999", State: "failed", Author: gitlabtest.Bot, Pipeline: gitlabtest.Pipeline})
	s.AddStatus(gitlabtest.Status{Name: "x/gone", State: "failed", Author: gitlabtest.Bot, Pipeline: gitlabtest.Pipeline})
	var each []CommitStatus
	for i := range 1000 {
		each = append(each, CommitStatus{Name: fmt.Sprintf("x/%03d", i), State: Success})
	}
	each[500].State = Failed
	if err := client(t, memory{s}).SetStatuses(t.Context(), commit, CommitStatus{Name: "x", State: Failed},
		each); err != nil {
		t.Fatal(err)
	}
	got := shown1(s)
	for _, want := range []string{"x failed by 42", "x/999 success by 42", "x/gone success by 42", "x/500 failed by 42",
		"x/000 success by 42"} {
		if !slices.Contains(got, want) {
			t.Errorf("%q is missing", want)
		}
	}
	if len(got) != MaxStatuses || len(writes(s)) != MaxStatuses {
		t.Errorf("got %d statuses by %d requests, want %d", len(got), len(writes(s)), MaxStatuses)
	}
}

// Long texts are cut between code points and stay different. A long address is left out.
func TestStatusTexts(t *testing.T) {
	s := server(t)
	long := strings.Repeat("ü", 300)
	err := client(t, memory{s}).SetStatuses(t.Context(), commit,
		CommitStatus{Name: "x", State: Success, Description: long + secret, TargetURL: "https://x.test/" + long},
		[]CommitStatus{{Name: "x/" + long + "1", State: Success, Description: secret},
			{Name: "x/" + long + "2", State: Success}})
	got := s.Statuses()
	if err != nil || len(got) != 3 || got[0].Name == got[1].Name || got[2].TargetURL != "" || got[0].Description != "***" {
		t.Fatalf("got %+v, %v", got, err)
	}
	for _, text := range []string{got[0].Name, got[1].Name, got[2].Description} {
		if n := utf8.RuneCountInString(text); n != 255 || !utf8.ValidString(text) {
			t.Errorf("got %d characters: %q", n, text)
		}
	}
}

// A status that cannot be set is an error, and the overall status is set all the same.
func TestSetStatusesFaults(t *testing.T) {
	tests := []struct {
		name  string
		fault func(n int, r *http.Request) gitlabtest.Fault
		want  []string
		err   string
	}{
		{"passing", func(n int, _ *http.Request) gitlabtest.Fault {
			return gitlabtest.Fault{Status: []int{0, 409, 0, 503}[n%4], Drop: n%4 == 2}
		}, []string{"x success by 42", "x/a failed by 42"}, ""},
		{"reading is refused", func(_ int, r *http.Request) gitlabtest.Fault {
			return gitlabtest.Fault{Status: map[string]int{"GET": 403}[r.Method], Undone: r.Method == "GET"}
		}, []string{"x success by 42"},
			"the statuses of integrations: asking for the user of the token: status 403 Forbidden (this takes a token with scope api in PRCHECK_GITLAB_TOKEN, of a member of the project who may do it)"},
		{"setting is refused", func(_ int, r *http.Request) gitlabtest.Fault {
			return gitlabtest.Fault{Status: map[string]int{"POST": 400}[r.Method], Undone: r.Method == "POST",
				Body: `{"message":{"name":["is odd"]}}`}
		}, nil,
			"the statuses of integrations: \"x/a\": status 400 Bad Request: {message: {name: [is odd]}}\nthe status \"x\": status 400 Bad Request: {message: {name: [is odd]}}"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := server(t)
				s.Fault = tt.fault
				err := client(t, memory{s}).SetStatuses(t.Context(), commit, CommitStatus{Name: "x", State: Success},
					[]CommitStatus{{Name: "x/a", State: Failed}})
				if got := shown1(s); errorText(err) != tt.err || !slices.Equal(got, tt.want) {
					t.Errorf("got  %q, %v\nwant %q, %s", got, err, tt.want, tt.err)
				}
			})
		})
	}
}

// TestStatusWithEffects checks that the numbers of effects are never cut.
func TestStatusWithEffects(t *testing.T) {
	e := report.AllEffects{Summary: "3 to create, 1 to delete"}
	for _, c := range []struct{ name, description, want string }{
		{"short", "2 tasks passed", "2 tasks passed; 3 to create, 1 to delete"},
		{"long", strings.Repeat("é", 300), strings.Repeat("é", 228) + "…; 3 to create, 1 to delete"},
	} {
		got := CommitStatus{Description: c.description}.WithEffects(e).Description
		if got != c.want || len([]rune(got)) > maxField {
			t.Errorf("%s: got %q (%d characters), want %q", c.name, got, len([]rune(got)), c.want)
		}
	}
	if got := (CommitStatus{Description: "x"}).WithEffects(report.AllEffects{}); got.Description != "x" {
		t.Errorf("nobody looked: got %q", got.Description)
	}
}
