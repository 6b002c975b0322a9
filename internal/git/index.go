package git

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// UnchangedFiles returns git's ids of those files of a working tree whose content is known without reading them, by
// their paths below the folder.
//
// A file's id is taken from the index when the file is as git wrote it, and nothing could have changed its bytes on the
// way from the object store: no attribute, no setting about line ends, no bit that tells git not to look.
func UnchangedFiles(ctx context.Context, dir string) (map[string]string, error) {
	if convertsLineEnds(ctx, dir) {
		return nil, errors.New("git converts line ends in this repository")
	}
	entries, err := readIndex(ctx, dir)
	if err != nil {
		return nil, err
	}
	ids := make(map[string]string, len(entries))
	for _, e := range entries {
		if e.isUnchanged && kindOf(e.mode) == File {
			ids[e.path] = e.id
		}
	}
	converted, err := convertedFiles(ctx, dir, entries)
	for _, name := range converted {
		delete(ids, name)
	}
	return ids, err
}

// listIndex returns the files of the index, which has all entries, for which want is true. A submodule is always one of them. When these files
// are few and small, none counts as unchanged: reading them takes less time than asking git about the whole tree.
func listIndex(ctx context.Context, dir string, all []indexEntry, want func(path string) bool) ([]indexEntry, error) {
	if out := wanted(all, want); areFewAndSmall(dir, out) {
		return out, nil
	}
	all, err := readIndex(ctx, dir)
	if err != nil {
		return nil, err
	}
	out := wanted(all, want)
	if convertsLineEnds(ctx, dir) {
		for i := range out {
			out[i].isUnchanged = false
		}
		return out, nil
	}
	names, err := convertedFiles(ctx, dir, out)
	converted := map[string]bool{}
	for _, name := range names {
		converted[name] = true
	}
	for i, e := range out {
		out[i].isUnchanged = e.isUnchanged && !converted[e.path]
	}
	return out, err
}

// wanted returns the entries of submodules, and the first entry of each file for which want is true: a file with a
// conflict has several.
func wanted(all []indexEntry, want func(path string) bool) []indexEntry {
	var out []indexEntry
	for i, e := range all {
		isRepeated := i > 0 && all[i-1].path == e.path
		if !isRepeated && (e.isSubmodule() || want(e.path)) {
			out = append(out, e)
		}
	}
	return out
}

// Up to how many files, and bytes, a list of files counts as small.
const (
	maxFew   = 1000
	maxSmall = 32 << 20
)

// areFewAndSmall reports whether files of a folder can be read quickly.
func areFewAndSmall(dir string, files []indexEntry) bool {
	left := int64(maxSmall)
	for _, e := range files[:min(len(files), maxFew+1)] {
		if info, err := os.Lstat(filepath.Join(dir, filepath.FromSlash(e.path))); err == nil {
			left -= info.Size()
		}
	}
	return left >= 0 && len(files) <= maxFew
}

// An indexEntry is an entry of the index.
type indexEntry struct {
	path, mode, id string
	isLookedAt     bool // git compares it with the working tree
	isUnchanged    bool // git says that the working tree has this content
	times          times
}

// times are the times of a file that git remembers in its index: of the last change of the file, and of its content.
type times struct{ changed, modified stamp }

// A stamp is a time as seconds and nanoseconds.
type stamp struct{ seconds, nanoseconds int64 }

// isSubmodule reports whether the entry is a repository of its own.
func (e indexEntry) isSubmodule() bool { return e.mode == "160000" }

// readIndex lists the index. An entry that git is told not to look at, or that has a conflict, does not count as
// unchanged. Nor does a file whose times are not exactly those that git remembers: git compares seconds, so it does not
// see a change within a second that keeps the size and sets the time of modification back.
func readIndex(ctx context.Context, dir string) ([]indexEntry, error) {
	// First the files that differ, then the ids: a file that is added to the index in between has its new id, and is not
	// taken for the one that was there before.
	differing, err := run(ctx, dir, "-c", "core.checkStat=default", "-c", "core.trustctime=true",
		"diff-files", "--relative", "--name-only", "--no-ext-diff", "--ignore-submodules", "-z")
	if err != nil {
		return nil, err
	}
	changed := map[string]bool{}
	for _, name := range splitZero(differing) {
		changed[name] = true
	}
	entries, err := readEntries(ctx, dir)
	for i, e := range entries {
		entries[i].isUnchanged = e.isLookedAt && !changed[e.path] && hasTimes(filepath.Join(dir, filepath.FromSlash(e.path)), e.times)
	}
	return entries, err
}

