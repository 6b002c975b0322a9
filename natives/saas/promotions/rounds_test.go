package promotions

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/app-sre/prcheck/ci"
	"github.com/app-sre/prcheck/doubles/gitlabtest"
	"github.com/app-sre/prcheck/natives/saas/promotion"
)

var gitRounds = flag.Int("promotions.gitrounds", 15, "how many rounds are played over a git repository")

// A wire is a transport that calls a server without a network.
type wire struct{ http.Handler }

func (w wire) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Body != nil {
		raw, err := io.ReadAll(req.Body)
		if err != nil {
			return nil, err
		}
		req.Body = io.NopCloser(bytes.NewReader(raw))
	}
	rec := httptest.NewRecorder()
	w.ServeHTTP(rec, req)
	return rec.Result(), nil
}

// A gitStory is a story over a real git repository, behind the API of GitLab and our client of it.
type gitStory struct {
	*scene
	r        *rand.Rand
	repo     *gitlabtest.Repository
	server   *gitlabtest.Server
	lines    []string // that people wrote to main
	held     map[string]string
	conflict int // merge requests with conflicts, seen before a loop
}

func newGitStory(t *testing.T, seed uint64) *gitStory {
	s := &gitStory{scene: newScene(t, 3, 3), r: rand.New(rand.NewPCG(seed, 5)), held: map[string]string{}}
	s.own = ", auto_merge: true, patience: 1h"
	texts := map[string]string{"README.md": "read me\n"}
	for f := range s.files {
		texts[s.file(f)] = s.text("main", s.file(f))
	}
	s.repo = gitlabtest.NewRepository(t, texts)
	s.repo.Pipelines = true
	s.server = &gitlabtest.Server{Token: "token", Repository: s.repo}
	t.Cleanup(func() {
		for _, wrong := range s.server.Wrong() {
			t.Error(wrong)
		}
	})
	client, err := ci.NewForge(ci.Options{API: "https://gitlab.example.com/api/v4", Token: ci.Token{Value: "token"},
		Transport: wire{s.server}}, gitlabtest.ProjectPath)
	if err != nil {
		t.Fatal(err)
	}
	s.client = client
	s.text = func(ref, path string) string {
		text, _ := s.repo.File(ref, path)
		return text
	}
	return s
}

// edit lets a person commit a file.
func (s *gitStory) edit(branch, path, text string) string {
	s.t.Helper()
	id, err := s.repo.Commit(gitlabtest.Change{By: gitlabtest.Jane, Branch: branch, Message: "by hand",
		Files: map[string]string{path: text}})
	if err != nil {
		s.t.Fatal(err)
	}
	return id
}

// people let people do something.
func (s *gitStory) people() {
	path := s.file(s.r.IntN(s.files))
	text := s.text("main", path)
	note := fmt.Sprintf("# note %d of a person", len(s.lines))
	switch s.r.IntN(10) {
	case 0, 1, 2, 3: // a line anywhere
		lines := strings.SplitAfter(text, "\n")
		at := 1 + s.r.IntN(len(lines)-1)
		s.lines = append(s.lines, note)
		s.edit("main", path, strings.Join(lines[:at], "")+note+"\n"+strings.Join(lines[at:], ""))
	case 4, 5: // a comment in the line of a ref, so that there are conflicts
		all := refPattern.FindAllStringIndex(text, -1)
		i := all[s.r.IntN(len(all))][1]
		s.lines = append(s.lines, note)
		s.edit("main", path, text[:i]+" "+note+text[i:])
	case 6: // back to an older commit
		if refs := refPattern.FindStringSubmatch(text); s.r.IntN(6) == 0 {
			old := s.code[min(slices.Index(s.code, refs[1])+3, len(s.code)-1)]
			s.edit("main", path, strings.Replace(text, refs[1], old, 1))
		}
	case 7:
		s.edit("main", "README.md", note+"\n")
	}
	for _, m := range s.repo.OpenMergeRequests() {
		switch s.r.IntN(60) {
		case 0:
			if err := s.repo.Close(m.IID, gitlabtest.Jane); err != nil {
				s.t.Fatal(err)
			}
		case 1:
			s.held[m.Source] = s.edit(m.Source, "by-hand-"+fmt.Sprint(m.IID), note)
		case 2:
			req := httptest.NewRequest(http.MethodPut, fmt.Sprintf("/api/v4/projects/%d/merge_requests/%d/rebase",
				gitlabtest.Project, m.IID), nil)
			req.Header.Set("PRIVATE-TOKEN", "token")
			s.server.ServeHTTP(httptest.NewRecorder(), req)
		}
	}
}

// tidy lets people end what they began on our branches.
func (s *gitStory) tidy(all bool) {
	for branch, head := range s.held {
		if !all && s.r.IntN(8) > 0 {
			continue
		}
		if s.repo.Head(branch) == head {
			if err := s.client.DeleteBranch(s.t.Context(), branch, head); err != nil {
				s.t.Fatal(err)
			}
		}
		delete(s.held, branch)
	}
}

