//go:build unix

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// A world is a checkout with two commits, base and head, and the bundles of both.
type world struct {
	dir          string // of the checkout
	base, head   string // bundle files
	integrations int
}

// The parts of a world of n datafiles, in percent. The rest are namespaces.
const (
	users       = 50
	roles       = 10
	resourcesOf = 60 // resources for each hundred datafiles
)

// newWorld makes a world with so many datafiles, of which so many change. The programs are in
// the folder bin.
func newWorld(ctx context.Context, dir, bin string, files, changes, integrations int) (*world, error) {
	w := &world{dir: filepath.Join(dir, "checkout"), base: filepath.Join(dir, "base.json"),
		head: filepath.Join(dir, "head.json"), integrations: integrations}
	steps := []func() error{
		func() error { return w.writeTypes() },
		func() error { return w.writeSettings() },
		func() error { return w.writeData(files) },
		func() error { return w.commit(ctx, "base") },
		func() error { return w.bundle(ctx, bin, w.base) },
		func() error { return w.change(files, changes) },
		func() error { return w.commit(ctx, "head") },
		func() error { return run(ctx, w.dir, "git", "repack", "-a", "-d", "-q") }, // as in a clone
		func() error { return w.bundle(ctx, bin, w.head) },
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return nil, err
		}
	}
	return w, nil
}

// write writes a file of the checkout.
func (w *world) write(name, text string) error {
	name = filepath.Join(w.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(name), 0o750); err != nil {
		return err
	}
	return os.WriteFile(name, []byte(text), 0o600)
}

// kinds are the schemas of the data with their fields in GraphQL.
var kinds = map[string]string{
	"user": "- {name: email, type: string}\n  - {name: keys, type: string, isList: true}\n  - {name: roles, " +
		"type: Role_v1, isList: true}\n",
	"role": "- {name: namespaces, type: Namespace_v1, isList: true}\n  - {name: users, type: User_v1, isList: " +
		"true, synthetic: {schema: /bench/user-1.yml, subAttr: roles}}\n",
	"namespace":   "- {name: cluster, type: string}\n  - {name: quota, type: string}\n  - {name: labels, type: json}\n",
	"integration": "- {name: description, type: string}\n  - {name: schemas, type: string, isList: true}\n",
}

// schemaOf returns the schema of a kind.
func schemaOf(kind string) string {
	if kind == "integration" {
		return "/app-sre/integration-1.yml"
	}
	return "/bench/" + kind + "-1.yml"
}

// writeTypes writes the JSON schemas and the GraphQL types.
func (w *world) writeTypes() error {
	types := "confs:\n"
	query := "- name: Query\n  fields:\n"
	for _, kind := range []string{"user", "role", "namespace", "integration"} {
		name := strings.ToUpper(kind[:1]) + kind[1:] + "_v1"
		types += fmt.Sprintf("- name: %s\n  datafile: %s\n  fields:\n  - {name: path, type: string, isRequired: true}\n  - "+
			"{name: name, type: string, isRequired: true, isSearchable: true}\n  %s",
			name, schemaOf(kind), kinds[kind])
		query += fmt.Sprintf("  - {name: %ss, type: %s, isList: true, datafileSchema: %s}\n", kind, name, schemaOf(kind))
		schema := fmt.Sprintf(`{"$schema": "http://json-schema.org/draft-06/schema", "version": "1.0", "type": "object", "properties": {"$schema": {"type": "string", "enum": [%q]}}, "required": ["$schema"]}`, schemaOf(kind))
		if err := w.write("schemas"+schemaOf(kind), schema); err != nil {
			return err
		}
	}
	if err := w.write("schemas/app-interface/graphql-schemas-1.yml",
		`{"$schema": "http://json-schema.org/draft-06/schema", "type": "object"}`); err != nil {
		return err
	}
	return w.write("graphql-schemas/schema.yml", "$schema: /app-interface/graphql-schemas-1.yml\n"+types+query)
}

// queries are what the integrations ask.
var queries = []string{
	"{ users { path name email } }", "{ users { name keys roles { name } } }",
	"{ roles { name namespaces { name cluster } } }",
	"{ namespaces { path name quota } }", "{ namespaces { name labels } }", "{ roles { name users { name } } }",
	"{ namespaces { name cluster } }",
}

// writeSettings writes the integrations and files of settings: with declared queries, and without
// them, where each integration runs for each change. Without them there are also settings by which
// each integration may use any file, also without traces, and by which nothing is recorded.
func (w *world) writeSettings() error {
	const usual = "version: 1\nexec: {argv: [/bin/true, \"{name}\"]}\n"
	const start = usual + "programs: none\n"
	declared, untraced := start+"integrations:\n", usual+"integrations:\n"
	for i, q := range queries {
		if err := w.write(fmt.Sprintf("queries/%d.graphql", i), q+"\n"); err != nil {
			return err
		}
	}
	for i := range w.integrations {
		name := fmt.Sprintf("int-%03d", i)
		untraced += "  " + name + ": {trace: none}\n"
		declared += fmt.Sprintf("  %s: {resources: none, queries: [queries/%d.graphql]}\n", name, i%len(queries))
		text := fmt.Sprintf("$schema: %s\nname: %s\ndescription: measured\nschemas: [%s, %s, %s]\npr_check: {cmd: %s}\n",
			schemaOf("integration"), name, schemaOf("user"), schemaOf("role"), schemaOf("namespace"), name)
		if err := w.write("data/integrations/"+name+".yml", text); err != nil {
			return err
		}
	}
	for name, text := range map[string]string{"undeclared.yaml": start, "usual.yaml": usual,
		"unrecorded.yaml": start + "reads: none\n", "untraced.yaml": untraced} {
		if err := w.write(name, text); err != nil {
			return err
		}
	}
	return w.write("prcheck.yaml", declared)
}

