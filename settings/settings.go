package settings

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"time"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/app-sre/prcheck/qontract/bundle"
)

// MaxBytes is the maximal size of a settings file in bytes.
const MaxBytes = 1 << 20

// DefaultTimeout and DefaultMaxShards are used if the settings do not set a value.
const (
	DefaultTimeout   = 10 * time.Minute
	DefaultMaxShards = 100
)

// DefinitionSchema is the schema of the datafiles that define integrations, unless the
// settings name another one.
const DefinitionSchema bundle.SchemaPath = "/app-sre/integration-1.yml"

// Settings are the content of prcheck.yaml. The zero value stands for no settings file:
// no integration has settings and none can be started. Callers must not change the values
// that fields and methods return, since they are shared.
type Settings struct {
	File                 string // name of the file in messages
	Exec                 Exec   // how integrations without an exec of their own are started
	Ignore               []Glob
	Rules                []Rule
	TrustNewIntegrations bool // whether Exec may start integrations that only head defines

	checkout         Checkout
	strict           bool
	definitionSchema bundle.SchemaPath // "" means the default
	ciFiles          []Glob            // nil means the default
	transient        []*regexp.Regexp
	baseline         *time.Duration // nil means the default
	reuse            *time.Duration // nil means the default
	state            StateTrust
	secrets          SecretSource
	programs         Programs
	worlds           worldSettings
	effects          effectSettings
	distrust         bool
	owners           Owners
	limits           map[string]Limit
	integrations     map[string]Integration
	digest           string
	text             []byte
}

// An Integration holds the settings of one integration, with the general settings where
// it has none of its own.
type Integration struct {
	Name         string
	Exec         Exec // the general Exec with the keys that the integration replaces
	Queries      []QueryFile
	Resources    Resources // the resources that it may ask for
	Strict       bool      // whether answers must not depend on datafiles of other schemas than the definition allows
	Shards       *Shards   // nil if it cannot be sharded
	ListOrder    ListOrder
	ListOrderSet bool // whether the settings set ListOrder
	Trace        Trace
	Transient    []*regexp.Regexp // match output lines of failures that may go away by themselves; general patterns first
	Limits       []Limit          // limits of the targets that its tasks use
	Reuse        time.Duration    // how long a passed task need not run again on the same inputs; 0 means it always runs
	NoBaseline   bool             // whether a failed task is never run again on base
	Programs     Programs         // the files of the repository that its command may use
	Reads        Reads
	Effects      []EffectRule // find effects in what it prints; the first rule that matches a line counts
	// CompareEffects tells that its tasks run on base as well, to compare their effects.
	CompareEffects bool
	Native         string // the native that runs for it; "" is that of its own name, if there is one
	Own            Own    // what the native itself reads
	Deletes        Deletes
	Adopt          []string // keys of things without a mark that a native may take
	TakeOver       []string // keys of things of other callers that a native may take
	// TakeOverFrom is the name of another integration whose things a native takes over.
	TakeOverFrom string
	// ServerDryRun allows dry runs of a native to ask clusters to try writes. Kubernetes
	// authorizes that like writes.
	ServerDryRun bool
	NativeKeys   []Name // the keys of these that the settings have, with their lines
	// Harmless tells that no bundle needs to define the integration, since its settings only
	// say which resources it does not ask for.
	Harmless bool
	Line     int // 0 if the settings do not name the integration
}

// A QueryFile is the path of a file with a GraphQL query, relative to the folder of the
// settings file. It has slashes and stays inside of that folder.
type QueryFile struct {
	Path string
	Line int
}

// Shards say how an integration runs on single shards of its work.
type Shards struct {
	By         []Selector // select the keys of the shards in the desired state
	Strategy   Strategy   // says which shards there are, if By is empty
	Arg        string     // option before the shard, such as --account-name; "--account-name=" makes one argument of both
	Collection bool       // whether one task may get Arg several times
	Max        int        // the integration runs in full if more shards are affected
	FanOut     bool       // whether a full run becomes one task per shard
	Line       int
}

// ListOrder says whether the order of list items matters when two desired states are
// compared.
type ListOrder int

// The list orders. OrderIgnored is what qontract-reconcile does.
const (
	OrderIgnored ListOrder = iota
	OrderSignificant
)

// String returns the order as the settings have it.
func (o ListOrder) String() string { return wordAt(int(o), listOrders) }

// Strategy says which shards an integration has: one per object of the bundle, such as an
// AWS account, or a number of static shards. The settings have the same names as
// managed[].sharding.strategy of a definition, and "managed" for the strategy that the
// definition names.
type Strategy int

// The strategies. StrategyNone means that there are no shards.
const (
	StrategyNone Strategy = iota
	PerAWSAccount
	PerOpenShiftCluster
	PerOCMOrganization
	StrategyStatic
	StrategyManaged
)

// String returns the strategy as the settings have it.
func (s Strategy) String() string { return wordAt(int(s), strategies) }

// Trace says how the recorded queries of an integration may be used.
type Trace int

