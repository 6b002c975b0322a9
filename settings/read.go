package settings

import (
	"bytes"
	"errors"
	"io"
	"path"
	"slices"
	"sort"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/app-sre/prcheck/internal/lazyregexp"
	"github.com/app-sre/prcheck/internal/phrase"
	"github.com/app-sre/prcheck/qontract/bundle"
)

// The words of the settings for ListOrder, Trace, schemas and Strategy, in the order of their
// constants.
var (
	listOrders = []string{"ignored", "significant"}
	traces     = []string{"exact", "static", "none"}
	baselines  = []string{"compare", "none"}
	strictness = []string{"believed", "strict"} // of the key schemas
	strategies = []string{"", "per-aws-account", "per-openshift-cluster", "per-ocm-organization", "static", "managed"}
)

// maxShards is the largest value of shards.max.
const maxShards = 10_000

// Read parses the bytes of a settings file. The name is used in messages. Every
// unknown key or value is a mistake. The error joins one [Error] per mistake.
func Read(name string, raw []byte) (*Settings, error) {
	r := &reader{Mistakes: Mistakes{File: name}, misspelt: map[*yaml.Node]bool{}}
	s := &Settings{File: name, digest: digest(raw), text: raw}
	if root := r.readDocument(raw); root != nil {
		r.readSettings(root, s)
	}
	if err := r.Err(); err != nil {
		return nil, err
	}
	return s, nil
}

// readDocument parses the file, which must have exactly one YAML document. If it cannot,
// it notes a mistake and returns nil.
func (r *reader) readDocument(raw []byte) *yaml.Node {
	if len(raw) > MaxBytes {
		r.fail(0, "", "is larger than %d bytes", MaxBytes)
		return nil
	}
	dec := yaml.NewDecoder(bytes.NewReader(raw))
	var doc, second yaml.Node
	switch err := dec.Decode(&doc); {
	case errors.Is(err, io.EOF):
		r.fail(0, "", "is empty; it needs at least \"version: 1\"")
		return nil
	case err != nil:
		r.fail(syntaxLine(raw, err), "", "%s", syntaxProblem(err))
		return nil
	}
	switch err := dec.Decode(&second); {
	case errors.Is(err, io.EOF):
		return doc.Content[0]
	case err != nil:
		r.fail(syntaxLine(raw, err), "", "%s", syntaxProblem(err))
	default:
		r.fail(second.Line, "", "a second document starts here; keep one")
	}
	return nil
}

// yamlPrefix matches the beginning of the parser's errors.
var yamlPrefix = lazyregexp.New(`^yaml: (line \d+: )?`)

// syntaxProblem returns the message of a syntax error without its line. The line that the
// parser reports is often wrong, see syntaxLine.
func syntaxProblem(err error) string { return yamlPrefix.ReplaceAllString(err.Error(), "") }

// syntaxLine returns the line of a syntax error: the first line after which the beginning
// of the file has the same error.
func syntaxLine(raw []byte, err error) int {
	want := syntaxProblem(err)
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
				return !errors.Is(err, io.EOF) && syntaxProblem(err) == want
			}
		}
	})
}

