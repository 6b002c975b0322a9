package setup

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	reconcile "github.com/app-sre/prcheck/examples/qontract-reconcile"
	"github.com/app-sre/prcheck/internal/lazyregexp"
	"github.com/app-sre/prcheck/internal/sanitize"
	"github.com/app-sre/prcheck/settings"
)

// A File is a file that prcheck needs in a repository.
type File struct{ Name, Text string }

// Files returns the files that prcheck needs in the repository: the settings, the queries
// that they name, and the CI file. Those that exist are among them.
func (r *Repository) Files() ([]File, error) {
	rules := File{settings.FileName, r.settingsText()}
	read, err := settings.Read(rules.Name, []byte(rules.Text))
	if err != nil {
		return nil, fmt.Errorf("a definition has a name that settings cannot have: %w", err)
	}
	files := []File{rules, {IgnoreFile, ignoreText}}
	for _, d := range r.Definitions {
		for _, q := range read.For(d.Name).Queries {
			if raw, err := fs.ReadFile(reconcile.Files, q.Path); err == nil && r.Kind == Reconcile {
				files = append(files, File{q.Path, string(raw)})
			}
		}
	}
	if r.usesGitLab() {
		files = append(files, File{CIFile, ciText})
	}
	return files, nil
}

// usesGitLab reports whether the project may be one of GitLab.
func (r *Repository) usesGitLab() bool { return r.Host != "github.com" && r.Host != "bitbucket.org" }

// ignoreText is the file for git of a repository that has none: what runner writes by itself, and what its examples
// name.
const ignoreText = `# What prcheck writes into a checkout.
/logs/
/reports/
/prcheck/
/prcheck-note.md
`

// ciText is the CI file of a project that has none.
const ciText = `# prcheck checks each merge request: it plans, starts the dry-runs in parallel jobs, and reports.
# It needs a project with the component, an image with planner, runner, git and everything that
# the integrations need, and a token for the note; docs/gitlab.md of prcheck describes them.
include:
  - component: $CI_SERVER_FQDN/tools/prcheck/prcheck@1.0.0
    inputs:
      image: registry.example.com/prcheck:1
`

const settingsHead = "# Settings of prcheck, made by runner init. docs/settings.md of prcheck describes every " +
	"key, and\n" +
	"# planner schema settings prints their JSON Schema for editors.\n"

// settingsText returns the settings for the repository.
func (r *Repository) settingsText() string {
	if r.Kind != Reconcile {
		return settingsHead + "version: 1\n" + r.checkoutSection() + ownExec + r.environmentSection() + r.ownIntegrations()
	}
	defined := map[string]bool{}
	for _, d := range r.Definitions {
		defined[d.Name] = true
	}
	text := reconcileText(settingsHead+"# docs/qontract-reconcile.md says what each line replaces.\n", defined)
	return strings.TrimSuffix(text, "\n") + "\n" + r.checkoutSection()
}

// checkoutSection says where the parts of a bundle are, if the defaults do not.
func (r *Repository) checkoutSection() string {
	text := checkoutText(r.Checkout)
	if text == "" {
		return ""
	}
	return "\n# Where the JSON schemas and the GraphQL types are.\n" + text
}

func checkoutText(at settings.Checkout) string {
	usual := (&settings.Settings{}).Checkout()
	if at.Schemas == usual.Schemas && at.GraphQL == usual.GraphQL {
		return ""
	}
	return fmt.Sprintf("checkout:\n  schemas: %s\n  graphql: %s\n", at.Schemas, at.GraphQL)
}

const ownExec = `
exec:
  # A task is started with the words of pr_check.cmd of its definition. No shell runs them.
  argv: ["{cmd}"]
  # Each task has a server of its own, which answers GraphQL queries over the change. Give its
  # address to your programs under the name that they know. {base_url} is the same before the
  # change.
  env: {GRAPHQL_SERVER: "{graphql_url}"}
  # The variables that a task gets from the environment, and no others. Name those with the
  # secrets of your programs here, too: their values never appear in a log or a report.
  pass_env: [HOME, PATH]
  timeout: 10m

# How your programs say what they would do, so that reports can count it. A rule is for a line
# of output; kind is create, change, delete or other.
#effects:
#  - {match: '^would create (?P<subject>.+)$', kind: create}
`

// maxBuilt is how many folders are suggested for environment.
const maxBuilt = 20

// environmentSection suggests what tasks on base need of what git ignores.
func (r *Repository) environmentSection() string {
	if len(r.built) == 0 {
		return ""
	}
	return "\n# git ignores these, so a task on base does not have them, and no failure of a program that needs\n" +
		"# them is already broken on base. Name those that programs use; or let prepare make them in the\n" +
		"# files of each side (docs/input.md).\n" +
		"# environment: [" + strings.Join(r.built[:min(len(r.built), maxBuilt)], ", ") + "]\n"
}

// maxListed is how many integrations without known queries are listed in the settings.
const maxListed = 200

// ownIntegrations returns what the settings say about each integration.
func (r *Repository) ownIntegrations() string {
	if len(r.Definitions) == 0 {
		return "\n# What prcheck knows about integrations stands here, when there are some:\n#integrations:\n#  NAME:\n#   " +
			" queries: [queries/NAME.graphql]\n"
	}
	var entries, unknown strings.Builder
	listed := 0
	for _, d := range r.Definitions {
		switch {
		case d.Check == nil:
		case r.queries[d.Name]:
			fmt.Fprintf(&entries, "  %s:\n    queries: [%s]\n", quoteName(d.Name), queryFile(d.Name))
		case listed < maxListed:
			listed++
			fmt.Fprintf(&unknown, "  #%s:\n  #  queries: [%s]\n", sanitize.Line(quoteName(d.Name)),
				sanitize.Line(queryFile(d.Name)))
		}
	}
	text := "\n# What prcheck knows about an integration. The less it knows, the more often it runs.\n"
	if entries.Len() == 0 {
		text += "#integrations:\n"
	} else {
		text += "integrations:\n  # Their queries are known, so they run only when an answer differs.\n" + entries.String()
	}
	if unknown.Len() > 0 {
		text += "  # Nothing is known of these, so they run when a datafile changes whose schema they may read.\n" +
			"  # Write down what they ask, or let --state remember it (docs/traces.md).\n" + unknown.String()
	}
	return text
}

var plainName = lazyregexp.New(`^[A-Za-z][A-Za-z0-9_-]*$`)

// isPlain reports whether a name can stand in a file without quotes, and in a path.
func isPlain(name string) bool { return plainName.MatchString(name) && len(name) <= 100 }

// yamlWords are words that YAML takes for something else than a text.
var yamlWords = []string{"null", "true", "false", "yes", "no", "on", "off", "y", "n"}

// quoteName returns a name as a key of YAML.
func quoteName(name string) string {
	if isPlain(name) && !slices.Contains(yamlWords, strings.ToLower(name)) {
		return name
	}
	raw, err := json.Marshal(name)
	if err != nil {
		return `""` // a string can always be encoded
	}
	return string(raw)
}
