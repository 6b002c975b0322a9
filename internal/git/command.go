package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// newCommand prepares a git that only reads: it runs no program that the settings of the repository name, fetches
// nothing, asks nothing, takes no lock and takes path names literally.
func newCommand(ctx context.Context, dir string, args ...string) *exec.Cmd {
	fixed := []string{"-C", dir, "--literal-pathspecs", "--no-replace-objects", "--no-optional-locks", "--no-pager",
		"-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "protocol.allow=never",
		"-c", "core.quotePath=false"}
	if isModuleFolder(dir) {
		fixed = append(fixed, "--git-dir=.", "--work-tree=.") // the working tree that it names may be gone
	}
	cmd := exec.CommandContext(ctx, "git", append(fixed, args...)...)
	for _, v := range cmd.Environ() {
		name, _, _ := strings.Cut(v, "=")
		switch name {
		case "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_COMMON_DIR", "GIT_NAMESPACE",
			"GIT_TRACE", "GIT_EXTERNAL_DIFF", "GIT_PAGER":
			continue // set by a git that started us, and about another repository
		}
		cmd.Env = append(cmd.Env, v)
	}
	cmd.Env = append(cmd.Env, "GIT_TERMINAL_PROMPT=0", "GIT_NO_LAZY_FETCH=1", "LC_ALL=C")
	return cmd
}

// isModuleFolder reports whether a folder holds the git files of a submodule.
func isModuleFolder(dir string) bool {
	if _, err := os.Lstat(filepath.Join(dir, "HEAD")); err != nil {
		return false
	}
	config, err := os.ReadFile(filepath.Join(dir, "config"))
	return err == nil && bytes.Contains(config, []byte("worktree"))
}

// run runs git in a folder and returns what it prints.
func run(ctx context.Context, dir string, args ...string) ([]byte, error) {
	return runWith(ctx, dir, "", args...)
}

// runWith runs git in a folder with a text as its input, and returns what it prints.
func runWith(ctx context.Context, dir, input string, args ...string) ([]byte, error) {
	cmd := newCommand(ctx, dir, args...)
	if input != "" {
		cmd.Stdin = strings.NewReader(input)
	}
	out, err := cmd.Output()
	if err != nil {
		return nil, describe(ctx, dir, args[0], err)
	}
	return out, nil
}

// runLong is like run, for an output of megabytes.
func runLong(ctx context.Context, dir string, args ...string) (string, error) {
	cmd := newCommand(ctx, dir, args...)
	var out strings.Builder
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	err := cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		exit.Stderr = said.Bytes()
	}
	if err != nil {
		return "", describe(ctx, dir, args[0], err)
	}
	return out.String(), nil
}

// describe adds to an error which git command failed, and the first line that git printed about it.
func describe(ctx context.Context, dir, command string, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		if line, _, _ := strings.Cut(strings.TrimSpace(string(exit.Stderr)), "\n"); line != "" {
			return fmt.Errorf("running git %s in %q: %w: %s", command, dir, err, line)
		}
	}
	return fmt.Errorf("running git %s in %q: %w", command, dir, err)
}
