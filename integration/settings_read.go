package integration

import (
	"bytes"
	"errors"
	"io"
	"path"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
	"go.yaml.in/yaml/v3"
)

// The words of the two choices, in the order of their constants.
var (
	listOrders = []string{"ignored", "significant"}
	traces     = []string{"exact", "static", "none"}
	strategies = []string{"", "per-aws-account", "per-openshift-cluster", "per-ocm-organization", "static", "managed"}
)

// Bounds of names and patterns; a pattern with many alternatives can take very
// long to match.
const (
	maxPattern      = 200
	maxAlternatives = 4 // groups in braces
	maxShards       = 10_000
)

// ReadSettings reads the bytes of a settings file; name stands for it in
// messages. It is strict: whatever it does not know is a mistake. The error
// joins one [SettingsError] for each mistake.
func ReadSettings(name string, raw []byte) (*Settings, error) {
	r := &reader{file: name, misspelt: map[*yaml.Node]bool{}}
	s := &Settings{File: name, digest: digest(raw), text: raw}
	if root := r.document(raw); root != nil {
		r.settings(root, s)
	}
	if err := r.err(); err != nil {
		return nil, err
	}
	return s, nil
}

// document parses the file's one YAML document, or notes why it cannot.
func (r *reader) document(raw []byte) *yaml.Node {
	if len(raw) > MaxSettings {
		r.fail(0, "", "is larger than %d bytes", MaxSettings)
		return nil
	}
	dec := yaml.NewDecoder(bytes.NewReader(raw))
	var doc, second yaml.Node
	switch err := dec.Decode(&doc); {
	case errors.Is(err, io.EOF):
		r.fail(0, "", "is empty; it needs at least \"version: 1\"")
		return nil
	case err != nil:
		r.fail(syntaxLine(raw, err), "", "%s", problem(err))
		return nil
	}
	switch err := dec.Decode(&second); {
	case errors.Is(err, io.EOF):
		return doc.Content[0]
	case err != nil:
		r.fail(syntaxLine(raw, err), "", "%s", problem(err))
	default:
		r.fail(second.Line, "", "a second document starts here; keep one")
	}
	return nil
}

var yamlPrefix = regexp.MustCompile(`^yaml: (line \d+: )?`)

// problem is a syntax error without the line, which the parser often gets
// wrong.
func problem(err error) string { return yamlPrefix.ReplaceAllString(err.Error(), "") }

// syntaxLine finds the first line up to which the file has the problem.
func syntaxLine(raw []byte, err error) int {
	want := problem(err)
	lines := bytes.SplitAfter(raw, []byte("\n"))
	upTo := 0
	ends := make([]int, len(lines))
	for i, line := range lines {
		upTo += len(line)
		ends[i] = upTo
	}
	return 1 + sort.Search(len(lines)-1, func(i int) bool {
		dec := yaml.NewDecoder(bytes.NewReader(raw[:ends[i]]))
		for {
			err := dec.Decode(new(yaml.Node))
			if err != nil {
				return !errors.Is(err, io.EOF) && problem(err) == want
			}
		}
	})
}

func (r *reader) settings(root *yaml.Node, s *Settings) {
	keys := r.object(root, "", "version", "exec", "paths", "integrations", "trust", "checkout", "transient", "max_baseline_seconds", "limits", "reuse")
	if n := keys["version"]; n == nil && root.Kind == yaml.MappingNode {
		r.fail(root.Line, "", "version is missing; it starts with \"version: 1\"")
	} else if n != nil && r.integer(n, "version", 0, 1<<31-1) != 1 {
		r.fail(n.Line, "version", "only version 1 is known")
	}
	s.Exec.Timeout = DefaultTimeout
	if n := keys["exec"]; n != nil {
		s.Exec = r.exec(n, "exec", s.Exec)
	}
	if n := keys["paths"]; n != nil {
		r.paths(n, s)
	}
	if n := keys["checkout"]; n != nil {
		s.checkout = r.checkout(n)
	}
	if n := keys["trust"]; n != nil {
		r.trust(n, s)
	}
	if n := keys["transient"]; n != nil {
		s.transient = r.transient(n, "transient")
	}
	if n := keys["max_baseline_seconds"]; n != nil {
		r.baselineSeconds(n, s)
	}
	if n := keys["limits"]; n != nil {
		s.limits = r.limits(n)
	}
	if n := keys["reuse"]; n != nil {
		d := r.fresh(n, "reuse")
		s.reuse = &d
	}
	if n := keys["integrations"]; n != nil {
		s.integrations = map[string]Integration{}
		for _, e := range r.entries(n, "integrations") {
			if r.name(e.line, "integrations", e.key) {
				s.integrations[e.key] = r.integration(e, s)
			}
		}
	}
}

func (r *reader) trust(n *yaml.Node, s *Settings) {
	keys := r.object(n, "trust", "new_integrations", "ci_files")
	if n := keys["new_integrations"]; n != nil {
		s.NewIntegrations = r.boolean(n, "trust.new_integrations")
	}
	if n := keys["ci_files"]; n != nil {
		s.ciFiles = r.globs(r.some(n, "trust.ci_files"), "trust.ci_files")
	}
}

