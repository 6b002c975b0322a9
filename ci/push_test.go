package ci

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/app-sre/prcheck/doubles/gitlabtest"
	"github.com/app-sre/prcheck/integration/services"
)

// byHand commits to a branch as a person does.
func byHand(t *testing.T, repo *gitlabtest.Repository, branch string) string {
	t.Helper()
	id, err := repo.Commit(gitlabtest.Change{By: gitlabtest.Jane, Branch: branch, Message: "by hand",
		Files: map[string]string{"data/b.yml": "b: 3"}})
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// A commit that somebody pushed since the branch was read is never lost: git itself refuses, and
// the server of the tests as well when it answers without git.
func TestForgeLosesNoCommit(t *testing.T) {
	for _, byGit := range []int{0, 1} {
		f, repo, server := forge(t, func(r *gitlabtest.Repository) { r.AskGit = byGit })
		ours, err := promote(t, f, map[string]string{"data/a.yml": "a: 2"})
		if err != nil {
			t.Fatal(err)
		}
		c := services.ForgeCommit{Branch: promotionBranch, Was: ours, Start: "main", Message: "promote"}
		is, err := f.File(t.Context(), "main", "data/a.yml")
		if err != nil {
			t.Fatal(err)
		}
		c.Changes = []services.FileChange{{Path: "data/a.yml", Content: []byte("a: 3"), Version: is.Version}}
		theirs := byHand(t, repo, promotionBranch)
		if _, err := f.Commit(t.Context(), c); !errors.Is(err, services.ErrBranchMoved) ||
			repo.Head(promotionBranch) != theirs {
			t.Errorf("git %d: got %v, the head is %s, want %s", byGit, err, repo.Head(promotionBranch), theirs)
		}
		if err := f.DeleteBranch(t.Context(), promotionBranch, ours); !errors.Is(err, services.ErrBranchMoved) ||
			repo.Head(promotionBranch) != theirs {
			t.Errorf("git %d: deleted: %v", byGit, err)
		}
		first := c
		if first.Was = ""; true {
			if _, err := f.Commit(t.Context(), first); !errors.Is(err, services.ErrBranchMoved) ||
				repo.Head(promotionBranch) != theirs {
				t.Errorf("git %d: a branch that is there was made: %v", byGit, err)
			}
		}
		c.Was = theirs
		sha, err := f.Commit(t.Context(), c)
		if err != nil || repo.Head(promotionBranch) != sha ||
			fmt.Sprint(repo.Branches()) != fmt.Sprintf("[main %s]", promotionBranch) {
			t.Errorf("git %d: got %s, %v, branches %v", byGit, sha, err, repo.Branches())
		}
		if err := f.DeleteBranch(t.Context(), promotionBranch, sha); err != nil || repo.Head(promotionBranch) != "" {
			t.Errorf("git %d: not deleted: %v", byGit, err)
		}
		for _, line := range server.Requests() {
			if strings.Contains(line, secret) {
				t.Errorf("the token is in the address %s", line)
			}
		}
	}
}

// A push whose answer was lost is a success, since the branch is what it was to become.
func TestForgePushWithLostAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, repo, s := forge(t, nil)
		if _, err := promote(t, f, map[string]string{"data/a.yml": "a: 2"}); err != nil {
			t.Fatal(err)
		}
		lost := false
		lose := s.Repository
		f.git.client.Transport = lossy{f.git.client.Transport, &lost}
		sha, err := promote(t, f, map[string]string{"data/a.yml": "a: 3"})
		if err != nil || !lost || lose.Head(promotionBranch) != sha || repo.Head(promotionBranch) != sha {
			t.Errorf("got %s, %v, the head is %s", sha, err, repo.Head(promotionBranch))
		}
	})
}

// A lossy transport loses the first answer.
type lossy struct {
	http.RoundTripper
	lost *bool
}

func (l lossy) RoundTrip(req *http.Request) (*http.Response, error) {
	res, err := l.RoundTripper.RoundTrip(req)
	if err == nil && !*l.lost {
		*l.lost = true
		_ = res.Body.Close()
		return nil, os.ErrDeadlineExceeded
	}
	return res, err
}

// Answers to pushes that are none of git, and refusals of hooks, are told without the token.
func TestForgePushAnswers(t *testing.T) {
	const ref = "refs/heads/" + promotionBranch
	for answer, want := range map[string]string{
		packet("unpack ok\n") + packet("ng "+ref+" pre-receive hook declined "+secret+"\n") + "0000": "pre-receive hook " +
			"declined",
		packet("unpack index-pack abnormal exit\n") + "0000": "index-pack",
		"": "not that of git", "0000": "not that of git", "00": "not that of git", "fffe": "not that of git",
		"zzzz": "not that of git",
		"0001": "not that of git", "<html>" + secret: "not that of git",
		packet("ok refs/heads/main") + "0000": "not that of git",
		strings.Repeat("x", maxRefusal+2):     "larger",
	} {
		f, repo, s := forge(t, nil)
		sha, err := promote(t, f, map[string]string{"data/a.yml": "a: 2"})
		if err != nil {
			t.Fatal(err)
		}
		s.Fault = func(_ int, r *http.Request) gitlabtest.Fault {
			if strings.HasSuffix(r.URL.Path, "/git-receive-pack") {
				return gitlabtest.Fault{Status: http.StatusOK, Body: answer, Undone: true}
			}
			return gitlabtest.Fault{}
		}
		err = f.DeleteBranch(t.Context(), promotionBranch, sha)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), secret) ||
			repo.Head(promotionBranch) != sha {
			t.Errorf("%.60q: got %v", answer, err)
		}
	}
}

func FuzzReadReport(f *testing.F) {
	const ref = "refs/heads/x"
	f.Add([]byte(packet("unpack ok\n") + packet("ok "+ref+"\n") + "0000"))
	f.Add([]byte(packet("unpack ok\n") + packet("ng "+ref+" no\n") + "0000"))
	f.Fuzz(func(t *testing.T, answer []byte) {
		err := gitWriter{mask: func(s string) string { return s }}.readReport(answer, ref)
		if err == nil && !strings.Contains(string(answer), "ok "+ref) {
			t.Errorf("%q counts as success", answer)
		}
	})
}
