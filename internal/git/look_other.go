//go:build !linux

package git

import "context"

// A look knows which files of a folder git takes for changed. Git is believed on this system.
type look struct{ changed map[string]bool }

// newLook asks git. It must be called before the index is read: then a file that is added to the index meanwhile has its
// new id, and is not taken for the file that was there before.
func newLook(ctx context.Context, dir string) (look, error) {
	differing, err := run(ctx, dir, "-c", "core.checkStat=default", "-c", "core.trustctime=true",
		"diff-files", "--relative", "--name-only", "--no-ext-diff", "--ignore-submodules", "-z")
	l := look{map[string]bool{}}
	for _, name := range splitZero(differing) {
		l.changed[name] = true
	}
	return l, err
}

// isUnchanged reports whether a file is as git remembers it.
func (l look) isUnchanged(e indexEntry) bool { return !l.changed[e.path] }