// readSettings reads the top level of the file into s.
func (r *reader) readSettings(root *yaml.Node, s *Settings) {
	keys := r.readObject(root, "", "version", "exec", "paths", "integrations", "trust", "checkout", "transient",
		"max_baseline_seconds", "limits", "reuse", "definition_schema", "state", "secrets", "programs", "schemas", "effects",
		"audit", "environment", "prepare", "reads", "owners")
	r.readVersion(root, keys["version"])
	s.Exec.Timeout = DefaultTimeout
	if n := keys["exec"]; n != nil {
		s.Exec = r.readExec(n, "exec", s.Exec)
	}
	if n := keys["paths"]; n != nil {
		r.readPaths(n, s)
	}
	if n := keys["checkout"]; n != nil {
		s.checkout = r.readCheckout(n)
	}
	if n := keys["trust"]; n != nil {
		r.readTrust(n, s)
	}
	if n := keys["transient"]; n != nil {
		s.transient = r.readTransient(n, "transient")
	}
	if n := keys["max_baseline_seconds"]; n != nil {
		r.readBaselineLimit(n, s)
	}
	if n := keys["limits"]; n != nil {
		s.limits = r.readLimits(n)
	}
	if n := keys["schemas"]; n != nil {
		s.strict = r.readChoice(n, "schemas", strictness) == 1
	}
	if n := keys["definition_schema"]; n != nil {
		s.definitionSchema = r.readDefinitionSchema(n)
	}
	if n := keys["reuse"]; n != nil {
		d := r.readReuse(n, "reuse")
		s.reuse = &d
	}
	if n := keys["state"]; n != nil {
		s.state = r.readState(n)
	}
	if n := keys["secrets"]; n != nil {
		s.secrets = r.readSecrets(n)
	}
	r.readWorlds(keys, s)
	if n := keys["effects"]; n != nil {
		s.effects = r.readEffects(n)
	}
	r.readOthers(keys, s)
	if n := keys["integrations"]; n != nil {
		s.integrations = map[string]Integration{}
		r.note(n, constraint{"propertyNames": constraint{"minLength": 1}})
		for _, e := range r.readEntries(n, "integrations") {
			if r.checkName(e.line, "integrations", e.key) {
				s.integrations[e.key] = r.readIntegration(e, s)
			}
		}
	}
}

// readOthers reads keys that say nothing of how integrations run.
func (r *reader) readOthers(keys map[string]*yaml.Node, s *Settings) {
	if n := keys["audit"]; n != nil {
		s.distrust = r.readAudit(n)
	}
	if n := keys["owners"]; n != nil {
		s.owners = r.readOwners(n)
	}
}

// readDefinitionSchema reads the key definition_schema.
func (r *reader) readDefinitionSchema(n *yaml.Node) bundle.SchemaPath {
	schema, _ := r.readText(n, "definition_schema")
	return bundle.SchemaPath(schema)
}

// readVersion reads the key version, which must be there.
func (r *reader) readVersion(root, n *yaml.Node) {
	r.note(root, constraint{"required": []string{"version"}})
	if n == nil {
		if root.Kind == yaml.MappingNode {
			r.fail(root.Line, "", "version is missing; it starts with \"version: 1\"")
		}
		return
	}
	v := r.readInt(n, "version", 0, 1<<31-1)
	r.note(n, constraint{"minimum": 1, "maximum": 1})
	if v != 1 {
		r.fail(n.Line, "version", "only version 1 is known")
	}
}

// readTrust reads the key trust.
func (r *reader) readTrust(n *yaml.Node, s *Settings) {
	keys := r.readObject(n, "trust", "new_integrations", "new_commands", "ci_files")
	if n := keys["new_integrations"]; n != nil {
		s.TrustNewIntegrations = r.readBool(n, "trust.new_integrations")
	}
	if n := keys["new_commands"]; n != nil {
		s.worlds.newCommands = r.readBool(n, "trust.new_commands")
	}
	if n := keys["ci_files"]; n != nil {
		s.ciFiles = r.readGlobs(r.readNonEmptyList(n, "trust.ci_files"), "trust.ci_files")
	}
}

// checkName reports whether a name of an integration is not empty, and notes a mistake if
// it is. The planner checks whether the integration exists.
func (r *reader) checkName(line int, at, name string) bool {
	if name == "" {
		r.fail(line, at, "an integration needs a name")
		return false
	}
	return true
}

// requireKey reports whether a mapping has a key, and notes a mistake if not.
func (r *reader) requireKey(n *yaml.Node, keys map[string]*yaml.Node, at, key string) bool {
	r.note(n, constraint{"required": []string{key}})
	return r.hasKey(n, keys, at, key)
}

