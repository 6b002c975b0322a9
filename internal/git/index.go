package git

import (
	"bytes"
	"context"
	"errors"
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

// An indexEntry is an entry of the index.
type indexEntry struct {
	path, mode, id string
	isLookedAt     bool // git compares it with the working tree
	isSkipped      bool // git leaves it out of the working tree, as in a sparse checkout
	isMerged       bool // it has no conflict
	isUnchanged    bool // git says that the working tree has this content
	stat           fileStat
}

// A fileStat is what git remembers in its index of a file that it wrote or read: the times of the last change of the
// file and of its content, and where it lies. Git keeps the lower 32 bits of each number.
type fileStat struct {
	isPlain           bool // git has no more to say of it
	isAnnounced       bool // git add -N
	changed, modified stamp
	device, inode     uint32
	user, group, size uint32
}

// A stamp is a time as seconds and nanoseconds.
type stamp struct{ seconds, nanoseconds uint32 }

// isBefore reports whether the time is before another.
func (s stamp) isBefore(other stamp) bool {
	return s.seconds < other.seconds || s.seconds == other.seconds && s.nanoseconds < other.nanoseconds
}

// isSubmodule reports whether the entry is a repository of its own.
func (e indexEntry) isSubmodule() bool { return e.mode == "160000" }

// readIndex lists the index. An entry that git is told not to look at, or that has a conflict, does not count as
// unchanged.
func readIndex(ctx context.Context, dir string) ([]indexEntry, error) {
	look, err := newLook(ctx, dir)
	if err != nil {
		return nil, err
	}
	entries, err := readEntries(ctx, dir)
	for i, e := range entries {
		entries[i].isUnchanged = e.isLookedAt && look.isUnchanged(e)
	}
	return entries, err
}

// readEntries lists the index. No entry counts as unchanged.
func readEntries(ctx context.Context, dir string) ([]indexEntry, error) {
	rest, err := runLong(ctx, dir, "ls-files", "-s", "-v", "-z", "--debug")
	if err != nil {
		return nil, err
	}
	entries := make([]indexEntry, 0, strings.Count(rest, "\x00"))
	for rest != "" {
		line, after, _ := strings.Cut(rest, "\x00")
		e, ok := readEntry(line)
		if ok {
			e.stat, rest, ok = readStat(after)
		}
		if !ok {
			return nil, errors.New("git ls-files printed a line that was not expected")
		}
		entries = append(entries, e)
	}
	return entries, nil
}

// statLabels stand before the numbers that git ls-files --debug prints about an entry.
var statLabels = [...]string{"  ctime: ", ":", "\n  mtime: ", ":", "\n  dev: ", "\tino: ", "\n  uid: ", "\tgid: ",
	"\n  size: "}

// announced is git's bit of a file that is only announced.
const announced = 1 << 29

// readStat reads the five lines of git ls-files --debug about an entry, and returns what follows them.
func readStat(text string) (s fileStat, rest string, ok bool) {
	var n [len(statLabels)]uint32
	for i, label := range statLabels {
		if text, ok = strings.CutPrefix(text, label); !ok {
			return s, "", false
		}
		end := strings.IndexAny(text, ":\n\t")
		number, err := strconv.ParseUint(text[:max(end, 0)], 10, 32)
		if err != nil {
			return s, "", false
		}
		n[i], text = uint32(number), text[end:]
	}
	text, ok = strings.CutPrefix(text, "\tflags: ")
	flags, rest, found := strings.Cut(text, "\n")
	number, err := strconv.ParseUint(flags, 16, 32)
	found = found && err == nil
	s = fileStat{number == 0, number&announced != 0, stamp{n[0], n[1]}, stamp{n[2], n[3]}, n[4], n[5], n[6], n[7], n[8]}
	return s, rest, ok && found
}

// readEntry reads a line of git ls-files: tag, mode, id, stage and name.
func readEntry(line string) (e indexEntry, ok bool) {
	tag, rest, _ := strings.Cut(line, " ")
	e.mode, rest, _ = strings.Cut(rest, " ")
	e.id, rest, _ = strings.Cut(rest, " ")
	stage, name, ok := strings.Cut(rest, "\t")
	e.path, e.isLookedAt = name, tag == "H" && stage == "0"
	e.isSkipped, e.isMerged = tag == "S" || tag == "s", stage == "0"
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
	converting, err := listConverting(ctx, dir, "", paths)
	var out []string
	for _, a := range converting {
		if a.value != "unset" && (len(out) == 0 || out[len(out)-1] != a.path) {
			out = append(out, a.path)
		}
	}
	return out, err
}

// A convertingAttribute is an attribute of a file with which git may change its bytes.
type convertingAttribute struct{ path, name, value string }

// listConverting returns the attributes of files, whose names end with a zero byte, with which git may change bytes.
// Those that are unset are among them. The files .gitattributes are those of an index, or of the working tree if it has
// no name.
func listConverting(ctx context.Context, dir, index string, paths []byte) ([]convertingAttribute, error) {
	cmd := newCommand(ctx, dir, "check-attr", "--stdin", "-z", "-a")
	if index != "" {
		cmd.Args = append(cmd.Args, "--cached")
		cmd.Env = append(cmd.Env, "GIT_INDEX_FILE="+index)
	}
	cmd.Stdin = bytes.NewReader(paths)
	text, err := cmd.Output()
	if err != nil {
		return nil, describe(ctx, dir, "check-attr", err)
	}
	var out []convertingAttribute
	fields := strings.Split(string(text), "\x00") // path, attribute, value, …
	for i := 0; i+2 < len(fields); i += 3 {
		switch fields[i+1] {
		case "text", "eol", "crlf", "ident", "filter", "working-tree-encoding":
			out = append(out, convertingAttribute{fields[i], fields[i+1], fields[i+2]})
		}
	}
	return out, nil
}
