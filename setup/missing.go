package setup

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/internal/sanitize"
	"github.com/app-sre/prcheck/planner"
	"github.com/app-sre/prcheck/settings"
)

// maxPrograms is how many programs that are not found are named.
const maxPrograms = 5

// Missing returns a line for each thing that a person must still do before prcheck can check
// a change, beside the files that Create makes.
func (r *Repository) Missing() []string {
	out := r.missingParts()
	if len(out) == 0 && r.trouble != nil {
		out = append(out, fmt.Sprintf("the working tree cannot be bundled: %s", firstLine(r.trouble)))
	}
	out = append(out, r.missingInSettings()...)
	if r.Kind == Own {
		out = append(out, r.missingPrograms()...)
	}
	return append(out, r.missingInCI()...)
}

// Notes returns lines about what works here and may not work elsewhere.
func (r *Repository) Notes() []string {
	var out []string
	for _, at := range []string{r.Checkout.Schemas, r.Checkout.GraphQL} {
		if settings.IsOutside(at) && r.hasPart[at] {
			out = append(out,
				fmt.Sprintf("%s is outside of the repository: jobs need it there, too, for instance by a before_script that "+
					"clones it", at))
		}
	}
	return out
}

// missingParts returns lines about parts of a bundle that are not there.
func (r *Repository) missingParts() []string {
	var out []string
	for _, part := range []struct{ path, what, key string }{
		{r.Checkout.Data, "the folder with the datafiles", "data"},
		{r.Checkout.Schemas, "the folder with the JSON schemas", "schemas"},
		{r.Checkout.GraphQL, "the file with the GraphQL types", "graphql"},
	} {
		if part.key == "graphql" && r.Checkout.FromBundle() {
			continue
		}
		if !r.hasPart[part.path] {
			out = append(out,
				fmt.Sprintf("%s is missing: make %s, or say in %s where it is (checkout.%s); docs/tutorial.md shows a small one",
					part.what, part.path, settings.FileName, part.key))
		}
	}
	return out
}

// missingInSettings returns lines about definitions, and about what the settings say of them.
func (r *Repository) missingInSettings() []string {
	if r.head == nil {
		return nil
	}
	in := planner.Input{Base: r.head, Head: r.head, Settings: r.bundleSettings(), ReadQuery: func(string) ([]byte, error) {
		return nil, os.ErrNotExist
	}}
	if r.settings != nil {
		in.Settings, in.ReadQuery = r.settings.Settings, r.settings.ReadQuery
	}
	var out []string
	if err := planner.Check(in); err != nil && r.Kind == Empty {
		out = append(out,
			fmt.Sprintf("no integration is defined: write a datafile with the $schema %q for each of your programs "+
				"(docs/tutorial.md)", in.Settings.DefinitionSchema()))
		if _, near, ok := strings.Cut(err.Error(), "(there are datafiles of "); ok {
			near, _, _ = strings.Cut(near, ")")
			out = append(out,
				fmt.Sprintf("there are datafiles of %s: if they define the integrations, name their $schema in %s "+
					"(definition_schema)", sanitize.Line(near), settings.FileName))
		}
	} else if err != nil && r.settings != nil {
		out = append(out, strings.ReplaceAll(firstLine(err), r.at("")+"/", ""))
	}
	if r.Kind != Empty && !slices.ContainsFunc(r.Definitions, func(d integration.Definition) bool {
		return d.Check != nil
	}) {
		out = append(out, "no definition has a pr_check, so nothing is ever dry-run: write pr_check.cmd into those that "+
			"should be")
	}
	return out
}

// missingPrograms returns a line about commands whose program is not here.
func (r *Repository) missingPrograms() []string {
	if r.settings != nil && !slices.Equal(r.settings.Exec.Argv, []string{"{cmd}"}) {
		return nil // the definitions' first words are no programs
	}
	var unknown []string
	for _, d := range r.Definitions {
		if d.Check == nil || d.Check.Disabled {
			continue
		}
		if r.settings != nil && !slices.Equal(r.settings.For(d.Name).Exec.Argv, []string{"{cmd}"}) {
			continue
		}
		word := firstWord(d.Check.Cmd)
		if word == "" {
			word = "(pr_check.cmd of " + d.Name + " is empty)"
		} else if r.isCommand(word) {
			continue
		}
		if word = sanitize.Line(word); !slices.Contains(unknown, word) {
			unknown = append(unknown, word)
		}
	}
	if len(unknown) == 0 {
		return nil
	}
	more := ""
	if n := len(unknown) - maxPrograms; n > 0 {
		unknown, more = unknown[:maxPrograms], fmt.Sprintf(" and %d more", n)
	}
	return []string{fmt.Sprintf("these programs are neither in PATH nor in the repository: %s%s; install them, or say "+
		"in %s how tasks start (exec.argv)",
		strings.Join(unknown, ", "), more, settings.FileName)}
}

// missingInCI returns a line if the pipeline does not start prcheck.
func (r *Repository) missingInCI() []string {
	switch {
	case !r.usesGitLab():
		return []string{fmt.Sprintf("the remote is %s, and the pipeline that is shipped is one of GitLab: run runner "+
			"precheck in a job of your own", sanitize.Line(r.Host))}
	case !r.isFile(CIFile):
		return []string{CIFile + " is no file, but a folder, a link or something else: move it away, and run init again"}
	case r.mentionsPrcheck(CIFile):
		return nil
	}
	return []string{CIFile + " does not start prcheck: add the include of docs/gitlab.md to it"}
}

// maxCIFile is how many bytes of a CI file are read.
const maxCIFile = 1 << 20

func (r *Repository) mentionsPrcheck(name string) bool {
	f, err := os.Open(r.at(name))
	if err != nil {
		return false
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, maxCIFile))
	return err == nil && strings.Contains(string(raw), "prcheck")
}

// firstLine returns the first line of an error.
func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return sanitize.Line(line)
}