// The uses of a trace. TraceExact: the integration is unaffected if every recorded query
// has its recorded answer on head. TraceStatic: the integration always sends the same
// queries, so they count as queries of the settings. TraceNone: recorded queries prove
// nothing.
const (
	TraceExact Trace = iota
	TraceStatic
	TraceNone
)

// String returns the word that the settings have for it.
func (t Trace) String() string { return wordAt(int(t), traces) }

// A Glob is a pattern that matches paths of the repository, such as docs/**.
type Glob struct {
	Pattern string
	Line    int
}

// Match reports whether the pattern matches a path of the repository.
func (g Glob) Match(path string) bool {
	ok, err := doublestar.Match(g.Pattern, path)
	return ok && err == nil
}

// A Rule runs integrations when files change that are not described by a schema, such as
// programs and templates.
type Rule struct {
	When []Glob
	Run  []Name
	Line int
}

// Runs reports whether the rule runs an integration.
func (r Rule) Runs(name string) bool {
	return slices.ContainsFunc(r.Run, func(n Name) bool { return n.Name == name })
}

// A Name is the name of an integration with its line in the settings.
type Name struct {
	Name string
	Line int
}

// Match returns the first pattern of the rule that matches path.
func (r Rule) Match(path string) (Glob, bool) {
	i := slices.IndexFunc(r.When, func(g Glob) bool { return g.Match(path) })
	if i < 0 {
		return Glob{}, false
	}
	return r.When[i], true
}

// DefinitionSchema returns the schema of the datafiles that define integrations.
func (s *Settings) DefinitionSchema() bundle.SchemaPath {
	if s == nil {
		return DefinitionSchema
	}
	return cmp.Or(s.definitionSchema, DefinitionSchema)
}

// For returns the settings of an integration. If the file does not name it, it has the
// general settings.
func (s *Settings) For(name string) Integration {
	it, ok := s.integrations[name]
	if !ok {
		it = Integration{Name: name, Exec: s.Exec, Transient: s.transient, Reuse: s.reuseTime(), Programs: s.programs,
			Effects: s.effects.rules, Strict: s.strict, Reads: s.worlds.reads}
	}
	it.Programs.Ignored = s.Ignore
	it.CompareEffects = s.effects.policy.Compare && !it.NoBaseline && it.FindsEffects()
	if it.Exec.Timeout == 0 {
		it.Exec.Timeout = DefaultTimeout
	}
	return it
}

// With returns a copy of the settings with other settings for one integration.
func (s *Settings) With(it Integration) *Settings {
	out := *s
	out.integrations = maps.Clone(s.integrations)
	if out.integrations == nil {
		out.integrations = map[string]Integration{}
	}
	out.integrations[it.Name] = it
	return &out
}

// Names returns the integrations that the file names, sorted.
func (s *Settings) Names() []string {
	return slices.Sorted(maps.Keys(s.integrations))
}

// Digest returns the digest of the file ("sha256:…"), or "" if there is no file.
func (s *Settings) Digest() string { return s.digest }

// Text returns the bytes of the file, nil if there is no file.
func (s *Settings) Text() []byte { return s.text }

// IsIgnored reports whether paths.ignore matches a path of the repository. Then a doubt
// about the file runs nothing. For example, the resource /a.txt is resources/a.txt in the
// repository.
func (s *Settings) IsIgnored(path string) bool {
	return slices.ContainsFunc(s.Ignore, func(g Glob) bool { return g.Match(path) })
}

// RulesFor returns the rules that match a path of the repository.
func (s *Settings) RulesFor(path string) []Rule {
	var rules []Rule
	for _, r := range s.Rules {
		if _, ok := r.Match(path); ok {
			rules = append(rules, r)
		}
	}
	return rules
}

// digest returns the sha256 of raw as "sha256:…".
func digest(raw []byte) string {
	sum := sha256.Sum256(raw)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// defaultCIFiles is the value of trust.ci_files if the settings do not set it.
var defaultCIFiles = []Glob{{Pattern: ".gitlab-ci.yml"}, {Pattern: ".gitlab-ci.yaml"}, {Pattern: ".gitlab/**"},
	{Pattern: "**/*.gitlab-ci.{yml,yaml}"}}

// IsCIFile reports whether a path of the repository is a file of the CI configuration. A
// change of such a file may change whether and how checks are started.
func (s *Settings) IsCIFile(path string) bool {
	globs := s.ciFiles
	if globs == nil {
		globs = defaultCIFiles
	}
	return slices.ContainsFunc(globs, func(g Glob) bool { return g.Match(path) })
}

// FileName is the name of the settings file that is read when the user names none.
const FileName = "prcheck.yaml"

// FromBase begins the name of settings that are read from the revision that base names. For
// example, base:ci/prcheck.yaml is the file ci/prcheck.yaml of that revision.
const FromBase = "base:"

// Folder returns the folder of the settings file, in which its query files lie and tasks
// start; the current folder for settings of no file.
func (s *Settings) Folder() string {
	if s.File == "" {
		return "."
	}
	return filepath.Dir(filepath.FromSlash(s.File))
}