// writeData writes the datafiles and the resources.
func (w *world) writeData(files int) error {
	r := rand.New(rand.NewPCG(1, 72)) //nolint:gosec // data for a measurement
	for i := range files {
		if err := w.write(w.name(i, files), w.text(r, i, files, "")); err != nil {
			return err
		}
	}
	for i := range files * resourcesOf / 100 {
		if err := w.write(fmt.Sprintf("resources/r%d/%d.txt", i/50, i),
			strings.Repeat(fmt.Sprintf("line %d of a resource\n", r.IntN(1000)), 20)); err != nil {
			return err
		}
	}
	return nil
}

// kindOf returns of which kind a datafile is: the kinds are mixed.
func kindOf(i int) string {
	switch n := i * 37 % 100; {
	case n < users:
		return "user"
	case n < users+roles:
		return "role"
	}
	return "namespace"
}

// name returns the name of a datafile.
func (w *world) name(i, _ int) string { return fmt.Sprintf("data/%ss/f%d/%d.yml", kindOf(i), i/50, i) }

// text returns a datafile, with a mark in a field that somebody reads.
func (w *world) text(r *rand.Rand, i, files int, mark string) string {
	kind := kindOf(i)
	out := fmt.Sprintf("$schema: %s\nname: %s-%d\n", schemaOf(kind), kind, i)
	refs := func(kind string, n int) {
		for range n {
			for {
				if j := r.IntN(files); kindOf(j) == kind {
					out += fmt.Sprintf("- $ref: %s\n", strings.TrimPrefix(w.name(j, files), "data"))
					break
				}
			}
		}
	}
	switch kind {
	case "user":
		out += fmt.Sprintf("email: user-%d%s@example.com\nkeys:\n", i, mark)
		for range 3 {
			out += fmt.Sprintf("- ssh-ed25519 %032x%032x\n", r.Uint64(), r.Uint64())
		}
		out += "roles:\n"
		refs("role", 3)
	case "role":
		out += fmt.Sprintf("title: role%s\nnamespaces:\n", mark)
		refs("namespace", 5)
	default:
		out += fmt.Sprintf("cluster: cluster-%d\nquota: %d%s\nlabels:\n", i%60, r.IntN(100), mark)
		for k := range 12 {
			out += fmt.Sprintf("  label-%d: value %d\n", k, r.IntN(1e6))
		}
	}
	return out
}

// change gives some datafiles another text.
func (w *world) change(files, changes int) error {
	for k := range changes {
		i := k * files / changes
		name := filepath.Join(w.dir, filepath.FromSlash(w.name(i, files)))
		old, err := os.ReadFile(name) //nolint:gosec // a file of ours
		if err != nil {
			return err
		}
		text := strings.Replace(string(old), "@example.com", "@example.org", 1)
		text = strings.Replace(text, "quota: ", "quota: 1", 1)
		text = strings.Replace(text, "title: ", "title: a ", 1)
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// changedBytes returns the size of the datafiles that differ, on both sides.
func (w *world) changedBytes() (float64, error) {
	var sides [2]map[string]json.RawMessage
	for i, name := range []string{w.base, w.head} {
		raw, err := os.ReadFile(name) //nolint:gosec // a file of ours
		if err != nil {
			return 0, err
		}
		var b struct{ Data map[string]json.RawMessage }
		if err := json.Unmarshal(raw, &b); err != nil {
			return 0, err
		}
		sides[i] = b.Data
	}
	n := 0
	for path, text := range sides[0] {
		if other := sides[1][path]; !bytes.Equal(text, other) {
			n += len(text) + len(other)
		}
	}
	return float64(n), nil
}

// memoryBudget returns the private memory in MB that is asked of a plan of the bundle files: 16
// and twice the changed bytes.
func (w *world) memoryBudget() (float64, error) {
	changed, err := w.changedBytes()
	return 16 + 2*changed/(1<<20), err
}

// commit commits everything, with a tag.
func (w *world) commit(ctx context.Context, tag string) error {
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"add", "-A"}, {"commit", "-q", "-m", tag},
		{"tag", tag}} {
		if err := run(ctx, w.dir, "git",
			append([]string{"-c", "user.name=bench", "-c", "user.email=bench@example.com", "-c", "gc.auto=0"},
				args...)...); err != nil {
			return err
		}
	}
	return nil
}

// bundle bundles the working tree.
func (w *world) bundle(ctx context.Context, bin, out string) error {
	return run(ctx, w.dir, filepath.Join(bin, "planner"), "bundle", "--data", "data", "--resources", "resources",
		"--schemas", "schemas",
		"--graphql", "graphql-schemas/schema.yml", "--out", out)
}

// run runs a program, and returns its output in the error if it fails.
func run(ctx context.Context, dir, name string, args ...string) error {
	cmd := exec.CommandContext(ctx, name, args...) //nolint:gosec // our own words
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, out)
	}
	return nil
}
