package conformance

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"

	"github.com/app-sre/prcheck/change"
	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/internal/cli"
	"github.com/app-sre/prcheck/natives"
	"github.com/app-sre/prcheck/plan"
)

// planned returns prcheck as a selector. A test can change each decision.
func planned(edit func(*plan.Decision)) selector {
	return func(ctx context.Context, r Request) (Selection, error) {
		env := cli.Env{Stderr: new(bytes.Buffer), Getenv: func(string) string { return "" }}
		opened, err := change.Inputs{Base: r.Base, Head: r.Head, Config: r.Settings,
			Natives: integration.DryRunners(natives.List(natives.Services{}))}.Open(ctx, env)
		if err != nil {
			return Selection{}, err
		}
		p, err := opened.Plan(ctx)
		if err != nil {
			return Selection{}, err
		}
		var out Selection
		for _, d := range p.Integrations {
			if edit != nil {
				edit(&d)
			}
			switch d.Decision {
			case plan.Run:
				out.Run = append(out.Run, Selected{Integration: d.Name})
			case plan.Shards:
				out.Run = append(out.Run, Selected{Integration: d.Name, Shards: d.Evidence.Keys})
			}
		}
		return out, nil
	}
}

// started returns a program as a selector: it reads a Request and writes a Selection.
func started(command string) selector {
	return func(ctx context.Context, r Request) (Selection, error) {
		words := strings.Fields(command)
		in, err := json.Marshal(r)
		if err != nil {
			return Selection{}, err
		}
		cmd := exec.CommandContext(ctx, words[0], words[1:]...) //nolint:gosec // the one that the user named
		cmd.Stdin, cmd.Stderr = bytes.NewReader(in), os.Stderr
		raw, err := cmd.Output()
		if err != nil {
			return Selection{}, fmt.Errorf("running %s: %w", words[0], err)
		}
		var out Selection
		if err := json.Unmarshal(raw, &out); err != nil {
			return out, fmt.Errorf("reading what %s wrote: %w", words[0], err)
		}
		return out, nil
	}
}

// byAllowedSchemas runs an integration if a changed file has a schema that it may read.
func byAllowedSchemas(_ context.Context, r Request) (Selection, error) {
	return naive(r, func(i definition, changed []changedFile, _ files) bool {
		return slices.ContainsFunc(changed, func(f changedFile) bool {
			return slices.Contains(i.Schemas, f.old.Schema) || slices.Contains(i.Schemas, f.new.Schema)
		})
	})
}

// byChangedFiles runs an integration if a file changed in a folder in which base has files
// that it may read, as path filters of pipelines do, and everything if another file than a
// datafile changed.
func byChangedFiles(_ context.Context, r Request) (Selection, error) {
	return naive(r, func(i definition, changed []changedFile, base files) bool {
		return slices.ContainsFunc(changed, func(f changedFile) bool {
			if f.section != "data" {
				return true
			}
			for path, raw := range base["data"] {
				if folder(path) == folder(f.path) && slices.Contains(i.Schemas, read(raw).Schema) {
					return true
				}
			}
			return false
		})
	})
}

// naive asks about each integration of head that has an enabled pr_check.
func naive(r Request, selects func(i definition, changed []changedFile, base files) bool) (Selection, error) {
	base, err := readFiles(r.Base)
	if err != nil {
		return Selection{}, err
	}
	head, err := readFiles(r.Head)
	if err != nil {
		return Selection{}, err
	}
	changed := differing(base, head)
	var out Selection
	for _, path := range slices.Sorted(maps.Keys(head["data"])) {
		i := read(head["data"][path])
		if i.Schema == "/app-sre/integration-1.yml" && i.Check != nil && !i.Check.Disabled && selects(i, changed, base) {
			out.Run = append(out.Run, Selected{Integration: i.Name})
		}
	}
	return out, nil
}

// files are the files of a bundle by section and path.
type files map[string]map[string]json.RawMessage

// A definition is what naive selectors read of a file.
type definition struct {
	Schema  string                   `json:"$schema"`
	Name    string                   `json:"name"`
	Schemas []string                 `json:"schemas"`
	Check   *struct{ Disabled bool } `json:"pr_check"`
}

type changedFile struct {
	section, path string
	old, new      definition
}

func readFiles(name string) (files, error) {
	raw, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	var b struct{ Data, Resources, Schemas map[string]json.RawMessage }
	err = json.Unmarshal(raw, &b)
	return files{"data": b.Data, "resources": b.Resources, "schemas": b.Schemas}, err
}

// read reads what a naive selector knows of a file; nothing if it is missing or not like
// that.
func read(raw json.RawMessage) (d definition) {
	_ = json.Unmarshal(raw, &d) // what cannot be read stays empty
	return d
}

// differing lists the files with other bytes.
func differing(base, head files) []changedFile {
	var out []changedFile
	for section, old := range base {
		all := maps.Clone(head[section])
		for path := range old {
			if all == nil {
				all = map[string]json.RawMessage{}
			}
			if _, ok := all[path]; !ok {
				all[path] = nil
			}
		}
		for path, raw := range all {
			if !bytes.Equal(raw, old[path]) {
				out = append(out, changedFile{section, path, read(old[path]), read(raw)})
			}
		}
	}
	return out
}

func folder(path string) string { return path[:strings.LastIndexByte(path, '/')] }