// readEntries lists the index. No entry counts as unchanged.
func readEntries(ctx context.Context, dir string) ([]indexEntry, error) {
	out, err := run(ctx, dir, "ls-files", "-s", "-v", "-z", "--debug")
	if err != nil {
		return nil, err
	}
	entries := make([]indexEntry, 0, bytes.Count(out, []byte{0}))
	rest := string(out)
	for rest != "" {
		line, after, _ := strings.Cut(rest, "\x00")
		e, ok := readEntry(line)
		if ok {
			e.times, rest, ok = readTimes(after)
		}
		if !ok {
			return nil, errors.New("git ls-files printed a line that was not expected")
		}
		entries = append(entries, e)
	}
	return entries, nil
}

// readTimes reads the five lines of git ls-files --debug about an entry, and returns what follows them.
func readTimes(text string) (t times, rest string, ok bool) {
	for i := range 5 {
		line, after, found := strings.Cut(text, "\n")
		if !found || !strings.HasPrefix(line, "  ") {
			return t, "", false
		}
		text = after
		switch i {
		case 0:
			t.changed, ok = readStamp(line, "  ctime: ")
		case 1:
			t.modified, found = readStamp(line, "  mtime: ")
			ok = ok && found
		}
	}
	return t, text, ok
}

func readStamp(line, name string) (s stamp, ok bool) {
	text, ok := strings.CutPrefix(line, name)
	seconds, nanoseconds, found := strings.Cut(text, ":")
	var wrong [2]error
	s.seconds, wrong[0] = strconv.ParseInt(seconds, 10, 64)
	s.nanoseconds, wrong[1] = strconv.ParseInt(nanoseconds, 10, 64)
	return s, ok && found && wrong == [2]error{}
}

// readEntry reads a line of git ls-files: tag, mode, id, stage and name.
func readEntry(line string) (e indexEntry, ok bool) {
	tag, rest, _ := strings.Cut(line, " ")
	e.mode, rest, _ = strings.Cut(rest, " ")
	e.id, rest, _ = strings.Cut(rest, " ")
	stage, name, ok := strings.Cut(rest, "\t")
	e.path, e.isLookedAt = name, tag == "H" && stage == "0"
	return e, ok && name != "" && e.id != ""
}

// convertsLineEnds reports whether git converts line ends in a repository.
func convertsLineEnds(ctx context.Context, dir string) bool {
	out, err := run(ctx, dir, "config", "--get", "core.autocrlf")
	return err == nil && strings.TrimSpace(string(out)) != "false"
}

// convertedFiles lists the files whose bytes git may change between the object store and the folder.
func convertedFiles(ctx context.Context, dir string, entries []indexEntry) ([]string, error) {
	var paths []byte
	for _, e := range entries {
		if e.isUnchanged && kindOf(e.mode) == File {
			paths = append(append(paths, e.path...), 0)
		}
	}
	cmd := newCommand(ctx, dir, "check-attr", "--stdin", "-z", "-a")
	cmd.Stdin = bytes.NewReader(paths)
	text, err := cmd.Output()
	if err != nil {
		return nil, describe(ctx, dir, "check-attr", err)
	}
	var out []string
	fields := strings.Split(string(text), "\x00") // path, attribute, value, …
	for i := 0; i+2 < len(fields); i += 3 {
		switch fields[i+1] {
		case "text", "eol", "crlf", "ident", "filter", "working-tree-encoding":
			if fields[i+2] != "unset" {
				out = append(out, fields[i])
			}
		}
	}
	return out, nil
}
