package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// A repository is a checkout with random programs.
type repository struct {
	dir      string
	programs []program
}

// files are those of each repository besides its programs.
var files = map[string]string{
	".gitignore": "/build/\n*.tmp\n", "README.md": "read me\n", "conf/a.txt": "a\n", "conf/b.txt": "b\n", "conf/c d.txt": "c\n", "conf/é.txt": "e\n", "rules/one": "1\n",
	"tools/a.sh": "exit 0\n", "tools/b.sh": "exit 0\n", "integrations/lib_a.sh": "x=1\n", "integrations/lib_b.sh": "x=1\n", "resources/a.txt": "r\n", "resources/b.txt": "r\n",
	"data/people/ana.yml": "$schema: /person-1.yml\nname: ana\ntitle: T\n", "data/people/bo.yml": "$schema: /person-1.yml\nname: bo\n",
	"schemas/metaschema-1.json":         "{\"$schema\": \"http://json-schema.org/draft-06/schema\", \"type\": \"object\"}\n",
	"schemas/person-1.yml":              "$schema: /metaschema-1.json\nversion: '1.0'\ntype: object\nadditionalProperties: false\nproperties:\n  $schema: {type: string}\n  name: {type: string}\n  title: {type: string}\n",
	"schemas/app-sre/integration-1.yml": "$schema: /metaschema-1.json\nversion: '1.0'\ntype: object\nadditionalProperties: true\nproperties:\n  $schema: {type: string}\n",
	"graphql-schemas/schema.yml": `$schema: /app-interface/graphql-schemas-1.yml
confs:
- name: Person_v1
  fields: [{name: schema, type: string, isRequired: true}, {name: path, type: string, isRequired: true}, {name: name, type: string}, {name: title, type: string}]
- name: Query
  fields: [{name: people, type: Person_v1, isList: true, datafileSchema: /person-1.yml}]
`,
	"queries/people.graphql": "{ people { name title } }\n",
}

// links are the links of each repository.
var links = map[string]string{"links/a": "../conf/a.txt", "links/b": "a", "links/c d": "../conf/b.txt"}

// newRepository makes a checkout, with a commit of it on the branch main.
func newRepository(r *rand.Rand, dir string) (*repository, error) {
	repo := &repository{dir: dir}
	settings := "version: 1\nexec:\n  argv: [sh, \"{cmd}\"]\n  env: {GRAPHQL_SERVER: \"{graphql_url}\"}\n  pass_env: [HOME, PATH]\n  timeout: 1m\nintegrations:\n"
	for i := range 2 + r.IntN(2) {
		p := newProgram(r, fmt.Sprintf("p%d", i))
		if p.declares = r.IntN(3) > 0; p.declares {
			settings += fmt.Sprintf("  %s: {queries: [queries/people.graphql]}\n", p.name)
		}
		repo.programs = append(repo.programs, p)
	}
	settings = strings.TrimSuffix(settings, "integrations:\n")
	if err := repo.writeAll(settings); err != nil {
		return nil, err
	}
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"add", "-A"}, {"commit", "-q", "-m", "base"}, {"switch", "-q", "-c", "change"}} {
		if err := repo.git(args...); err != nil {
			return nil, err
		}
	}
	return repo, nil
}

// writeAll writes the files of the repository.
func (repo *repository) writeAll(settings string) error {
	for name, text := range files {
		if err := repo.write(name, text); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(filepath.Join(repo.dir, "links"), 0o755); err != nil {
		return err
	}
	for name, target := range links {
		if err := os.Symlink(target, filepath.Join(repo.dir, name)); err != nil {
			return err
		}
	}
	for _, p := range repo.programs {
		definition := fmt.Sprintf("$schema: /app-sre/integration-1.yml\nname: %s\nschemas: [/person-1.yml]\npr_check: {cmd: %s}\n", p.name, p.path())
		if err := repo.write("data/integrations/"+p.name+".yml", definition); err != nil {
			return err
		}
		if err := repo.write(p.path(), p.text()); err != nil {
			return err
		}
	}
	return repo.write("prcheck.yaml", settings)
}

func (repo *repository) write(name, text string) error {
	name = filepath.Join(repo.dir, name)
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	return os.WriteFile(name, []byte(text), 0o644)
}

// environment is the environment of git and of programs.
func environment(home string, more ...string) []string {
	return append([]string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + home, "XDG_CACHE_HOME=" + filepath.Join(home, "cache"), "GIT_CONFIG_GLOBAL=/dev/null", "LC_ALL=C.UTF-8", "NO_COLOR=1",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com",
	}, more...)
}

func (repo *repository) git(args ...string) error {
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = repo.dir, environment(filepath.Dir(repo.dir))
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("git %q: %w: %s", args, err, out)
	}
	return nil
}

// revision returns the hash of a revision.
func (repo *repository) revision(name string) string {
	cmd := exec.Command("git", "rev-parse", name)
	cmd.Dir, cmd.Env = repo.dir, environment(filepath.Dir(repo.dir))
	out, err := cmd.Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}
