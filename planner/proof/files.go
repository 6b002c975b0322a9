package proof

import (
	"crypto/sha256"
	"fmt"
	"path"
	"slices"
	"strings"
)

// A FileRead is a name in the repository that a run used, and what it found there.
type FileRead struct {
	Path  string // "." is the root
	Lists bool   // the names in the folder count
	Found string
}

// Files are head's files, and what the state remembers of files that runs read.
type Files interface {
	// Reads returns what a run of an integration read, which it names by an id.
	Reads(integration, id string) ([]FileRead, error)
	// Head returns the modes and ids of all files of head, by their paths, and the commit.
	Head() (files map[string]string, commit string, err error)
	// Beside returns what the checkout has at a path that is not one of head's files, and whether it
	// may have something there.
	Beside(name string, lists bool) (found string, is bool)
	// BesideIn returns the names in a folder that are not among head's files.
	BesideIn(folder string) []string
	// All returns a digest of all files that the command of an integration may use.
	All(integration string) (string, error)
}

// The beginnings of the ids of what runs read, and the id of a run of which the settings declare
// the files.
const (
	readOf     = "read:"
	allOf      = "all:"
	isDeclared = "declared"
)

// sameFiles tells whether every file, listing and vain look-up of a run is the same on head. What
// is not known is not the same.
func (c *prover) sameFiles(integration, id string) bool {
	if c.Files == nil || id == isDeclared {
		return true
	}
	if digest, ok := strings.CutPrefix(id, allOf); ok {
		now, err := c.Files.All(integration)
		return err == nil && now == digest
	}
	if !strings.HasPrefix(id, readOf) {
		return false
	}
	key := integration + "\x00" + id
	same, known := c.filesSame[key]
	if !known {
		same = c.compareFiles(integration, id)
		c.filesSame[key] = same
	}
	return same
}

// compareFiles compares each name that a run used with head.
func (c *prover) compareFiles(integration, id string) bool {
	list, err := c.Files.Reads(integration, id)
	if err != nil {
		return false
	}
	if c.headFiles == nil {
		if c.headFiles, c.headCommit, err = c.Files.Head(); err != nil {
			return false
		}
	}
	return !slices.ContainsFunc(list, func(r FileRead) bool { return r.Found == "?" || c.found(r.Path, r.Lists) != r.Found })
}

// found returns what head has at a path.
func (c *prover) found(name string, lists bool) string {
	if path.Base(name) == ".git" {
		if module, ok := strings.CutPrefix(c.headFiles[path.Dir(name)], "160000 "); ok {
			return "commit " + module
		}
		return "commit " + c.headCommit
	}
	entry, isFile := c.headFiles[name]
	isModule := strings.HasPrefix(entry, "160000 ")
	if isFile && !(isModule && lists) {
		return entry
	}
	names, isFolder := c.namesIn(name)
	switch {
	case !isFolder && !isModule:
		if found, is := c.Files.Beside(name, lists); is {
			return found
		}
		return "missing"
	case !lists:
		return "folder"
	}
	names = append(names, c.Files.BesideIn(name)...)
	slices.Sort(names)
	return fmt.Sprintf("folder %x", sha256.Sum256([]byte(strings.Join(slices.Compact(names), "\x00"))))[:len("folder ")+32]
}

// namesIn returns the names in a folder of head, and whether there is one.
func (c *prover) namesIn(folder string) (names []string, is bool) {
	prefix := folder + "/"
	if folder == "." {
		prefix = ""
	}
	for at := range c.headFiles {
		if below, ok := strings.CutPrefix(at, prefix); ok {
			name, _, _ := strings.Cut(below, "/")
			names = append(names, name)
		}
	}
	return names, len(names) > 0 || folder == "."
}
