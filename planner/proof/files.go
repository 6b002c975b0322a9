package proof

import (
	"cmp"
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
	// All returns all files that the command of an integration may use, with their modes and ids,
	// if the settings do not declare them.
	All(integration string) ([]FileRead, error)
}

// The beginnings of the ids of what runs read, and the id of a run of which the settings declare
// the files.
const (
	readOf     = "read:"
	allOf      = "all:"
	isDeclared = "declared"
)

// A checkout is head's files, by path and by folder.
type checkout struct {
	files  map[string]string          // modes and ids
	names  map[string]map[string]bool // the names in each folder
	commit string
}

// newCheckout orders files by their folders. A folder has the names of what lies below it.
func newCheckout(files map[string]string, commit string) *checkout {
	c := &checkout{files, map[string]map[string]bool{".": {}}, commit}
	for at := range files {
		for at != "." {
			folder := path.Dir(at)
			isKnown := c.names[folder] != nil
			if !isKnown {
				c.names[folder] = map[string]bool{}
			}
			c.names[folder][path.Base(at)] = true
			if isKnown { // so are the folders above it
				break
			}
			at = folder
		}
	}
	return c
}

// sameFiles tells whether every file, listing and vain look-up of a run is the same on head. What
// is not known is not the same. Of a run that nobody recorded it is believed that it read what the
// settings declare, or all files, unless head edits a file that may be used.
func (c *prover) sameFiles(integration, id string) bool {
	if c.Files == nil {
		return true
	}
	if strings.HasPrefix(id, readOf) {
		key := integration + "\x00" + id
		same, known := c.filesSame[key]
		if !known {
			same = c.compareFiles(integration, id)
			c.filesSame[key] = same
		}
		return same
	}
	if c.Edited != nil && len(c.Edited(integration)) > 0 {
		return false
	}
	programs := c.Settings.For(integration).Programs
	areDeclared := programs.None || programs.Globs != nil
	digest, isAll := strings.CutPrefix(id, allOf)
	same := id == isDeclared && areDeclared || isAll && !areDeclared && c.allFiles(integration) == digest
	c.unrecorded[integration] = c.unrecorded[integration] || same
	return same
}

// compareFiles compares each name that a run used with head.
func (c *prover) compareFiles(integration, id string) bool {
	list, err := c.Files.Reads(integration, id)
	if err != nil {
		return false
	}
	if c.checkout == nil {
		files, commit, err := c.Files.Head()
		if err != nil {
			return false
		}
		c.checkout = newCheckout(files, commit)
	}
	return !slices.ContainsFunc(list, func(r FileRead) bool {
		return r.Found == "?" || c.found(r.Path, r.Lists) != r.Found
	})
}

// found returns what head has at a path.
func (c *prover) found(name string, lists bool) string {
	head := c.checkout
	if path.Base(name) == ".git" {
		if module, ok := strings.CutPrefix(head.files[path.Dir(name)], "160000 "); ok {
			return "commit " + module
		}
		return "commit " + head.commit
	}
	entry, isFile := head.files[name]
	isModule := strings.HasPrefix(entry, "160000 ")
	if isFile && !(isModule && lists) {
		return entry
	}
	inside, isFolder := head.names[name]
	switch {
	case !isFolder && !isModule:
		if found, is := c.Files.Beside(name, lists); is {
			return found
		}
		return "missing"
	case !lists:
		return "folder"
	}
	names := append(sortedKeys(inside), c.Files.BesideIn(name)...)
	slices.Sort(names)
	return fmt.Sprintf("folder %x", sha256.Sum256([]byte(strings.Join(slices.Compact(names), "\x00"))))[:len("folder ")+32]
}

// allFiles returns the digest of all files that the command of an integration may use: of their
// quoted paths, modes and ids, one a line and sorted. It is "" if they are not all known.
func (c *prover) allFiles(integration string) string {
	files, err := c.Files.All(integration)
	if err != nil {
		return ""
	}
	files = slices.Clone(files)
	slices.SortFunc(files, func(a, b FileRead) int {
		return cmp.Or(strings.Compare(a.Path, b.Path), strings.Compare(b.Found, a.Found))
	})
	sum := sha256.New()
	for _, f := range files {
		_, _ = fmt.Fprintf(sum, "%q %s\n", f.Path, f.Found) // a hash never fails
	}
	return fmt.Sprintf("sha256:%x", sum.Sum(nil))
}
