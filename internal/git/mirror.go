package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/app-sre/prcheck/internal/rlimit"
)

// A Mirror is a bare repository with parts of one that a server has. It is fetched from by the
// names of objects alone, so it has no branches.
//
// The git that fetches reads no settings of the machine or of a user, follows no redirect and
// runs no hook. Credentials are neither among its arguments nor in a file.
//
// One goroutine at a time may use a mirror.
type Mirror struct {
	dir string
	has map[string]bool // commits and contents that were fetched
}

// A Remote is where a mirror is fetched from.
type Remote struct {
	URL           string
	Authorization string // value of the header of this name, "" sends none
}

// ErrNotOurs says that the server has no object of this name.
var ErrNotOurs = errors.New("the server has no such commit")

// ErrNotInstalled says that there is no program git.
var ErrNotInstalled = errors.New("git is not installed, and without it no files of repositories can be read")

// NewMirror makes an empty mirror in a folder, which must be empty or not there. url must begin with
// https:// or http://.
func NewMirror(ctx context.Context, dir, url string) (*Mirror, error) {
	if !strings.HasPrefix(url, "https://") && !strings.HasPrefix(url, "http://") ||
		strings.ContainsAny(url, "\n\r\x00 ") {
		return nil, errors.New("a mirror needs an address of HTTP")
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	m := &Mirror{dir, map[string]bool{}}
	for _, args := range [][]string{
		{"init", "--quiet", "--bare", "--template="},
		{"config", "remote.origin.url", url},
		{"config", "remote.origin.promisor", "true"}, // it may leave out files
	} {
		if _, err := m.run(ctx, Remote{}, nil, args...); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// FetchCommit fetches a commit with the names of its files.
func (m *Mirror) FetchCommit(ctx context.Context, from Remote, commit string) error {
	return m.fetchNew(ctx, from, []string{commit}, "--depth=1", "--filter=blob:none")
}

// FetchLog fetches a commit and those before it, if possible without their files. depth is how
// far back it goes at most.
func (m *Mirror) FetchLog(ctx context.Context, from Remote, commit string, depth int) error {
	return m.fetch(ctx, from, []string{commit}, "--depth="+strconv.Itoa(depth), "--filter=tree:0")
}

// FetchFiles fetches contents of files by git's id.
func (m *Mirror) FetchFiles(ctx context.Context, from Remote, ids []string) error {
	return m.fetchNew(ctx, from, ids, "--filter=blob:none")
}

// fetchNew fetches objects that were not fetched yet.
func (m *Mirror) fetchNew(ctx context.Context, from Remote, ids []string, options ...string) error {
	missing := slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return m.has[id] })
	if len(missing) == 0 {
		return nil
	}
	if err := m.fetch(ctx, from, missing, options...); err != nil {
		return err
	}
	for _, id := range missing {
		m.has[id] = true
	}
	return nil
}

// fetch fetches objects by their names.
func (m *Mirror) fetch(ctx context.Context, from Remote, ids []string, options ...string) error {
	bounded, cancel := context.WithTimeout(ctx, maxFetch)
	defer cancel()
	args := append([]string{"-c", "fetch.negotiationAlgorithm=noop", "fetch", "--quiet", "--no-tags",
		"--no-recurse-submodules", "--no-write-fetch-head", "--no-auto-maintenance", "--stdin"}, options...)
	_, err := m.run(bounded, from, strings.NewReader(strings.Join(ids, "\n")+"\n"), append(args, "origin")...)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case bounded.Err() != nil:
		return fmt.Errorf("fetching from the server took longer than %s", maxFetch)
	}
	return err
}

// The bounds of git, in bytes: what it may print about one commit, and the largest file that it
// may write, which is what a server sends at once.
const (
	maxPrinted = 8 << 20
	maxPack    = 1 << 30
)

// run runs git in the mirror.
func (m *Mirror) run(ctx context.Context, from Remote, in io.Reader, args ...string) ([]byte, error) {
	return m.runWithin(ctx, maxPrinted, from, in, args...)
}

// runWithin runs git in the mirror. What it prints has at most a number of bytes, else the error
// is [ErrTooLarge].
func (m *Mirror) runWithin(ctx context.Context, most int, from Remote, in io.Reader, args ...string) ([]byte, error) {
	protocols := []string{"-c", "protocol.allow=never"}
	if from.URL != "" {
		protocols = append(protocols, "-c", "protocol.https.allow=always", "-c", "protocol.http.allow=always")
	}
	fixed := append([]string{"-C", m.dir, "--bare", "--literal-pathspecs", "--no-replace-objects", "--no-pager"},
		protocols...)
	fixed = append(fixed, "-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false",
		"-c", "http.followRedirects=false", "-c", "http.emptyAuth=false",
		"-c", "credential.helper=", "-c", "core.askPass=", "-c", "gc.auto=0", "-c", "core.quotePath=false",
		"-c", "protocol.version=2")
	cmd := exec.CommandContext(ctx, "git", append(fixed, args...)...)
	cmd.Env = m.environment(cmd.Environ(), from)
	var out, printed limited
	out.left, printed.left = most, 1<<16
	cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.WaitDelay = in, &out, &printed, time.Second
	err := rlimit.Limits{File: maxPack}.Run(cmd)
	switch text := printed.kept.String(); {
	case out.isFull:
		return nil, fmt.Errorf("git %s prints more than %d MiB: %w", firstCommand(args), most>>20, ErrTooLarge)
	case err == nil:
		return out.kept.Bytes(), nil
	case strings.Contains(text, "not our ref"), strings.Contains(text, "no such remote ref"):
		return nil, ErrNotOurs
	case errors.Is(err, exec.ErrNotFound):
		return nil, ErrNotInstalled
	}
	return nil, fmt.Errorf("git %s failed: %w", firstCommand(args), err) // what it prints may repeat a server's words
}

