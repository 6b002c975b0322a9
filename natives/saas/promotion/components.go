package promotion

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
)

// BranchPrefix begins the names of all branches of promotions.
const BranchPrefix = "saas-promotion/"

// A Component is subscribers that share files, directly or through others. It has one merge
// request, so that two merge requests never change the same file.
type Component struct {
	Subscribers []string // sorted
	Files       []string // sorted
}

// Branch returns the name of the branch of a component, which follows from its files.
func (c Component) Branch() string { return Branch(c.Files) }

// Branch returns the name of the branch for sorted files.
func Branch(files []string) string {
	sum := sha256.Sum256([]byte(strings.Join(files, "\n")))
	return BranchPrefix + hex.EncodeToString(sum[:])[:12]
}

// Components returns the components of subscribers with the files that they change, in the order
// of their first file.
func Components(files map[string][]string) []Component {
	parent := map[string]string{}
	root := func(file string) string {
		for parent[file] != file {
			parent[file] = parent[parent[file]] // half the way for the next one
			file = parent[file]
		}
		return file
	}
	names := sortedKeys(files)
	for _, name := range names {
		for _, f := range files[name] {
			if _, known := parent[f]; !known {
				parent[f] = f
			}
			a, b := root(files[name][0]), root(f)
			parent[max(a, b)] = min(a, b) // so the root is the first file
		}
	}
	by := map[string]*Component{}
	for _, f := range sortedKeys(parent) {
		r := root(f)
		if by[r] == nil {
			by[r] = &Component{}
		}
		by[r].Files = append(by[r].Files, f)
	}
	for _, name := range names {
		if len(files[name]) > 0 {
			c := by[root(files[name][0])]
			c.Subscribers = append(c.Subscribers, name)
		}
	}
	var out []Component
	for _, r := range sortedKeys(by) {
		out = append(out, *by[r])
	}
	slices.SortFunc(out, func(a, b Component) int { return strings.Compare(a.Files[0], b.Files[0]) })
	return out
}
