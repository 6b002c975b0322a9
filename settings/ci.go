package settings

import "slices"

// defaultCIFiles is the value of trust.ci_files if the settings do not set it.
var defaultCIFiles = []Glob{{Pattern: ".gitlab-ci.yml"}, {Pattern: ".gitlab-ci.yaml"}, {Pattern: ".gitlab/**"},
	{Pattern: "**/*.gitlab-ci.{yml,yaml}"}}

// IsCIFile reports whether a path of the repository is a file of the CI configuration. A
// change of such a file may change whether and how checks are started.
func (s *Settings) IsCIFile(path string) bool {
	globs := s.ciFiles
	if globs == nil {
		globs = defaultCIFiles
	}
	return slices.ContainsFunc(globs, func(g Glob) bool { return g.Match(path) })
}