// hasKey is requireKey for a key that another one can replace.
func (r *reader) hasKey(n *yaml.Node, keys map[string]*yaml.Node, at, key string) bool {
	if keys[key] == nil && n.Kind == yaml.MappingNode && !r.misspelt[n] {
		r.fail(n.Line, at, "%s is missing", key)
	}
	return keys[key] != nil
}

// readIntegration reads the settings of one integration.
func (r *reader) readIntegration(e entry, general *Settings) Integration {
	at := "integrations." + e.key
	it := Integration{Name: e.key, Exec: general.Exec, Transient: general.transient, Reuse: general.reuseTime(),
		Programs: general.programs, Effects: general.effects.rules, Strict: general.strict, Reads: general.worlds.reads,
		Line: e.line}
	keys := r.readObject(e.value, at, "exec", "queries", "resources", "schemas", "shards", "list_order", "trace",
		"transient", "limits", "reuse", "baseline", "programs", "reads", "effects", "native", "settings", "deletes", "adopt",
		"take_over", "take_over_from", "server_dry_run")
	r.readNative(keys, at, &it)
	if n := keys["exec"]; n != nil {
		it.Exec = r.readExec(n, at+".exec", general.Exec)
	}
	if n := keys["queries"]; n != nil {
		items := r.readNonEmptyList(n, at+".queries")
		r.noteItems(items, constraint{"pattern": `^[^/\\][^\\]*$`})
		for _, t := range r.readUniqueTexts(items, at+".queries") {
			r.checkQueryPath(t, at+".queries")
			it.Queries = append(it.Queries, QueryFile{t.value, t.line})
		}
	}
	if n := keys["schemas"]; n != nil {
		it.Strict = r.readChoice(n, at+".schemas", strictness) == 1
	}
	if n := keys["resources"]; n != nil {
		it.Resources = r.readResources(n, at+".resources")
		it.Harmless = len(keys) == 1
	}
	if n := keys["shards"]; n != nil {
		it.Shards = r.readShards(n, at+".shards", it)
	}
	if n := keys["list_order"]; n != nil {
		it.ListOrder, it.ListOrderSet = ListOrder(r.readChoice(n, at+".list_order", listOrders)), true
	}
	if n := keys["trace"]; n != nil {
		it.Trace = Trace(r.readChoice(n, at+".trace", traces))
	}
	if n := keys["transient"]; n != nil {
		it.Transient = slices.Concat(general.transient, r.readTransient(n, at+".transient"))
	}
	if n := keys["limits"]; n != nil {
		it.Limits = r.readLimitNames(n, at+".limits", general.limits)
	}
	if n := keys["reuse"]; n != nil {
		it.Reuse = r.readReuse(n, at+".reuse")
	}
	if n := keys["baseline"]; n != nil {
		it.NoBaseline = r.readChoice(n, at+".baseline", baselines) > 0
	}
	if n := keys["programs"]; n != nil {
		it.Programs = r.readPrograms(n, at+".programs")
	}
	if n := keys["reads"]; n != nil {
		it.Reads = Reads(r.readChoice(n, at+".reads", readWays))
	}
	if n := keys["effects"]; n != nil {
		it.Effects = r.readOwnEffects(n, at+".effects", general.effects.rules)
	}
	return it
}

// checkQueryPath notes a mistake if the path of a query file cannot be used.
func (r *reader) checkQueryPath(t text, at string) {
	why := pathProblem(t.value)
	switch {
	case path.IsAbs(t.value):
		why = "it is not relative to the folder of this file"
	case strings.Contains(t.value, `\`):
		why = "it has a backslash; write slashes"
	}
	if why != "" {
		r.fail(t.line, at, "%s cannot be used: %s", phrase.Quote(t.value), why)
	}
}

// indexSuffix returns the end of the path of a list item, such as "[2]".
func indexSuffix(i int) string { return "[" + strconv.Itoa(i) + "]" }
