//go:build unix

package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
)

// A place is where a check runs.
type place string

// The places of checks.
const (
	local place = "local" // a checkout on one's own machine
	job   place = "job"   // a merge request job of GitLab
)

// A checkout is a repository with the branches main and change, and the files of a tree.
type checkout struct {
	dir, home string
	now       tree   // what lies in the folder
	committed tree   // what the branch change holds
	base      string // the commit of main
}

// searchPath is PATH of git, of prcheck and of all programs. It names the folders of a usual
// system alone, without wrappers that choose a version of Python.
const searchPath = "/usr/local/bin:/usr/bin:/bin"

// environment returns the variables for git and prcheck.
func environment(home string) []string {
	return []string{"PATH=" + searchPath, "HOME=" + home, "XDG_CACHE_HOME=" + filepath.Join(home, ".cache"),
		"TMPDIR=" + os.TempDir(), "NO_COLOR=1",
		"GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@x",
		"GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@x"}
}

// apart gives a program a process group of its own, so that an interrupt of the law does not end the program as if it
// had failed.
func apart(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// command runs a program and returns what it prints.
func command(ctx context.Context, dir string, env []string, argv ...string) (string, error) {
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...) //nolint:gosec // the law starts what it made
	cmd.Dir, cmd.Env = dir, env
	apart(cmd)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("%s: %w: %s", strings.Join(argv, " "), err, strings.TrimSpace(errs.String()))
	}
	return strings.TrimSpace(out.String()), nil
}

// git runs git in the checkout.
func (c *checkout) git(ctx context.Context, args ...string) (string, error) {
	return command(ctx, c.dir, environment(c.home), append([]string{"git"}, args...)...)
}

// newCheckout makes a repository whose main holds a tree, and goes to the branch change.
func newCheckout(ctx context.Context, root string, base tree) (*checkout, error) {
	c := &checkout{dir: filepath.Join(root, "checkout"), home: filepath.Join(root, "home"), now: base, committed: base}
	for _, dir := range []string{c.dir, c.home} {
		if err := os.MkdirAll(dir, 0o755); err != nil { //nolint:gosec // as mkdir makes it
			return nil, err
		}
	}
	if err := lay(c.dir, nil, base); err != nil {
		return nil, err
	}
	for _, args := range [][]string{{"init", "-q", "--template=", "-b", "main", "."}, {"add", "-A"},
		{"commit", "-qm", "base"}, {"switch", "-qc", "change"}} {
		if _, err := c.git(ctx, args...); err != nil {
			return nil, err
		}
	}
	var err error
	if c.base, err = c.git(ctx, "rev-parse", "HEAD"); err != nil {
		return nil, err
	}
	return c, build(c.dir, base)
}

// advance lays a tree, and commits it or leaves it as it lies.
func (c *checkout) advance(ctx context.Context, to tree, commit bool) error {
	if err := lay(c.dir, c.now, to); err != nil {
		return err
	}
	c.now = to
	if commit {
		if err := os.RemoveAll(filepath.Join(c.dir, "work")); err != nil { // what programs wrote
			return err
		}
		if _, err := c.git(ctx, "add", "-A"); err != nil {
			return err
		}
		if _, err := c.git(ctx, "commit", "-q", "--allow-empty", "-m", "change"); err != nil {
			return err
		}
		c.committed = to
	}
	return build(c.dir, to)
}

// side lets git make a checkout of a branch in a folder of its own. What is not committed is
// laid over change.
func (c *checkout) side(ctx context.Context, dir, branch string, now tree) error {
	if _, err := c.git(ctx, "clone", "-q", "--shared", "--template=", "--branch", branch, c.dir, dir); err != nil {
		return err
	}
	if branch == "change" {
		if err := lay(dir, c.committed, now); err != nil {
			return err
		}
	}
	return build(dir, now)
}

// variables returns the variables for prcheck in a place.
func (c *checkout) variables(ctx context.Context, in place, key string) ([]string, error) {
	env := append(environment(c.home), "PRCHECK_STATE_KEY="+key)
	if in == local {
		return env, nil
	}
	head, err := c.git(ctx, "rev-parse", "HEAD")
	return append(env, "GITLAB_CI=true", "CI=true", "CI_PIPELINE_SOURCE=merge_request_event", "CI_MERGE_REQUEST_IID=1",
		"CI_MERGE_REQUEST_DIFF_BASE_SHA="+c.base, "CI_MERGE_REQUEST_TARGET_BRANCH_SHA=", "CI_COMMIT_SHA="+head,
		"CI_PROJECT_DIR="+c.dir,
		"CI_DEFAULT_BRANCH=main", "CI_PROJECT_PATH=a/b", "CI_MERGE_REQUEST_TARGET_BRANCH_NAME=main"), err
}
