package git

import (
	"bytes"
	"context"
	"path/filepath"
	"slices"
	"strings"
)

// Ignores reports whether git ignores a folder, so that it lists none of the files below it.
func Ignores(ctx context.Context, root, dir string) bool {
	name, err := filepath.Rel(root, dir)
	if err != nil {
		return false
	}
	name = filepath.ToSlash(name)
	out, err := run(ctx, root, "ls-files", "--others", "--ignored", "--exclude-standard", "--directory", "-z", "--",
		name)
	isAround := func(ignored string) bool {
		return strings.HasSuffix(ignored, "/") && strings.HasPrefix(name+"/", ignored)
	}
	return err == nil && slices.ContainsFunc(splitZero(out), isAround)
}

// splitZero splits names that end with a zero byte.
func splitZero(out []byte) []string {
	names := make([]string, 0, bytes.Count(out, []byte{0}))
	for name := range strings.SplitSeq(string(out), "\x00") {
		if name != "" {
			names = append(names, name)
		}
	}
	return names
}
