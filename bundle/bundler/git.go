package bundler

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
)

// A Git is the tree of a commit. Its files come straight from the object
// store; neither index nor working tree are looked at.
type Git struct {
	repo   string
	commit string
	time   string
}

// OpenGit finds a revision in the repository of a folder. The revision is what
// git rev-parse takes: a branch, a tag, a hash.
func OpenGit(ctx context.Context, repo, rev string) (*Git, error) {
	if rev == "" || strings.HasPrefix(rev, "-") || strings.ContainsAny(rev, "\x00\n") {
		return nil, fmt.Errorf("%q is no revision: name a branch, a tag or a commit", rev)
	}
	out, err := git(ctx, repo, "rev-parse", "--verify", "--quiet", rev+"^{commit}")
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) && exit.ExitCode() == 1 {
			return nil, fmt.Errorf("repository %q has no commit %q: fetch it first", repo, rev)
		}
		return nil, err
	}
	g := &Git{repo: repo, commit: strings.TrimSpace(string(out))}
	if out, err = git(ctx, repo, "cat-file", "commit", g.commit); err != nil {
		return nil, err
	}
	g.time = committed(out)
	return g, nil
}

// Commit is the hash of the commit.
func (g *Git) Commit() string { return g.commit }

// Time is when it was committed, in unix seconds.
func (g *Git) Time() string { return g.time }

// committed finds the time in the text of a commit.
func committed(commit []byte) string {
	header, _, _ := bytes.Cut(commit, []byte("\n\n"))
	for line := range strings.Lines(string(header)) {
		if who, ok := strings.CutPrefix(line, "committer "); ok {
			if words := strings.Fields(who); len(words) > 1 {
				return words[len(words)-2]
			}
		}
	}
	return ""
}

// command is a git that does nothing but read: it runs no program that
// settings of a repository name, fetches nothing, asks nothing, takes no lock
// and takes names as they are.
func command(ctx context.Context, repo string, args ...string) *exec.Cmd {
	fixed := []string{"-C", repo, "--literal-pathspecs", "--no-replace-objects", "--no-optional-locks", "--no-pager",
		"-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "protocol.allow=never", "-c", "core.quotePath=false"}
	cmd := exec.CommandContext(ctx, "git", append(fixed, args...)...)
	for _, v := range cmd.Environ() {
		name, _, _ := strings.Cut(v, "=")
		switch name {
		case "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_COMMON_DIR", "GIT_NAMESPACE",
			"GIT_TRACE", "GIT_EXTERNAL_DIFF", "GIT_PAGER":
			continue // left by a git that started us, and about something else
		}
		cmd.Env = append(cmd.Env, v)
	}
	cmd.Env = append(cmd.Env, "GIT_TERMINAL_PROMPT=0", "GIT_NO_LAZY_FETCH=1", "LC_ALL=C")
	return cmd
}

// git runs git and gives what it prints.
func git(ctx context.Context, repo string, args ...string) ([]byte, error) {
	out, err := command(ctx, repo, args...).Output()
	if err != nil {
		return nil, gitError(ctx, repo, args[0], err)
	}
	return out, nil
}

// gitError says what git was doing and what it said.
func gitError(ctx context.Context, repo, what string, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		if said, _, _ := strings.Cut(strings.TrimSpace(string(exit.Stderr)), "\n"); said != "" {
			return fmt.Errorf("running git %s in %q: %w: %s", what, repo, err, said)
		}
	}
	return fmt.Errorf("running git %s in %q: %w", what, repo, err)
}

// List gives the entries of a folder of the commit.
func (g *Git) List(ctx context.Context, dir string) ([]Entry, error) {
	in := strings.TrimPrefix(dir, ".")
	if kind, err := git(ctx, g.repo, "cat-file", "-t", g.commit+":"+in); err != nil || string(kind) != "tree\n" {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, fmt.Errorf("commit %.12s of %q has no folder %q: say under checkout in the settings where it is", g.commit, g.repo, dir)
	}
	out, err := git(ctx, g.repo, "ls-tree", "-r", "-z", "--full-tree", g.commit+":"+in)
	if err != nil {
		return nil, err
	}
	var entries []Entry
	for len(out) > 0 {
		line, rest, _ := bytes.Cut(out, []byte{0})
		out = rest
		about, name, _ := bytes.Cut(line, []byte("\t"))
		words := strings.Fields(string(about))
		if len(words) != 3 {
			return nil, fmt.Errorf("git ls-tree printed %q: not what was expected", line)
		}
		entries = append(entries, Entry{Name: string(name), Path: string(name), Blob: words[2], Kind: gitKind(words[0])})
	}
	return entries, g.targets(ctx, entries)
}

func gitKind(mode string) Kind {
	switch mode {
	case "100644", "100755", "100664":
		return Regular
	case "120000":
		return Link
	}
	return Irregular
}

// targets reads where links lead to.
func (g *Git) targets(ctx context.Context, entries []Entry) (err error) {
	var r Reader
	for i, e := range entries {
		if e.Kind != Link {
			continue
		}
		if r == nil {
			if r, err = g.Open(ctx); err != nil {
				return err
			}
			defer func() { err = errors.Join(err, r.Close()) }()
		}
		raw, err := r.Read(e, maxTarget)
		if err != nil {
			return err
		}
		entries[i].Target = string(raw)
	}
	return nil
}

// maxTarget is how long the text of a link can be.
const maxTarget = 4096
