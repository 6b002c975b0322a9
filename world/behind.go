package world

import (
	"slices"
	"strings"
)

// maxBehind bounds how many paths are listed that lead through links.
const maxBehind = 200_000

// Behind returns, for each file and link to which a link of the tree leads, the other paths that
// lead there: that of the link, or one through a link to a folder. So a program that is named by
// a link is found by the file that is edited. ok is false when there are more than can be listed.
func (t *Tree) Behind() (paths map[string][]string, ok bool) {
	paths = map[string][]string{}
	left := maxBehind
	var follow func(path string, depth int)
	add := func(target, path string) {
		if target != path && !slices.Contains(paths[target], path) {
			paths[target] = append(paths[target], path)
			left--
		}
	}
	follow = func(path string, depth int) {
		steps := t.Resolve(path)
		end := steps[len(steps)-1]
		for _, s := range steps[:len(steps)-1] {
			add(s.Path, path)
		}
		if end.Kind == Regular {
			add(end.Path, path)
		}
		switch {
		case depth > maxLinks, end.Kind != Folder && end.Kind != Submodule:
			return
		case end.Path == ".": // a link to the root leads to everything, by its own name as well
			return
		}
		prefix := end.Path + "/"
		for i := t.find(prefix); i < len(t.files) && strings.HasPrefix(t.files[i].Path, prefix) && left > 0; i++ {
			virtual := path + "/" + t.files[i].Path[len(prefix):]
			add(t.files[i].Path, virtual)
			if t.files[i].Mode == modeLink {
				follow(virtual, depth+1)
			}
		}
	}
	for _, f := range t.files {
		if f.Mode == modeLink && left > 0 {
			follow(f.Path, 0)
		}
	}
	return paths, left > 0
}
