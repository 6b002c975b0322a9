package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// A Scratch is a repository of its own beside another one, whose objects it shares: what is made in it reaches nobody,
// and goes with its folder. It has no working tree to speak of.
//
// The git that makes something reads no settings of the machine or of a user.
type Scratch struct{ dir string }

// NewScratch makes a scratch in a folder, which must be empty or not there. of is a folder of the other repository.
func NewScratch(ctx context.Context, dir, of string) (*Scratch, error) {
	head, err := OpenCommit(ctx, of, "HEAD")
	if err != nil {
		return nil, err
	}
	own, err := ReadOwnFolder(ctx, of, head.Hash())
	if err != nil {
		return nil, err
	}
	objects, err := filepath.Abs(own.Objects)
	if err != nil {
		return nil, err
	}
	delete(own.Files, "info/attributes") // no attribute of the machine decides what is made
	own.Files["objects/info/alternates"] = []byte(objects + "\n")
	if err := os.MkdirAll(filepath.Join(dir, ".git", "refs"), 0o700); err != nil {
		return nil, err
	}
	for name, text := range own.Files {
		at := filepath.Join(dir, ".git", filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
			return nil, err
		}
		if err := os.WriteFile(at, text, 0o600); err != nil {
			return nil, err
		}
	}
	return &Scratch{dir}, nil
}

// Dir returns the folder of the scratch.
func (s *Scratch) Dir() string { return s.dir }

// A Rebased is a branch that was made anew on another commit. Exactly one of Commit and Conflicts is there.
type Rebased struct {
	Commit    string   // the last one; the one that it was made on, if nothing was left
	Conflicts []string // the files that git could not merge, sorted
}

// maxRebased bounds the commits that are made anew.
const maxRebased = 250

// Rebase makes the commits of a branch that another commit lacks anew on it, one after another, without merges, as git
// rebase does. A commit of which nothing is left is dropped. Author, committer and time are those of nobody: the
// commits are made to be looked at.
func (s *Scratch) Rebase(ctx context.Context, onto, branch string) (Rebased, error) {
	out, err := run(ctx, s.dir, "rev-list", "--reverse", "--topo-order", "--no-merges", "--right-only", "--cherry-pick",
		"--max-count="+strconv.Itoa(maxRebased+1), "--end-of-options", onto+"..."+branch)
	if err != nil {
		if _, missing := OpenCommit(ctx, s.dir, branch); missing != nil {
			err = fmt.Errorf("the commit %s is not here: fetch it first", Short(branch))
		}
		return Rebased{}, err
	}
	commits := strings.Fields(string(out))
	if len(commits) > maxRebased {
		return Rebased{}, fmt.Errorf("the branch has more than %d commits that are not in its target", maxRebased)
	}
	at, err := OpenCommit(ctx, s.dir, onto)
	if err != nil {
		return Rebased{}, err
	}
	last, tree := at.Hash(), at.TreeID()
	for _, commit := range commits {
		next, conflicts, err := s.pick(ctx, tree, commit)
		if err != nil || len(conflicts) > 0 {
			return Rebased{Conflicts: conflicts}, err
		}
		if next == tree {
			continue
		}
		if last, err = s.commit(ctx, next, last); err != nil {
			return Rebased{}, err
		}
		tree = next
	}
	return Rebased{Commit: last}, nil
}

// pick applies what a commit changed to a tree.
func (s *Scratch) pick(ctx context.Context, tree, commit string) (next string, conflicts []string, err error) {
	of, err := OpenCommit(ctx, s.dir, commit)
	if err != nil {
		return "", nil, err
	}
	before, err := OpenCommit(ctx, s.dir, commit+"^")
	if err != nil {
		return "", nil, fmt.Errorf("the commit before %s is not here: fetch more of the history", Short(commit))
	}
	if before.TreeID() == tree {
		return of.TreeID(), nil, nil
	}
	root, err := s.commit(ctx, before.TreeID(), "")
	if err != nil {
		return "", nil, err
	}
	ours, err := s.commit(ctx, tree, root)
	if err != nil {
		return "", nil, err
	}
	theirs, err := s.commit(ctx, of.TreeID(), root)
	if err != nil {
		return "", nil, err
	}
	cmd := s.command(ctx, "merge-tree", "--write-tree", "--name-only", "--no-messages", "-z", ours, theirs)
	out, err := cmd.Output()
	var exit *exec.ExitError
	isConflict := errors.As(err, &exit) && exit.ExitCode() == 1
	if err != nil && !isConflict {
		return "", nil, describe(ctx, s.dir, "merge-tree", err)
	}
	parts := strings.Split(strings.TrimRight(string(out), "\x00"), "\x00")
	if !isConflict {
		return strings.TrimSpace(parts[0]), nil, nil
	}
	if conflicts = parts[1:]; len(conflicts) == 0 {
		return "", nil, fmt.Errorf("git merges no two trees for %s, and does not say why", Short(commit))
	}
	return "", conflicts, nil
}

// commit makes a commit of a tree, with a commit before it or none.
func (s *Scratch) commit(ctx context.Context, tree, parent string) (string, error) {
	args := []string{"commit-tree", "-m", "made to be looked at"}
	if parent != "" {
		args = append(args, "-p", parent)
	}
	out, err := s.command(ctx, append(args, tree)...).Output()
	if err != nil {
		return "", describe(ctx, s.dir, "commit-tree", err)
	}
	return string(bytes.TrimSpace(out)), nil
}

// command prepares a git that writes into the scratch.
func (s *Scratch) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := newCommand(ctx, s.dir, append([]string{"-c", "merge.renames=true", "-c", "merge.directoryRenames=conflict",
		"-c", "commit.gpgSign=false"}, args...)...)
	const nobody, then = "nobody", "1000000000 +0000"
	cmd.Env = append(cmd.Env, "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_AUTHOR_NAME="+nobody,
		"GIT_AUTHOR_EMAIL="+nobody, "GIT_AUTHOR_DATE="+then, "GIT_COMMITTER_NAME="+nobody, "GIT_COMMITTER_EMAIL="+nobody,
		"GIT_COMMITTER_DATE="+then)
	return cmd
}