// name checks an integration's name; whether there is such an integration is
// for the planner to say.
func (r *reader) name(line int, at, name string) bool {
	if name == "" {
		r.fail(line, at, "an integration needs a name")
		return false
	}
	return true
}

func (r *reader) paths(n *yaml.Node, s *Settings) {
	keys := r.object(n, "paths", "ignore", "select")
	if n := keys["ignore"]; n != nil {
		s.Ignore = r.globs(r.items(n, "paths.ignore"), "paths.ignore")
	}
	if n := keys["select"]; n != nil {
		for i, n := range r.items(n, "paths.select") {
			s.Rules = append(s.Rules, r.rule(n, "paths.select"+index(i)))
		}
	}
}

func (r *reader) rule(n *yaml.Node, at string) Rule {
	rule := Rule{Line: n.Line}
	keys := r.object(n, at, "when", "run")
	if r.required(n, keys, at, "when") {
		rule.When = r.globs(r.some(keys["when"], at+".when"), at+".when")
	}
	if r.required(n, keys, at, "run") {
		for _, t := range r.texts(r.some(keys["run"], at+".run"), at+".run") {
			if r.name(t.line, at+".run", t.value) {
				rule.Run = append(rule.Run, Name{t.value, t.line})
			}
		}
	}
	return rule
}

// required notes when a mapping lacks a key.
func (r *reader) required(n *yaml.Node, keys map[string]*yaml.Node, at, key string) bool {
	if keys[key] == nil && n.Kind == yaml.MappingNode && !r.misspelt[n] {
		r.fail(n.Line, at, "%s is missing", key)
	}
	return keys[key] != nil
}

func (r *reader) globs(items []*yaml.Node, at string) []Glob {
	var globs []Glob
	for _, t := range r.texts(items, at) {
		if why := badPattern(t.value); why != "" {
			r.fail(t.line, at, "pattern %s %s", clip(t.value), why)
			continue
		}
		globs = append(globs, Glob{t.value, t.line})
	}
	return globs
}

// badPattern says why a pattern cannot be used, or cannot match any path.
func badPattern(p string) string {
	switch {
	case len(p) > maxPattern:
		return "is longer than " + strconv.Itoa(maxPattern) + " bytes"
	case strings.Count(p, "{") > maxAlternatives:
		return "has more than " + strconv.Itoa(maxAlternatives) + " groups of alternatives"
	case strings.HasPrefix(p, "/"):
		return "can never match: paths of the repository start without a slash"
	case strings.HasSuffix(p, "/"):
		return "can never match: it names a folder, add ** for what is in it"
	case !doublestar.ValidatePattern(p):
		return "is malformed"
	}
	if why := badPath(p); why != "" {
		return "can never match: " + why
	}
	return ""
}

// badPath says why a path is not one inside the folder it starts from.
func badPath(p string) string {
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

func (r *reader) integration(e entry, general *Settings) Integration {
	at := "integrations." + e.key
	it := Integration{Name: e.key, Exec: general.Exec, Transient: general.transient, Reuse: general.fresh(), Line: e.line}
	keys := r.object(e.value, at, "exec", "queries", "shards", "list_order", "trace", "transient", "limits", "reuse")
	if n := keys["exec"]; n != nil {
		it.Exec = r.exec(n, at+".exec", general.Exec)
	}
	if n := keys["queries"]; n != nil {
		for _, t := range r.texts(r.some(n, at+".queries"), at+".queries") {
			r.queryPath(t, at+".queries")
			it.Queries = append(it.Queries, QueryFile{t.value, t.line})
		}
	}
	if n := keys["shards"]; n != nil {
		it.Shards = r.shards(n, at+".shards", it.Exec)
	}
	if n := keys["list_order"]; n != nil {
		it.ListOrder, it.Ordered = ListOrder(r.choice(n, at+".list_order", listOrders)), true
	}
	if n := keys["trace"]; n != nil {
		it.Trace = Trace(r.choice(n, at+".trace", traces))
	}
	if n := keys["transient"]; n != nil {
		it.Transient = slices.Concat(general.transient, r.transient(n, at+".transient"))
	}
	if n := keys["limits"]; n != nil {
		it.Limits = r.used(n, at+".limits", general.limits)
	}
	if n := keys["reuse"]; n != nil {
		it.Reuse = r.fresh(n, at+".reuse")
	}
	return it
}

func (r *reader) queryPath(t text, at string) {
	why := badPath(t.value)
	switch {
	case path.IsAbs(t.value):
		why = "it is not relative to the folder of this file"
	case strings.Contains(t.value, `\`):
		why = "it has a backslash; write slashes"
	}
	if why != "" {
		r.fail(t.line, at, "%s cannot be used: %s", clip(t.value), why)
	}
}

func index(i int) string { return "[" + strconv.Itoa(i) + "]" }
