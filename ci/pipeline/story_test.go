package pipeline_test

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/app-sre/prcheck/doubles/gitlabtest"
	"github.com/app-sre/prcheck/internal/script"
)

// A stage takes the place of GitLab for one merge request: it runs the scripts of the
// template and of the child pipelines in shallow clones, passes artifacts on, and has an
// API.
type stage struct {
	*testing.T
	bin, repo string
	server    *gitlabtest.Server
	env       map[string]string // of all jobs
	jobs      int
}

// A step holds the keywords of a job that the test uses.
type step struct {
	Script    []string
	Variables map[string]string
	Parallel  int
	Artifacts struct {
		When  string
		Paths []string
	}
}

// A ran is the outcome of a job.
type ran struct {
	code  int
	log   string
	files map[string]string // its artifacts
}

const token = "glpat-story-0123456789"

func newStage(t *testing.T) *stage {
	s := &stage{T: t, bin: t.TempDir(), repo: t.TempDir(),
		server: &gitlabtest.Server{Token: token, Pipelines: map[int]string{}}}
	real := script.Programs(t)
	if err := os.Symlink(real+"/planner", s.bin+"/planner"); err != nil {
		t.Fatal(err)
	}
	// The variables of the template, without the long wait for other pipelines.
	s.program("runner", `[ "$1" = comment ] || exec `+real+`/runner "$@"`+"\n"+
		"shift\nexec "+real+`/runner comment --settle 10ms "$@"`)
	// It fails on head alone. On base, base has a name of its own, see bundle.Apart.
	s.program("check",
		`apart=$(printf 'base, apart from head: %s' "$3" | sha256sum | cut -d ' ' -f 1); if [ "$2" != "$apart" ] && grep -qx "$1" `+s.bin+"/failing; then echo \"$1: user bob has no role\" >&2; exit 1; fi; echo \"$1: 0 changes\"")
	api := httptest.NewServer(s.server)
	t.Cleanup(func() {
		api.Close()
		for _, wrong := range s.server.Wrong() {
			t.Error(wrong)
		}
	})
	s.env = map[string]string{
		"PATH": s.bin + string(os.PathListSeparator) + os.Getenv("PATH"), "HOME": t.TempDir(), "GIT_CONFIG_NOSYSTEM": "1",
		"CI": "true", "GITLAB_CI": "true",
		"GIT_AUTHOR_NAME": "ana", "GIT_AUTHOR_EMAIL": "ana@example.org", "GIT_COMMITTER_NAME": "ana",
		"GIT_COMMITTER_EMAIL": "ana@example.org",
		"CI_API_V4_URL":       api.URL + "/api/v4", "CI_PROJECT_ID": "7", "CI_DEFAULT_BRANCH": "main",
		"CI_MERGE_REQUEST_PROJECT_ID": "7", "CI_MERGE_REQUEST_SOURCE_PROJECT_ID": "7", "CI_MERGE_REQUEST_IID": "12",
		"CI_COMMIT_BEFORE_SHA": strings.Repeat("0", 40), "PRCHECK_GITLAB_TOKEN": token, "PRCHECK_PARTS": "3",
	}
	return s
}

// program puts a shell script into the PATH of the jobs.
func (s *stage) program(name, text string) {
	if err := os.WriteFile(filepath.Join(s.bin, name), []byte("#!/bin/sh\n"+text+"\n"), 0o700); err != nil { //nolint:gosec // it is run
		s.Fatal(err)
	}
}

// command runs a command in a folder and returns its output and exit code.
func (s *stage) command(dir string, env map[string]string, argv ...string) (string, int) {
	s.Helper()
	cmd := exec.CommandContext(s.Context(), argv[0], argv[1:]...) //nolint:gosec // the test's own
	cmd.Dir = dir
	for name, value := range env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	out, err := cmd.CombinedOutput()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		s.Fatal(err)
	}
	return string(out), cmd.ProcessState.ExitCode()
}

// git runs git in the repository.
func (s *stage) git(args ...string) string {
	s.Helper()
	out, code := s.command(s.repo, s.env, append([]string{"git"}, args...)...)
	if code != 0 {
		s.Fatalf("git %s: %s", args, out)
	}
	return strings.TrimSpace(out)
}

// commit writes files and commits all.
func (s *stage) commit(files map[string]string) string {
	s.Helper()
	for name, text := range files {
		s.write(s.repo, name, text)
	}
	s.git("add", "-A")
	s.git("commit", "-q", "-m", "change")
	return s.git("rev-parse", "HEAD")
}

func (s *stage) write(dir, name, text string) {
	s.Helper()
	name = filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(name), 0o750); err != nil {
		s.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		s.Fatal(err)
	}
}

