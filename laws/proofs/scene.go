package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/app-sre/prcheck/change"
	"github.com/app-sre/prcheck/internal/cli"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/queue"
	"github.com/app-sre/prcheck/queue/proving"
	"github.com/app-sre/prcheck/state"
	"github.com/app-sre/prcheck/state/files"
	"github.com/app-sre/prcheck/state/history"
)

// A scene is a merge request in a repository of its own, and what was merged since its pipeline ran.
type scene struct {
	dir          string // of the repository
	state, cache string
	base0, head0 *side
	base1, head1 *side
	names        []string // of the edits
	commits      map[string]string
}

// A tally counts what became of scenes and tasks.
type tally struct {
	scenes, conflicts, empty, proven int
	held, ran, needless              int // tasks; needless are those that ran and see the same
}

// newScene makes a scene in a folder.
func newScene(ctx context.Context, dir string, r *rand.Rand) (*scene, error) {
	s := &scene{dir: filepath.Join(dir, "repo"), state: filepath.Join(dir, "state"), cache: filepath.Join(dir, "cache"),
		commits: map[string]string{}}
	s.base0 = newSide(r)
	s.head0, s.base1 = s.base0.clone(), s.base0.clone()
	s.head1 = nil
	var mine []edit
	for range 1 + r.IntN(2) {
		e := newEdit(r, s.head0, true)
		e.do(s.head0)
		mine, s.names = append(mine, e), append(s.names, "mine: "+e.name)
	}
	for range r.IntN(4) {
		e := newEdit(r, s.base1, false)
		e.do(s.base1)
		s.names = append(s.names, "others: "+e.name)
	}
	s.head1 = s.base1.clone()
	for _, e := range mine {
		e.do(s.head1)
	}
	if err := os.MkdirAll(s.state, 0o700); err != nil {
		return nil, err
	}
	if err := s.git(ctx, nil, "init", "-q", "-b", "main", s.dir); err != nil {
		return nil, err
	}
	for _, step := range []struct {
		branch, from string
		of           *side
	}{{"base0", "", s.base0}, {"mine", "base0", s.head0}, {"base1", "base0", s.base1}} {
		if err := s.commit(ctx, step.branch, step.from, step.of); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// git runs git in the repository, and puts what it prints into out.
func (s *scene) git(ctx context.Context, out *string, args ...string) error {
	if args[0] != "init" {
		args = append([]string{"-C", s.dir, "-c", "user.name=x", "-c", "user.email=x@example.com"}, args...)
	}
	raw, err := exec.CommandContext(ctx, "git", args...).CombinedOutput() //nolint:gosec // arguments of our own
	if out != nil {
		*out = strings.TrimSpace(string(raw))
	}
	if err != nil {
		return fmt.Errorf("git %q: %w: %s", args, err, raw)
	}
	return nil
}

// commit makes a branch with a commit of a side.
func (s *scene) commit(ctx context.Context, branch, from string, of *side) error {
	args := []string{"checkout", "-q", "-B", branch}
	if from != "" {
		args = append(args, from)
	} else {
		args = []string{"checkout", "-q", "--orphan", branch}
	}
	if err := s.git(ctx, nil, args...); err != nil {
		return err
	}
	if err := s.git(ctx, nil, "rm", "-q", "-r", "-f", "--ignore-unmatch", "."); err != nil {
		return err
	}
	for name, text := range of.files() {
		at := filepath.Join(s.dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o700), os.WriteFile(at, []byte(text), 0o600)); err != nil {
			return err
		}
	}
	if err := s.git(ctx, nil, "add", "-A"); err != nil {
		return err
	}
	if err := s.git(ctx, nil, "commit", "-q", "--allow-empty", "-m", branch); err != nil {
		return err
	}
	var hash string
	err := s.git(ctx, &hash, "rev-parse", "HEAD")
	s.commits[branch] = hash
	return err
}

func (s *scene) env() cli.Env {
	return cli.Env{Stdout: os.Stdout, Stderr: os.Stderr, Getenv: func(name string) string {
		if name == "XDG_CACHE_HOME" {
			return s.cache
		}
		return ""
	}}
}

// runPipeline lets the pipeline of the merge request run: all its tasks passed.
func (s *scene) runPipeline(ctx context.Context) error {
	c, err := change.Inputs{Base: "git:" + s.commits["base0"] + "@" + s.dir,
		Head: "git:" + s.commits["mine"] + "@" + s.dir, Config: "base:prcheck.yaml", State: s.state}.Open(ctx, s.env())
	if err != nil {
		return err
	}
	p, err := c.Plan(ctx)
	if err != nil {
		return err
	}
	store, err := state.At(ctx, s.state, state.Writing)
	if err != nil {
		return err
	}
	var results []plan.Result
	for _, t := range p.Tasks {
		results = append(results, plan.Result{Task: t.ID, Status: plan.Passed, Attempts: 1, Spans: []plan.Span{{}}})
	}
	declared := func(plan.Task) (read, tree string) { return string(files.Declared), p.Head.Tree }
	at := time.Now().Add(-time.Minute)
	return history.NewStore(store).Reading(declared).Remember(ctx, p.Tasks, results, nil, at, at)
}

// prove decides about the merge request on the new base.
func (s *scene) prove(ctx context.Context) (queue.Decision, error) {
	p, err := proving.New(ctx, proving.Place{Env: s.env(), Repository: s.dir, State: s.state})
	if err != nil {
		return queue.Decision{}, err
	}
	pair := queue.Pair{Head: s.commits["mine"], Base: s.commits["base1"]}
	d := p.Look(ctx)(pair.Base, queue.Request{Head: pair.Head}).Decide(pair)
	return d, p.Close()
}

// hold holds the law in a scene.
func (s *scene) hold(ctx context.Context, t *tally) error {
	t.scenes++
	if err := s.runPipeline(ctx); err != nil {
		return err
	}
	got, err := s.prove(ctx)
	if err != nil {
		return err
	}
	if err := s.git(ctx, nil, "checkout", "-q", "-B", "judge", "mine"); err != nil {
		return err
	}
	if s.git(ctx, nil, "rebase", "-q", "base1") != nil {
		t.conflicts++
		if got.State != queue.Conflict {
			return fmt.Errorf("git rebase finds a conflict, and the proof says %s: %s", got.State, got.Reason)
		}
		return nil
	}
	var tree string
	if err := s.git(ctx, &tree, "rev-parse", "HEAD^{tree}"); err != nil {
		return err
	}
	if got.Tree != tree {
		return fmt.Errorf("git rebase makes the tree %s, and the proof has %s (%s: %s)", tree, got.Tree, got.State, got.Reason)
	}
	switch got.State {
	case queue.NothingLeft:
		t.empty++
		return nil
	case queue.Holds, queue.Delta:
	default:
		return fmt.Errorf("the proof says %s: %s", got.State, got.Reason)
	}
	t.proven++
	for i, tasks := range [][]string{got.Holding, got.Delta} {
		for _, task := range tasks {
			name, shard, _ := strings.Cut(task, "/")
			isSame := truth(s.base0, s.head0, name, shard) == truth(s.base1, s.head1, name, shard)
			switch {
			case i == 0 && !isSame:
				return fmt.Errorf("%s holds, and saw\n%s\nnow it sees\n%s", task, truth(s.base0, s.head0, name, shard),
					truth(s.base1, s.head1, name, shard))
			case i == 0:
				t.held++
			case isSame:
				t.needless++
				t.ran++
			default:
				t.ran++
			}
		}
	}
	return nil
}