// firstCommand returns the command among the arguments of git.
func firstCommand(args []string) string {
	for i := 0; i < len(args); i++ {
		if args[i] == "-c" {
			i++
			continue
		}
		return args[i]
	}
	return ""
}

// environment returns the variables for git: no settings of others, and the header with the
// credentials as a setting that is in no file.
func (m *Mirror) environment(of []string, from Remote) []string {
	var out []string
	authority := ""
	for _, v := range of {
		name, value, _ := strings.Cut(v, "=")
		switch {
		case name == "SSL_CERT_FILE" && authority == "", name == "GIT_SSL_CAINFO":
			authority = value
		case name == "GIT_EXEC_PATH":
		case strings.HasPrefix(name, "GIT_"), strings.HasPrefix(name, "SSH_"), name == "HOME",
			strings.HasPrefix(name, "XDG_"):
			continue
		}
		out = append(out, v)
	}
	out = append(out, "HOME="+m.dir, "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_TERMINAL_PROMPT=0",
		"GIT_ASKPASS=", "GIT_NO_LAZY_FETCH=1", "GIT_NO_REPLACE_OBJECTS=1", "LC_ALL=C")
	if authority != "" {
		out = append(out, "GIT_SSL_CAINFO="+authority)
	}
	if from.Authorization != "" {
		out = append(out, "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=http.extraHeader",
			"GIT_CONFIG_VALUE_0=Authorization: "+from.Authorization)
	}
	return out
}

// A limited buffer keeps a number of bytes and refuses more.
type limited struct {
	kept   bytes.Buffer // not embedded: its ReadFrom would go around Write
	left   int
	isFull bool
}

// Write implements [io.Writer].
func (l *limited) Write(p []byte) (int, error) {
	if len(p) > l.left {
		l.isFull = true
		return 0, errors.New("it is too long")
	}
	l.left -= len(p)
	return l.kept.Write(p)
}

// Log returns a commit and those before it on the way of first parents, newest first, at most
// limit, as far as they were fetched.
func (m *Mirror) Log(ctx context.Context, commit string, limit int) ([]string, error) {
	out, err := m.run(ctx, Remote{}, nil, "rev-list", "--first-parent", "--max-count="+strconv.Itoa(limit),
		"--end-of-options", commit)
	return strings.Fields(string(out)), err
}

// List returns the file at a path of a commit, with the name "", or the files, links and
// submodules of the folder there; "" is the root. Those in folders below are listed only if deep.
// The error is [fs.ErrNotExist] if the commit has no such path.
func (m *Mirror) List(ctx context.Context, commit, path string, deep bool) ([]Entry, error) {
	if path != "" {
		found, err := m.listTree(ctx, commit, "--", path)
		if err != nil {
			return nil, err
		}
		switch {
		case len(found) == 0:
			return nil, fs.ErrNotExist
		case found[0].isFolder:
		default:
			found[0].Name = ""
			return []Entry{found[0].Entry}, nil
		}
	}
	args := []string{commit + ":" + path}
	if deep {
		args = append([]string{"-r"}, args...)
	}
	found, err := m.listTree(ctx, args...)
	var out []Entry
	for _, e := range found {
		if !e.isFolder {
			out = append(out, e.Entry)
		}
	}
	return out, err
}

// A treeEntry is an entry of a commit that may be a folder.
type treeEntry struct {
	Entry
	isFolder bool
}

func (m *Mirror) listTree(ctx context.Context, args ...string) ([]treeEntry, error) {
	raw, err := m.run(ctx, Remote{}, nil, append([]string{"ls-tree", "-z", "--full-tree"}, args...)...)
	var out []treeEntry
	for len(raw) > 0 && err == nil {
		line, rest, _ := bytes.Cut(raw, []byte{0})
		raw = rest
		about, name, _ := bytes.Cut(line, []byte("\t"))
		words := strings.Fields(string(about))
		if len(words) != 3 {
			return nil, fmt.Errorf("git ls-tree printed %.100q: not what was expected", line)
		}
		out = append(out, treeEntry{Entry{Name: string(name), ID: words[2], Kind: kindOf(words[0])},
			words[1] == "tree"})
	}
	return out, err
}

// Contents returns the contents of files by git's id. All of them together may have a number of
// bytes, else the error is [ErrTooLarge].
func (m *Mirror) Contents(ctx context.Context, ids []string, most int) ([][]byte, error) {
	const head = 100 // bytes that git prints about each, at most
	raw, err := m.runWithin(ctx, most+head*len(ids), Remote{}, strings.NewReader(strings.Join(ids, "\n")+"\n"),
		"cat-file", "--batch")
	if err != nil {
		return nil, err
	}
	var out [][]byte
	for _, id := range ids {
		about, rest, _ := bytes.Cut(raw, []byte("\n"))
		words := strings.Fields(string(about))
		if len(words) != 3 || words[0] != id || words[1] != "blob" {
			return nil, fmt.Errorf("git has no content %s", id)
		}
		size, err := strconv.Atoi(words[2])
		if err != nil || size < 0 || size >= len(rest) {
			return nil, fmt.Errorf("git cat-file printed %q: not what was expected", about)
		}
		if most -= size; most < 0 {
			return nil, ErrTooLarge
		}
		out, raw = append(out, rest[:size:size]), rest[size+1:]
	}
	return out, nil
}

// ErrTooLarge says that files are larger than they may be.
var ErrTooLarge = errors.New("the files are too large")
