package bundler

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path"
	"regexp"
	"strings"
	"time"
)

// maxFetch is how long fetching one commit may take.
const maxFetch = 2 * time.Minute

// Has tells whether a commit is there.
func (r *Repository) Has(ctx context.Context, commit string) bool {
	_, err := git(ctx, r.root, "cat-file", "-e", commit+"^{commit}")
	return err == nil
}

// Fetch gets one commit, named by its whole hash, from the remote origin. It is
// the only thing here that uses the network. It asks nobody for a password, and
// its errors have none.
func (r *Repository) Fetch(ctx context.Context, commit string) error {
	bounded, cancel := context.WithTimeout(ctx, maxFetch)
	defer cancel()
	cmd := command(bounded, r.root, "-c", "protocol.allow=user", "-c", "protocol.ext.allow=never",
		"-c", "core.askPass=", "-c", "gc.auto=0", "-c", "maintenance.auto=false",
		"fetch", "--quiet", "--no-tags", "--depth=1", "--no-recurse-submodules", "--no-write-fetch-head", "origin", commit)
	cmd.Env = append(cmd.Env, "GIT_ASKPASS=", "SSH_ASKPASS=", "GIT_SSH_COMMAND=ssh -oBatchMode=yes", "GIT_PROTOCOL_FROM_USER=1")
	var said bytes.Buffer
	cmd.Stderr, cmd.WaitDelay = &said, time.Second
	err := cmd.Run()
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err == nil && r.Has(ctx, commit):
		return nil
	case bounded.Err() != nil:
		return fmt.Errorf("fetching it from origin took longer than %s", maxFetch)
	}
	if line := fetchTrouble(said.String()); line != "" {
		return errors.New("fetching it from origin: " + line)
	}
	return errors.New("fetching it from origin did not bring it")
}

// userInfo is what stands before the host in an address: names and tokens.
var userInfo = regexp.MustCompile(`://[^/\s'"]*@`)

// fetchTrouble is what git said, in one line and without passwords.
func fetchTrouble(said string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(said), "\n")
	return userInfo.ReplaceAllString(line, "://")
}

// Changed lists the paths of the repository that differ between two commits, in
// git's order. Without head they are those that differ between base and the
// working tree, new files that git does not ignore among them.
func (r *Repository) Changed(ctx context.Context, base, head string) ([]string, error) {
	args := []string{"diff", "--name-only", "--no-renames", "--no-ext-diff", "--no-textconv", "--ignore-submodules=none", "-z", base}
	if head != "" {
		args = append(args, head)
	}
	out, err := git(ctx, r.root, append(args, "--")...)
	if err == nil && head == "" {
		var more []byte
		more, err = git(ctx, r.root, "ls-files", "--others", "--exclude-standard", "-z")
		out = append(out, more...)
	}
	if err != nil {
		return nil, err
	}
	return strings.FieldsFunc(string(out), func(c rune) bool { return c == 0 }), nil
}

// Knows tells whether one of some commits has a path, or has something else than
// a folder on the way to it.
func (r *Repository) Knows(ctx context.Context, name string, commits ...string) (bool, error) {
	for _, commit := range commits {
		for at := name; at != "."; at = path.Dir(at) {
			kind, err := git(ctx, r.root, "cat-file", "-t", commit+":"+at)
			if ctx.Err() != nil {
				return true, ctx.Err()
			}
			if err == nil && (at == name || string(kind) != "tree\n") {
				return true, nil
			}
		}
	}
	return false, nil
}
