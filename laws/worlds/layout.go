//go:build unix

package main

import (
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// office holds the schemas and the GraphQL types of every repository.
//
//go:embed office
var office embed.FS

// fixed returns the files of the folder office. It has no errors but those of the program itself.
func fixed() tree {
	t := tree{}
	err := fs.WalkDir(office, "office", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		raw, err := office.ReadFile(name)
		t[strings.TrimPrefix(name, "office/")] = file{Text: string(raw)}
		return err
	})
	if err != nil {
		panic(err)
	}
	return t
}

// layout returns the files of base that follow from the programs: programs, links to them,
// definitions, queries, schemas and the settings.
func (p pair) layout() tree {
	t := fixed()
	for _, prog := range p.Programs {
		t["data/integrations/"+prog.Name+".yml"] = file{Text: prog.definition()}
		for i, name := range prog.queries() {
			t[name] = file{Text: prog.asking()[i].question() + "\n"}
		}
		if prog.Path == "" {
			continue
		}
		text := prog.shell
		if prog.Language == python {
			text = prog.python
		}
		t[prog.Path] = file{Text: text(), Exec: true}
		if prog.Start == "run-"+prog.Name {
			t[prog.Start] = file{Link: prog.Path}
		}
	}
	t["prcheck.yaml"] = file{Text: p.settings()}
	return t
}

// asking returns the blocks that ask the server.
func (p program) asking() []block {
	var out []block
	for _, b := range p.Blocks {
		if b.Kind == asks {
			out = append(out, b)
		}
	}
	return out
}

// queries returns the paths of the files that hold its queries, if it declares them.
func (p program) queries() []string {
	var out []string
	for i := range p.asking() {
		if p.Declares {
			out = append(out, fmt.Sprintf("queries/%s-%d.graphql", p.Name, i))
		}
	}
	return out
}

// shadow returns the path at which Python looks for the module glob before it takes its own.
func (p program) shadow() string { return path.Join(path.Dir(p.Path), "glob.py") }

// argv returns the command of a program.
func (p program) argv() []string {
	switch {
	case p.Path == "":
		return []string{"sh", "-c", p.inline()}
	case p.Direct:
		return []string{"./" + p.Start}
	}
	return []string{string(p.Language), p.Start}
}

// definition returns the datafile that defines the integration.
func (p program) definition() string {
	cmd := strings.Join(p.argv(), " ")
	if p.Path == "" {
		cmd = "sh -c '" + strings.ReplaceAll(p.inline(), "'", `'"'"'`) + "'"
	}
	quoted, _ := json.Marshal(cmd) // a string always has a form in JSON
	return fmt.Sprintf("$schema: /app-sre/integration-1.yml\nname: %s\ndescription: goodone\nschemas:\n- "+
		"/office/person-1.yml\n- /office/room-1.yml\npr_check:\n  cmd: %s\n", p.Name, quoted)
}

// settings returns prcheck.yaml.
func (p pair) settings() string {
	var b strings.Builder
	b.WriteString(
		"version: 1\nexec:\n  argv: [\"{cmd}\"]\n  env: {GRAPHQL_SERVER: \"{graphql_url}\", PYTHONDONTWRITEBYTECODE: " +
			"\"1\"}\n" +
			"  pass_env: [HOME, PATH, CI_PROJECT_DIR]\n  timeout: 1m\nstate: {keys: [\"KEY\"], project: a/b}\n")
	rows := ""
	for _, prog := range p.Programs {
		var keys []string
		if files := prog.queries(); len(files) > 0 {
			keys = append(keys, "queries: ["+strings.Join(files, ", ")+"]")
		}
		switch prog.Uses {
		case "none":
			keys = append(keys, "programs: none")
		case "patterns":
			raw, _ := json.Marshal(prog.patterns(p.Pool)) // strings
			keys = append(keys, "programs: "+string(raw))
		}
		if len(keys) > 0 {
			rows += "  " + prog.Name + ": {" + strings.Join(keys, ", ") + "}\n"
		}
	}
	if rows != "" {
		b.WriteString("integrations:\n" + rows)
	}
	return b.String()
}

// patterns returns what `programs` must name: all that the program may read in any tree. A
// link may lead to each of its targets.
func (p program) patterns(pool tree) []string {
	out := []string{p.Path, p.Start}
	if strings.HasPrefix(p.Start, "linked/") {
		for _, to := range append([]string{links["linked"]}, targets["linked"]...) {
			out = append(out, to+"/"+path.Base(p.Start))
		}
		out = append(out, "linked")
	}
	if p.Language == python {
		out = append(out, p.shadow())
	}
	for _, b := range p.Blocks {
		out = append(out, b.patterns(pool)...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// patterns returns what a block may read.
func (b block) patterns(pool tree) []string {
	var out []string
	queue := b.names(pool)
	for seen := map[string]bool{}; len(queue) > 0; queue = queue[1:] {
		name := strings.TrimSuffix(queue[0], "/")
		folder := queue[0] != name
		if seen[queue[0]] {
			continue
		}
		seen[queue[0]] = true
		out = append(out, name)
		if folder {
			out = append(out, name+"/**")
		}
		for link, to := range targets {
			if rest, ok := strings.CutPrefix(name+"/", link+"/"); ok {
				out = append(out, link)
				for _, target := range to {
					next := path.Join(path.Dir(link), target, rest)
					if folder {
						next += "/"
					}
					queue = append(queue, next)
				}
			}
		}
	}
	return out
}