// run runs a job in a clone with artifacts.
func (s *stage) run(j step, env map[string]string, from ...ran) ran {
	s.Helper()
	dir := s.TempDir()
	s.jobs++
	all := maps.Clone(s.env)
	maps.Copy(all, env)
	maps.Copy(all, j.Variables)
	all["CI_JOB_URL"] = fmt.Sprintf("https://gitlab.example.com/shop/data/-/jobs/%d", s.jobs)
	if out, code := s.command(dir, all, "git", "clone", "-q", "--depth", "1", "--branch", "feature", "file://"+s.repo,
		"."); code != 0 {
		s.Fatal(out)
	}
	for _, other := range from {
		for name, text := range other.files {
			s.write(dir, name, text)
		}
	}
	out := ran{files: map[string]string{}}
	out.log, out.code = s.command(dir, all, "sh", "-e", "-c", strings.Join(j.Script, "\n"))
	if out.code != 0 && j.Artifacts.When != "always" {
		return out
	}
	for _, name := range j.Artifacts.Paths {
		_ = filepath.WalkDir(filepath.Join(dir, name), func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() {
				raw, _ := os.ReadFile(path)
				rel, _ := filepath.Rel(dir, path)
				out.files[filepath.ToSlash(rel)] = string(raw)
			}
			return nil
		})
	}
	return out
}

// jobsOf reads the jobs of a pipeline.
func (s *stage) jobsOf(text string) map[string]step {
	s.Helper()
	var nodes map[string]yaml.Node
	if err := yaml.Unmarshal([]byte(text), &nodes); err != nil {
		s.Fatal(err)
	}
	jobs := map[string]step{}
	for name, node := range nodes {
		var j step
		if strings.HasPrefix(name, "prcheck-") && node.Decode(&j) == nil {
			jobs[name] = j
		}
	}
	return jobs
}

// A flow is one pipeline that ran.
type flow struct {
	plan, child, report ran
	parts               []ran
	env                 map[string]string
}

// pipeline runs the whole pipeline of the commit, like one of a merge request.
func (s *stage) pipeline(id int, env map[string]string) flow {
	s.Helper()
	parent := s.template()
	sha := s.git("rev-parse", "HEAD")
	s.server.Pipelines[id] = sha
	f := flow{env: map[string]string{
		"CI_PIPELINE_ID":  fmt.Sprint(id),
		"CI_PIPELINE_URL": fmt.Sprintf("https://gitlab.example.com/shop/data/-/pipelines/%d", id),
		"CI_COMMIT_SHA":   sha, "CI_MERGE_REQUEST_DIFF_BASE_SHA": s.git("rev-parse", "main"),
	}}
	maps.Copy(f.env, env)
	if f.plan = s.run(parent["prcheck-plan"], f.env); f.plan.code == 0 {
		made := s.run(parent["prcheck-pipeline"], f.env, f.plan)
		if made.code != 0 {
			s.Fatal(made.log)
		}
		s.children(&f, id+1, s.jobsOf(made.files["prcheck-child.yml"]))
		s.server.AddJob(gitlabtest.Job{ID: id * 100, Pipeline: id, Child: id + 1, Name: "prcheck-checks", Status: "success"})
	}
	f.report = s.run(parent["prcheck-report"], f.env, f.plan)
	return f
}

// children runs the child pipeline.
func (s *stage) children(f *flow, id int, jobs map[string]step) {
	s.Helper()
	env := maps.Clone(f.env)
	env["CI_PIPELINE_ID"], env["PRCHECK_GENERATION"] = fmt.Sprint(id), f.env["CI_PIPELINE_ID"]
	inputs := s.run(jobs["prcheck-inputs"], env, f.plan)
	f.parts = append(f.parts, inputs)
	for _, name := range slices.Sorted(maps.Keys(jobs)) {
		if !strings.HasPrefix(name, "prcheck-part") && name != "prcheck-nothing" {
			continue
		}
		for i := range max(jobs[name].Parallel, 1) {
			env["CI_NODE_INDEX"] = fmt.Sprint(i + 1)
			part := s.run(jobs[name], env, inputs)
			s.server.AddJob(gitlabtest.Job{ID: id*100 + len(f.parts), Pipeline: id, Name: fmt.Sprint(name, " ", i+1),
				Status: "success", Archive: s.zip(part.files)})
			f.parts = append(f.parts, part)
		}
	}
	f.child = s.run(jobs["prcheck-report"], env, f.parts...)
}

func (s *stage) zip(files map[string]string) []byte {
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	for name, text := range files {
		w, err := z.Create(name)
		if err != nil {
			s.Fatal(err)
		}
		if _, err := w.Write([]byte(text)); err != nil {
			s.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		s.Fatal(err)
	}
	return out.Bytes()
}

// note returns the only note of the merge request.
func (s *stage) note() string {
	s.Helper()
	notes := s.server.Notes("<!-- prcheck-note:prcheck ")
	if len(notes) != 1 {
		s.Fatalf("%d notes, want one", len(notes))
	}
	return notes[0].Body
}

// status returns the newest status.
func (s *stage) status() string {
	all := s.server.Statuses()
	last := all[len(all)-1]
	return fmt.Sprintf("%s of %d: %s, %s", last.Name, last.Pipeline, last.State, last.Description)
}

func (s *stage) failing(names ...string) { s.write(s.bin, "failing", strings.Join(names, "\n")+"\n") }

// has fails the test unless a text contains the given texts.
func (s *stage) has(text string, want ...string) {
	s.Helper()
	for _, part := range want {
		if !strings.Contains(text, part) {
			s.Errorf("%q is not in\n%s", part, text)
		}
	}
}
