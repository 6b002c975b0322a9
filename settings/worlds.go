package settings

import (
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/app-sre/prcheck/internal/phrase"
)

// Reads says what follows from the files that a task opens, lists and looks for.
type Reads int

// The ways. ReadsRecorded records them; a skip before the first record is believed. ReadsStrict
// records them and runs the integration until it was recorded. ReadsNone does not record them.
const (
	ReadsRecorded Reads = iota
	ReadsStrict
	ReadsNone
)

// String returns the way as the settings have it.
func (r Reads) String() string { return wordAt(int(r), readWays) }

var readWays = []string{"recorded", "strict", "none"}

// A worldSettings is what the settings say about the files in which tasks start.
type worldSettings struct {
	environment []string
	prepare     []string
	reads       Reads
	newCommands bool
}

// Environment returns the files and folders that git ignores and that the world of base has as
// well, by their paths in the repository.
func (s *Settings) Environment() []string { return slices.Clone(s.worlds.environment) }

// Prepare returns the command that prepares each world before a task starts there, nil for none.
func (s *Settings) Prepare() []string { return slices.Clone(s.worlds.prepare) }

// TrustNewCommands reports whether a command that head changes may be run in head's world.
func (s *Settings) TrustNewCommands() bool { return s.worlds.newCommands }

// readWorlds reads the general keys programs, environment, prepare and reads.
func (r *reader) readWorlds(keys map[string]*yaml.Node, s *Settings) {
	if n := keys["programs"]; n != nil {
		s.programs = r.readPrograms(n, "programs")
	}
	if n := keys["environment"]; n != nil {
		items := r.readNonEmptyList(n, "environment")
		r.noteItems(items, constraint{"pattern": `^[^/\\][^\\]*$`})
		for _, t := range r.readUniqueTexts(items, "environment") {
			name := strings.TrimSuffix(t.value, "/")
			switch why := pathProblem(name); {
			case path.IsAbs(name):
				r.fail(t.line, "environment", "%s cannot be used: it is not relative to the root of the repository",
					phrase.Quote(t.value))
			case why != "":
				r.fail(t.line, "environment", "%s cannot be used: %s", phrase.Quote(t.value), why)
			case strings.ContainsAny(name, `*?[]{}\`):
				r.fail(t.line, "environment", "%s cannot be used: name a file or a folder, without wildcards",
					phrase.Quote(t.value))
			default:
				s.worlds.environment = append(s.worlds.environment, name)
			}
		}
	}
	if n := keys["prepare"]; n != nil {
		for _, item := range r.readNonEmptyList(n, "prepare") {
			word, _ := r.readText(item, "prepare")
			s.worlds.prepare = append(s.worlds.prepare, word)
		}
	}
	if n := keys["reads"]; n != nil {
		s.worlds.reads = Reads(r.readChoice(n, "reads", readWays))
	}
}