// checks let pipelines end.
func (s *gitStory) checks(good int) {
	for _, m := range s.repo.OpenMergeRequests() {
		if s.repo.PipelineOf(m.Head) == "running" || s.repo.PipelineOf(m.Head) == "pending" ||
			s.repo.PipelineOf(m.Head) == "created" {
			switch n := s.r.IntN(good); n {
			case 0:
				s.repo.EndPipeline(m.Head, "failed")
			case 1:
			default:
				s.repo.EndPipeline(m.Head, "success")
			}
		}
	}
}

// look fails the test if a law is broken.
func (s *gitStory) look(round int) {
	s.t.Helper()
	all := ""
	for f := range s.files {
		all += s.text("main", s.file(f))
	}
	for _, line := range s.lines {
		if !strings.Contains(all, line+"\n") && !strings.Contains(all, line+" ") {
			s.t.Fatalf("round %d: the line %q of a person is lost", round, line)
		}
	}
	for branch, head := range s.held {
		if is := s.repo.Head(branch); is != head && is != "" {
			s.t.Fatalf("round %d: the commit of a person on %s was overwritten", round, branch)
		}
	}
	for _, m := range s.repo.OpenMergeRequests() {
		if _, byPerson := s.held[m.Source]; strings.HasPrefix(m.Source, promotion.BranchPrefix) && !byPerson &&
			s.repo.Conflicts(m.IID) {
			s.t.Fatalf("round %d: !%d has conflicts after a loop", round, m.IID)
		}
	}
}

func (s *gitStory) gitLoop(round int) {
	s.t.Helper()
	for _, m := range s.repo.OpenMergeRequests() {
		if s.repo.Conflicts(m.IID) {
			s.conflict++
		}
	}
	s.repo.SetTime(s.now)
	if _, err := s.loop(); err != nil {
		s.t.Fatalf("round %d: %v\n%s", round, err, s.log.String())
	}
	s.look(round)
}

// TestRoundsOverGit plays people and promotions on the same files, over git and the API of GitLab.
// All promotions land, no line of a person is lost, no merge request has conflicts after a loop,
// and git says that the commits of promotions change nothing but values.
func TestRoundsOverGit(t *testing.T) {
	s := newGitStory(t, 1)
	for n := range *gitRounds {
		s.people()
		s.tidy(false)
		if s.r.IntN(4) == 0 {
			s.code = append([]string{sha(len(s.code) + 1)}, s.code...)
		}
		if f, i := s.r.IntN(s.files), s.r.IntN(s.size); s.r.IntN(3) > 0 {
			s.deploy(f, i, s.code[0], s.r.IntN(8) > 0)
		}
		s.checks(8)
		s.gitLoop(n)
	}
	s.tidy(true)
	s.code = append([]string{sha(len(s.code) + 1)}, s.code...)
	s.deployAll(s.code[0])
	want := slices.Repeat([]string{s.code[0]}, s.size)
	for n := range 60 {
		s.now = s.now.Add(2 * time.Hour)
		s.gitLoop(*gitRounds + n)
		for _, m := range s.repo.OpenMergeRequests() {
			s.repo.EndPipeline(m.Head, "success")
		}
	}
	for f := range s.files {
		if got := s.refs("main", f); !slices.Equal(got, want) {
			t.Errorf("saas file %d has %q, want %q\n%s", f, got, want, s.log.String())
		}
	}
	if open := s.repo.OpenMergeRequests(); len(open) > 0 {
		t.Errorf("%d merge requests are open", len(open))
	}
	s.tell()
}

// tell checks what git says about the commits of promotions, and prints the figures.
func (s *gitStory) tell() {
	s.t.Helper()
	commits, values := 0, 0
	var gone, come []string
	compare := func() {
		if !slices.Equal(gone, come) {
			s.t.Errorf("a promotion changes %q to %q", gone, come)
		}
		values += len(gone)
		gone, come = nil, nil
	}
	s.repo.Dir() // writes what is in memory
	for line := range strings.Lines(s.repo.Git(s.t, "log", "-p", "--no-merges", "--unified=0",
		"--author="+gitlabtest.TheBot.Email, "--format=tformat:commit", "main", "--", "data")) {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case line == "commit":
			compare()
			commits++
		case strings.HasPrefix(line, "---"), strings.HasPrefix(line, "+++"):
		case strings.HasPrefix(line, "-"):
			gone = append(gone, shaPattern.ReplaceAllString(line[1:], "sha"))
		case strings.HasPrefix(line, "+"):
			come = append(come, shaPattern.ReplaceAllString(line[1:], "sha"))
		}
	}
	compare()
	pushes, merged := 0, 0
	for _, m := range s.repo.MergeRequests() {
		if strings.HasPrefix(m.Source, promotion.BranchPrefix) {
			pushes += m.Pushes + 1
		}
		if m.State == "merged" {
			merged++
		}
	}
	if commits == 0 || values == 0 {
		s.t.Error("no promotion landed")
	}
	s.t.Logf("%d rounds: %d merge requests merged, %d values promoted, %d pushes (%.2f for each merge request), %d times people made a conflict, %d lines of people kept",
		*gitRounds, merged, values, pushes, float64(pushes)/float64(max(merged, 1)), s.conflict, len(s.lines))
}
