package world

import "strings"

// A Step is a part of the way to what a path means: a link on the way, or the end.
type Step struct {
	Path string // of the link or the end, without links on the way; where it leads, when that is outside
	Kind Kind
	File File // of a file, a link or a submodule
}

// maxLinks bounds how many links a path may lead through, as Linux does.
const maxLinks = 40

// Resolve follows a path through the links of the tree, as the system would. It returns each link on the way, and as
// the last step what the path means: a file, a folder, a submodule, nothing (Missing), something outside of the tree,
// or a loop. Links with an absolute path lead outside.
func (t *Tree) Resolve(path string) []Step {
	var steps []Step
	end := func(path string, kind Kind, f File) []Step { return append(steps, Step{path, kind, f}) }
	if strings.HasPrefix(path, "/") {
		return end(path, Outside, File{})
	}
	at, rest, links := "", strings.Split(path, "/"), 0
	for len(rest) > 0 {
		name := rest[0]
		rest = rest[1:]
		switch name {
		case "", ".":
			continue
		case "..":
			if at == "" {
				return end(strings.Join(append([]string{".."}, rest...), "/"), Outside, File{})
			}
			at = at[:max(strings.LastIndexByte(at, '/'), 0)]
			continue
		}
		here := strings.TrimPrefix(at+"/"+name, "/")
		f, kind, _ := t.Lookup(here)
		switch {
		case kind == Missing, kind == Regular && len(rest) > 0:
			return end(strings.Join(append([]string{here}, rest...), "/"), Missing, File{})
		case kind == Link:
			steps = append(steps, Step{here, Link, f})
			if links++; links > maxLinks {
				return end(here, Loop, f)
			}
			text := t.links[f.ID]
			if strings.HasPrefix(text, "/") {
				return end(text, Outside, File{})
			}
			rest = append(strings.Split(text, "/"), rest...)
		default:
			at = here
		}
	}
	f, kind, _ := t.Lookup(at)
	if at == "" {
		at = "."
	}
	return end(at, kind, f)
}
