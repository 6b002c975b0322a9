package settings

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Programs say which files of the repository the command of an integration may use. The
// zero value stands for all files except those that paths.ignore matches.
type Programs struct {
	None    bool   // the command uses no file of the repository
	Globs   []Glob // the files that it may use; nil means all files
	Ignored []Glob // of paths.ignore; they count only when there are no Globs
}

// Include reports whether the command may use a file. The path is that in the repository.
func (p Programs) Include(path string) bool {
	matches := func(g Glob) bool { return g.Match(path) }
	switch {
	case p.None:
		return false
	case p.Globs != nil:
		return slices.ContainsFunc(p.Globs, matches)
	}
	return !slices.ContainsFunc(p.Ignored, matches)
}

// Literals returns the patterns without wildcards, which name single files. Such a file
// counts also when git ignores it, for example a program that was built.
func (p Programs) Literals() []string {
	var out []string
	for _, g := range p.Globs {
		if !p.None && !strings.ContainsAny(g.Pattern, `*?[]{}\`) {
			out = append(out, g.Pattern)
		}
	}
	return out
}

// patterns returns the value without lines, for a comparison.
func (p Programs) patterns() any { return []any{p.None, p.Globs != nil, globPatterns(p.Globs)} }

// readPrograms reads the key programs: none, all or a list of patterns.
func (r *reader) readPrograms(n *yaml.Node, at string) Programs {
	word, ok := r.word(n, "none", "all")
	switch {
	case ok:
		return Programs{None: word == "none"}
	case n.Kind != yaml.SequenceNode:
		r.fail(n.Line, at, "must be none, all or a list of patterns, got %s", describeNode(n))
		return Programs{}
	}
	globs := r.readGlobs(r.readNonEmptyList(n, at), at)
	return Programs{Globs: append([]Glob{}, globs...)}
}
