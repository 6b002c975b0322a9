package ci

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/app-sre/prcheck/doubles/gitlabtest"
	"github.com/app-sre/prcheck/integration/services"
)

const promotionBranch = "saas-promotion/0a96e05cdeaf"

// forge returns a forge of a repository with the files a.yml and b.yml.
func forge(t *testing.T, set func(*gitlabtest.Repository)) (*Forge, *gitlabtest.Repository, *gitlabtest.Server) {
	t.Helper()
	s := server(t)
	s.Repository = gitlabtest.NewRepository(t, map[string]string{"data/a.yml": "a: 1\r\n", "data/b.yml": "b: é"})
	if set != nil {
		set(s.Repository)
	}
	f, err := NewForge(Options{API: "https://gitlab.test/api/v4", Token: Token{Value: secret}, Transport: memory{s}},
		gitlabtest.ProjectPath)
	if err != nil {
		t.Fatal(err)
	}
	return f, s.Repository, s
}

// promote commits other files to the branch of the tests.
func promote(t *testing.T, f *Forge, contents map[string]string) (string, error) {
	t.Helper()
	heads, err := f.Branches(t.Context(), promotionBranch)
	if err != nil {
		t.Fatal(err)
	}
	c := services.ForgeCommit{Branch: promotionBranch, Was: heads[promotionBranch], Start: "main", Message: "promote"}
	for path, text := range contents {
		is, err := f.File(t.Context(), "main", path)
		if err != nil {
			t.Fatal(err)
		}
		c.Changes = append(c.Changes, services.FileChange{Path: path, Content: []byte(text), Version: is.Version})
	}
	return f.Commit(t.Context(), c)
}

func TestForge(t *testing.T) {
	f, repo, _ := forge(t, func(r *gitlabtest.Repository) { r.Pipelines = true })
	sha, err := promote(t, f, map[string]string{"data/a.yml": "a: 2\r\n", "data/b.yml": "b: ü"})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := f.Branches(t.Context(), "saas-promotion/"); err != nil ||
		fmt.Sprint(got) != fmt.Sprint(map[string]string{promotionBranch: sha}) {
		t.Errorf("branches: got %v, %v", got, err)
	}
	if got, err := f.File(t.Context(), promotionBranch, "data/a.yml"); err != nil || string(got.Content) != "a: 2\r\n" ||
		got.Version != sha {
		t.Errorf("file: got %q of %s, %v", got.Content, got.Version, err)
	}
	if _, err := f.File(t.Context(), "main", "data/c.yml"); !errors.Is(err, services.ErrNotThere) {
		t.Errorf("no file: got %v", err)
	}
	text := services.MergeText{Branch: promotionBranch, Target: "main", Title: "promote", Description: "d",
		Labels: []string{"bot", "auto"}}
	number, err := f.Open(t.Context(), text)
	if err != nil {
		t.Fatal(err)
	}
	m := theOnly(t, f)
	if m.Number != number || m.Branch != promotionBranch || m.Head != sha || m.State != services.MergeOpen ||
		m.Description != "d" || m.Checks != services.ChecksRunning || m.Armed || m.Opened.IsZero() ||
		!slices.Equal(m.Labels, []string{"auto", "bot"}) {
		t.Errorf("got %+v", m)
	}
	for range 2 { // the second time it is armed
		if err := f.Arm(t.Context(), number, sha); err != nil {
			t.Error(err)
		}
	}
	if m = theOnly(t, f); !m.Armed {
		t.Errorf("got %+v", m)
	}
	if err := f.Arm(t.Context(), number, gitlabtest.SHA); err == nil {
		t.Error("another head was armed")
	}
	text.Title = "promote more"
	if err := errors.Join(f.Describe(t.Context(), number, text), f.Note(t.Context(), number, "a note"),
		f.Note(t.Context(), number, "/merge")); err != nil {
		t.Error(err)
	}
	if err := f.Close(t.Context(), number); err != nil {
		t.Error(err)
	}
	past, err := f.Past(t.Context(), promotionBranch)
	if err != nil || len(past) != 1 || past[0].State != services.MergeClosed || !past[0].ClosedByUs ||
		past[0].Title != "promote more" {
		t.Errorf("past: got %+v, %v", past, err)
	}
	for range 2 { // the second time it is gone
		if err := f.DeleteBranch(t.Context(), promotionBranch, sha); err != nil {
			t.Error(err)
		}
	}
	if repo.Head(promotionBranch) != "" {
		t.Error("the branch is there")
	}
}

