package settings

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/app-sre/prcheck/internal/phrase"
)

// noResources is the value of the key resources for an integration that reads no resource.
const noResources = "none"

// Resources say which resources an integration may ask for, by their path or in a list. The
// zero value lets it ask for all resources. A resource that a field of a datafile leads to
// belongs to the datafile, and is not meant.
type Resources struct {
	limited bool
	globs   []Glob
}

// NewResources returns resources that match one of the patterns. Without patterns they are
// no resources at all.
func NewResources(patterns ...string) Resources {
	r := Resources{limited: true}
	for _, p := range patterns {
		r.globs = append(r.globs, Glob{Pattern: p})
	}
	return r
}

// Allow reports whether the integration may ask for a resource of a bundle. The resource /a.txt
// is resources/a.txt in the repository, and patterns match the latter.
func (r Resources) Allow(path string) bool {
	repo := "resources" + path
	return !r.limited || slices.ContainsFunc(r.globs, func(g Glob) bool { return g.Match(repo) })
}

// AllowAll reports whether the integration may ask for all resources, so that it may list
// them.
func (r Resources) AllowAll() bool {
	return !r.limited || slices.ContainsFunc(r.globs, func(g Glob) bool {
		return g.Pattern == "**" || g.Pattern == "resources/**"
	})
}

// String says which resources may be asked for: the same text for the same ones, wherever the settings say it.
func (r Resources) String() string {
	if !r.limited {
		return "all"
	}
	patterns := []string{}
	for _, g := range r.globs {
		patterns = append(patterns, g.Pattern)
	}
	return fmt.Sprintf("%q", patterns)
}

// withoutLines returns a copy without lines.
func (r Resources) withoutLines() Resources {
	r.globs = slices.Clone(r.globs)
	for i := range r.globs {
		r.globs[i].Line = 0
	}
	return r
}

// readResources reads the key resources of an integration: "none", or a list of patterns.
func (r *reader) readResources(n *yaml.Node, at string) Resources {
	if n.Kind == yaml.ScalarNode {
		if _, none := r.word(n, noResources); !none {
			r.fail(n.Line, at, "must be none or a list of patterns such as resources/jenkins/**, got %s", describeNode(n))
		}
		return Resources{limited: true}
	}
	globs := r.readGlobs(r.readNonEmptyList(n, at), at)
	for _, g := range globs {
		if first, _, _ := strings.Cut(g.Pattern, "/"); first != "resources" && !strings.ContainsAny(first, "*?[{") {
			r.fail(g.Line, at, "pattern %s can never match: paths of resources start with resources/", phrase.Quote(g.Pattern))
		}
	}
	return Resources{true, globs}
}
