package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/app-sre/prcheck/internal/lazyregexp"
)

// fullHash matches the whole hash of a commit.
var fullHash = lazyregexp.New(`^([0-9a-f]{40}|[0-9a-f]{64})$`)

// maxFetch bounds how long fetching one commit may take.
const maxFetch = 2 * time.Minute

// HasCommit reports whether the repository has a commit.
func (r *Repository) HasCommit(ctx context.Context, commit string) bool {
	_, err := run(ctx, r.root, "cat-file", "-e", commit+"^{commit}")
	return err == nil
}

// Fetch gets one commit without its history, named by its full hash, from the remote origin. It asks nobody for
// a password, and its errors contain none.
func (r *Repository) Fetch(ctx context.Context, commit string) error {
	return r.fetch(ctx, commit, "--depth=1")
}

// FetchHistory is [Repository.Fetch] with all of the history that the repository lacks. No branch and no tag is
// changed.
func (r *Repository) FetchHistory(ctx context.Context, commit string) error {
	return r.fetch(ctx, commit)
}

func (r *Repository) fetch(ctx context.Context, commit string, options ...string) error {
	if !fullHash.MatchString(commit) {
		return fmt.Errorf("%.80q is no full hash of a commit", commit)
	}
	bounded, cancel := context.WithTimeout(ctx, maxFetch)
	defer cancel()
	args := append([]string{"-c", "protocol.allow=user", "-c", "protocol.ext.allow=never", "-c", "core.askPass=",
		"-c", "gc.auto=0", "-c", "maintenance.auto=false", "fetch", "--quiet", "--no-tags", "--no-recurse-submodules",
		"--no-write-fetch-head"}, options...)
	cmd := newCommand(bounded, r.root, append(args, "origin", commit)...)
	cmd.Env = append(cmd.Env, "GIT_ASKPASS=", "SSH_ASKPASS=", "GIT_SSH_COMMAND=ssh -oBatchMode=yes",
		"GIT_PROTOCOL_FROM_USER=1")
	var printed bytes.Buffer
	cmd.Stderr, cmd.WaitDelay = &printed, time.Second
	err := cmd.Run()
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err == nil && r.HasCommit(ctx, commit):
		return nil
	case bounded.Err() != nil:
		return fmt.Errorf("fetching it from origin took longer than %s", maxFetch)
	}
	if line := firstLine(printed.String()); line != "" {
		return errors.New("fetching it from origin: " + line)
	}
	return errors.New("fetching it from origin did not bring it")
}

// userInfo matches the part of an address before its host, which may hold a password.
var userInfo = lazyregexp.New(`://[^/\s'"]*@`)

// firstLine returns the first line that git printed, without passwords.
func firstLine(printed string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(printed), "\n")
	return userInfo.ReplaceAllString(line, "://")
}
