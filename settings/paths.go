package settings

import (
	"strconv"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
	"go.yaml.in/yaml/v3"

	"github.com/app-sre/prcheck/internal/phrase"
)

// Limits of patterns. A pattern with many groups of alternatives may take very long to
// match.
const (
	maxPatternBytes = 200
	maxAlternatives = 4 // groups in braces
)

// readPaths reads the key paths.
func (r *reader) readPaths(n *yaml.Node, s *Settings) {
	keys := r.readObject(n, "paths", "ignore", "select")
	if n := keys["ignore"]; n != nil {
		s.Ignore = r.readGlobs(r.readList(n, "paths.ignore"), "paths.ignore")
	}
	if n := keys["select"]; n != nil {
		for i, n := range r.readList(n, "paths.select") {
			s.Rules = append(s.Rules, r.readRule(n, "paths.select"+indexSuffix(i)))
		}
	}
}

// readRule reads one rule of paths.select.
func (r *reader) readRule(n *yaml.Node, at string) Rule {
	rule := Rule{Line: n.Line}
	keys := r.readObject(n, at, "when", "run")
	if r.requireKey(n, keys, at, "when") {
		rule.When = r.readGlobs(r.readNonEmptyList(keys["when"], at+".when"), at+".when")
	}
	if r.requireKey(n, keys, at, "run") {
		for _, t := range r.readUniqueTexts(r.readNonEmptyList(keys["run"], at+".run"), at+".run") {
			if r.checkName(t.line, at+".run", t.value) {
				rule.Run = append(rule.Run, Name{t.value, t.line})
			}
		}
	}
	return rule
}

// readGlobs reads a list of path patterns.
func (r *reader) readGlobs(items []*yaml.Node, at string) []Glob {
	var globs []Glob
	r.noteItems(items, constraint{"pattern": `^[^/]([\s\S]*[^/])?$`, "maxLength": maxPatternBytes})
	for _, t := range r.readUniqueTexts(items, at) {
		if why := patternProblem(t.value); why != "" {
			r.fail(t.line, at, "pattern %s %s", phrase.Quote(t.value), why)
			continue
		}
		globs = append(globs, Glob{t.value, t.line})
	}
	return globs
}

// patternProblem returns why a pattern cannot be used or can never match, "" if it can.
func patternProblem(p string) string {
	switch {
	case len(p) > maxPatternBytes:
		return "is longer than " + strconv.Itoa(maxPatternBytes) + " bytes"
	case strings.Count(p, "{") > maxAlternatives:
		return "has more than " + strconv.Itoa(maxAlternatives) + " groups of alternatives"
	case strings.HasPrefix(p, "/"):
		return "can never match: paths of the repository start without a slash"
	case strings.HasSuffix(p, "/"):
		return "can never match: it names a folder, add ** for what is in it"
	case !doublestar.ValidatePattern(p):
		return "is malformed"
	}
	if why := pathProblem(p); why != "" {
		return "can never match: " + why
	}
	return ""
}

// pathProblem returns why a relative path could leave its folder or is not clean, "" if
// it is fine.
func pathProblem(p string) string {
	for part := range strings.SplitSeq(p, "/") {
		switch part {
		case "":
			return "it has an empty part"
		case ".", "..":
			return "it has the part " + strconv.Quote(part)
		}
	}
	return ""
}
