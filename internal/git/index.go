package git

import (
	"bytes"
	"context"
	"errors"
	"strings"
)

// UnchangedFiles returns git's ids of those files of a working tree whose content is known without reading them, by
// their paths below the folder.
//
// A file's id is taken from the index when the file is as git wrote it, and nothing could have changed its bytes on the
// way from the object store: no attribute, no setting about line ends, no bit that tells git not to look.
func UnchangedFiles(ctx context.Context, dir string) (map[string]string, error) {
	if out, err := run(ctx, dir, "config", "--get", "core.autocrlf"); err == nil && strings.TrimSpace(string(out)) != "false" {
		return nil, errors.New("git converts line ends in this repository")
	}
	// First the files that differ, then the ids: a file that is added to the index in between has its new id, and is not
	// taken for the one that was there before.
	changed, err := run(ctx, dir, "-c", "core.checkStat=default", "-c", "core.trustctime=true",
		"diff-files", "--relative", "--name-only", "--no-ext-diff", "--ignore-submodules", "-z")
	if err != nil {
		return nil, err
	}
	ids, paths, err := indexed(ctx, dir)
	if err != nil {
		return nil, err
	}
	for name := range strings.SplitSeq(string(changed), "\x00") {
		delete(ids, name)
	}
	return ids, dropConverted(ctx, dir, paths, ids)
}

// indexed lists the files of the index with their ids, but for those that git is told not to look at.
func indexed(ctx context.Context, dir string) (ids map[string]string, paths []byte, err error) {
	out, err := run(ctx, dir, "ls-files", "-s", "-v", "-z")
	if err != nil {
		return nil, nil, err
	}
	ids = make(map[string]string, bytes.Count(out, []byte{0}))
	for line := range strings.SplitSeq(string(out), "\x00") {
		about, name, _ := strings.Cut(line, "\t")
		words := strings.Fields(about) // tag, mode, id, stage
		if len(words) == 4 && words[0] == "H" && words[3] == "0" && kindOf(words[1]) == File {
			ids[name] = words[2]
			paths = append(append(paths, name...), 0)
		}
	}
	return ids, paths, nil
}

// dropConverted removes the files whose bytes git may change between the object store and the folder.
func dropConverted(ctx context.Context, dir string, paths []byte, ids map[string]string) error {
	cmd := newCommand(ctx, dir, "check-attr", "--stdin", "-z", "-a")
	cmd.Stdin = bytes.NewReader(paths)
	out, err := cmd.Output()
	if err != nil {
		return describe(ctx, dir, "check-attr", err)
	}
	fields := strings.Split(string(out), "\x00") // path, attribute, value, …
	for i := 0; i+2 < len(fields); i += 3 {
		switch fields[i+1] {
		case "text", "eol", "crlf", "ident", "filter", "working-tree-encoding":
			if fields[i+2] != "unset" {
				delete(ids, fields[i])
			}
		}
	}
	return nil
}
