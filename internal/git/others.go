package git

import (
	"context"
	"path"
	"slices"
)

// maxAsked is up to how many unknown names git is asked about them alone.
const maxAsked = 200

// listOthers lists the files and links of a working tree that git neither tracks nor ignores. A repository in it is one
// name, with a slash at the end. Git looks at all folders for that, unless names tells which entries there are: then
// git is asked only about what the index does not have.
func listOthers(
	ctx context.Context, root string, index []indexEntry, names func() ([]string, error),
) ([]string, error) {
	args := []string{"ls-files", "--others", "--exclude-standard", "-z", "--"}
	if names != nil {
		found, err := names()
		if err != nil {
			return nil, err
		}
		asked := unknownNames(index, found)
		if len(asked) == 0 {
			return nil, nil
		}
		if len(asked) <= maxAsked {
			args = append(args, asked...)
		}
	}
	out, err := run(ctx, root, args...)
	return splitZero(out), err
}

// unknownNames returns the names that the index does not have, sorted. Where it does not have the folder of a name
// either, it returns the folder. What lies in a submodule is left out.
func unknownNames(index []indexEntry, names []string) []string {
	known := make(map[string]bool, len(index)) // true for a submodule
	for _, e := range index {
		known[e.path] = e.isSubmodule()
	}
	var folders map[string]bool // of the index
	var out []string
	for _, name := range names {
		if _, ok := known[name]; ok || name == ".git" {
			continue
		}
		if folders == nil {
			folders = foldersOf(index)
		}
		top, inSubmodule := name, false
		for at := path.Dir(name); at != "."; at = path.Dir(at) {
			inSubmodule = inSubmodule || known[at]
			if !folders[at] {
				top = at
			}
		}
		if !inSubmodule {
			out = append(out, top)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// foldersOf returns the folders that have an entry of the index at any depth.
func foldersOf(index []indexEntry) map[string]bool {
	out := map[string]bool{}
	for _, e := range index {
		for at := path.Dir(e.path); at != "." && !out[at]; at = path.Dir(at) {
			out[at] = true
		}
	}
	return out
}