// A forge tells what people wrote, in order, and who approved and who closed.
func TestForgeListens(t *testing.T) {
	f, repo, _ := forge(t, nil)
	if _, err := promote(t, f, map[string]string{"data/a.yml": "a: 2\r\n"}); err != nil {
		t.Fatal(err)
	}
	number, err := f.Open(t.Context(), services.MergeText{Branch: promotionBranch, Target: "main", Title: "promote"})
	if err != nil {
		t.Fatal(err)
	}
	if theOnly(t, f).Approved {
		t.Error("nobody approved it")
	}
	at := time.Date(2026, 6, 1, 8, 0, 0, 0, time.UTC)
	for _, n := range []gitlabtest.Note{
		{ID: 900, Author: gitlabtest.Human, Body: "second", At: at.Add(time.Hour), EditedAt: at.Add(2 * time.Hour)},
		{ID: 800, Author: gitlabtest.Human, Body: "first", At: at}, {ID: 950, Author: gitlabtest.Bot, Body: "ours", At: at},
		{ID: 960, Author: gitlabtest.Human, Body: "approved", At: at, System: true},
	} {
		if err := repo.AddNote(number, n); err != nil {
			t.Fatal(err)
		}
	}
	said, err := f.Said(t.Context(), number)
	if want := []services.Said{{ID: 800, By: "jane", Body: "first", At: at},
		{ID: 900, By: "jane", Body: "second", At: at.Add(time.Hour), Edited: true}}; err != nil || !slices.Equal(said, want) {
		t.Errorf("got %+v, %v", said, err)
	}
	if err := repo.Approve(number, gitlabtest.Jane); err != nil || !theOnly(t, f).Approved {
		t.Errorf("it is not approved: %v", err)
	}
	if err := repo.Close(number, gitlabtest.Jane); err != nil {
		t.Fatal(err)
	}
	past, err := f.Past(t.Context(), promotionBranch)
	if err != nil || len(past) != 1 || past[0].ClosedBy != "jane" || past[0].ClosedByUs || past[0].Closed.IsZero() {
		t.Errorf("past: got %+v, %v", past, err)
	}
}

// theOnly returns the only open merge request.
func theOnly(t *testing.T, f *Forge) services.MergeRequest {
	t.Helper()
	all, err := f.MergeRequests(t.Context(), "saas-promotion/")
	if err != nil || len(all) != 1 {
		t.Fatalf("got %+v, %v", all, err)
	}
	return all[0]
}

func TestForgeAhead(t *testing.T) {
	f, repo, _ := forge(t, nil)
	ours, err := promote(t, f, map[string]string{"data/a.yml": "a: 2\r\n"})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := f.Ahead(t.Context(), "main",
		promotionBranch); err != nil || len(got.Commits) != 1 || got.Commits[0].ID != ours ||
		got.Commits[0].Message != "promote\n" && got.Commits[0].Message != "promote" ||
		!slices.Equal(got.Paths, []string{"data/a.yml"}) {
		t.Errorf("ours: got %+v, %v", got, err)
	}
	theirs, err := repo.Commit(gitlabtest.Change{By: gitlabtest.Jane, Branch: promotionBranch, Message: "by hand",
		Files: map[string]string{"data/b.yml": "b: 3"}})
	if err != nil {
		t.Fatal(err)
	}
	got, err := f.Ahead(t.Context(), "main", promotionBranch)
	if err != nil || len(got.Commits) != 2 || got.Commits[0].ID != theirs ||
		!slices.Equal(got.Commits[0].Parents, []string{ours}) ||
		!slices.Equal(got.Paths, []string{"data/a.yml", "data/b.yml"}) {
		t.Errorf("theirs: got %+v, %v", got, err)
	}
}

func TestForgeRefusesFilesThatMoved(t *testing.T) {
	f, repo, _ := forge(t, nil)
	is, err := f.File(t.Context(), "main", "data/a.yml")
	if err != nil {
		t.Fatal(err)
	}
	c := services.ForgeCommit{Branch: promotionBranch, Start: "main", Message: "promote",
		Changes: []services.FileChange{{Path: "data/a.yml", Content: []byte("a: 2"), Version: is.Version}}}
	change := gitlabtest.Change{By: gitlabtest.Jane, Branch: "main", Message: "by hand",
		Files: map[string]string{"data/a.yml": "a: 7"}}
	if _, err := repo.Commit(change); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Commit(t.Context(), c); !errors.Is(err, services.ErrMoved) {
		t.Errorf("a file that changed: got %v", err)
	}
	change.Files, change.Remove = nil, []string{"data/a.yml"}
	if _, err := repo.Commit(change); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Commit(t.Context(), c); !errors.Is(err, services.ErrMoved) {
		t.Errorf("a file that is gone: got %v", err)
	}
	if c.Branch = "main"; repo.Head(promotionBranch) != "" {
		t.Error("a branch was made")
	}
	if _, err := f.Commit(t.Context(), c); err == nil {
		t.Error("main was written")
	}
}

func TestForgeLeavesOthersAlone(t *testing.T) {
	f, repo, _ := forge(t, nil)
	for _, by := range []string{"feature", "saas-promotion-of-jane"} {
		if _, err := repo.Commit(gitlabtest.Change{By: gitlabtest.Jane, Branch: by, Message: "by hand",
			Files: map[string]string{"data/a.yml": by}}); err != nil {
			t.Fatal(err)
		}
		if _, err := f.Open(t.Context(), services.MergeText{Branch: by, Target: "main", Title: by,
			Labels: []string{"saas-promotion"}}); err != nil {
			t.Fatal(err)
		}
	}
	if all, err := f.MergeRequests(t.Context(), "saas-promotion/"); err != nil || len(all) != 0 {
		t.Errorf("got %+v, %v", all, err)
	}
}

func TestForgeRepeatsWhatDoesNoHarm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, repo, s := forge(t, nil)
		sha, err := promote(t, f, map[string]string{"data/a.yml": "a: 2"})
		if err != nil {
			t.Fatal(err)
		}
		before := len(s.Requests())
		s.Fault = func(n int, _ *http.Request) gitlabtest.Fault {
			switch n - before {
			case 1, 3, 5:
				return gitlabtest.Fault{Status: http.StatusBadGateway, Body: "proxy " + secret, Undone: true}
			case 4:
				return gitlabtest.Fault{Status: http.StatusTooManyRequests, Undone: true}
			}
			return gitlabtest.Fault{}
		}
		if got, err := f.Branches(t.Context(), "saas-promotion/"); err != nil || len(got) != 1 {
			t.Errorf("reading: got %v, %v", got, err)
		}
		if _, err := f.Open(t.Context(), services.MergeText{Branch: promotionBranch, Target: "main",
			Title: "t"}); err == nil || strings.Contains(err.Error(), secret) || len(repo.MergeRequests()) > 0 {
			t.Errorf("a write that may have been carried out was sent again: %v", err)
		}
		if err := f.DeleteBranch(t.Context(), promotionBranch, sha); err != nil || repo.Head(promotionBranch) != "" {
			t.Errorf("what harms nothing twice was not sent again: %v", err)
		}
	})
}

func TestNewForge(t *testing.T) {
	for _, project := range []string{"", "/group/project", "group/", "17"} {
		if _, err := NewForge(Options{API: "https://gitlab.test/api/v4", Token: Token{Value: secret}}, project); err == nil {
			t.Errorf("%q is no project", project)
		}
	}
}
