package integration

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"time"

	"github.com/bmatcuk/doublestar/v4"
)

// MaxSettings is the size in bytes up to which a settings file is read.
const MaxSettings = 1 << 20

// DefaultTimeout and DefaultMaxShards hold where the settings say nothing.
const (
	DefaultTimeout   = 10 * time.Minute
	DefaultMaxShards = 100
)

// Settings are what prcheck.yaml says. The zero value is that of no file at
// all: no integration has settings, and nothing tells how to start one. What
// its fields and methods give is shared and must not be changed.
type Settings struct {
	File            string // the name used in messages
	Exec            Exec   // for integrations that have none of their own
	Ignore          []Glob
	Rules           []Rule
	NewIntegrations bool // may the general Exec start what only head defines?

	checkout     Checkout
	ciFiles      []Glob // nil: the default
	transient    []*regexp.Regexp
	baseline     *time.Duration // nil: not said
	reuse        *time.Duration // nil: not said
	limits       map[string]Limit
	integrations map[string]Integration
	digest       string
	text         []byte
}

// An Integration is what the settings say about one integration.
type Integration struct {
	Name      string
	Exec      Exec // its own keys over the general ones
	Queries   []QueryFile
	Shards    *Shards // nil when it cannot be sharded
	ListOrder ListOrder
	Ordered   bool // ListOrder was said, and is not only the default
	Trace     Trace
	Transient []*regexp.Regexp // lines of output that tell of a failure that passes by itself; the general ones first
	Limits    []Limit          // of the live targets that its tasks use
	Reuse     time.Duration    // for how long a task that passed need not run again on the same inputs; 0 for never
	Line      int              // 0 when the settings do not name it
}

// A QueryFile names a file with a GraphQL query, relative to the folder of the
// settings file and with slashes; it never leaves that folder.
type QueryFile struct {
	Path string
	Line int
}

// Shards say how an integration is run on a part of its work.
type Shards struct {
	By         []Selector
	Strategy   Strategy // where the keys come from when there are no selectors
	Arg        string   // such as --account-name; "--account-name=" makes one word
	Collection bool     // may Arg be given several times in one task?
	Max        int      // with more affected shards the integration runs in full
	FanOut     bool     // a full run becomes one task per shard
	Line       int
}

// ListOrder says whether the order of list items counts when two desired
// states are compared.
type ListOrder int

// The list orders. The zero value is what qontract-reconcile does.
const (
	OrderIgnored ListOrder = iota
	OrderSignificant
)

func (o ListOrder) String() string { return word(int(o), listOrders) }

// Strategy says which objects of a bundle are the shards of an integration, or
// that processes share its work by number. Its words are those of
// managed[].sharding.strategy, and managed for what stands there.
type Strategy int

// The strategies. With the zero value nothing is a shard.
const (
	StrategyNone Strategy = iota
	PerAWSAccount
	PerOpenShiftCluster
	PerOCMOrganization
	Static
	Managed
)

func (s Strategy) String() string { return word(int(s), strategies) }

// Trace says what the recorded queries of an integration may prove.
type Trace int

// The kinds of trace. The zero value promises nothing: recorded answers must
// be found again exactly. TraceStatic promises that the queries never vary.
// With TraceNone recorded queries prove nothing.
const (
	TraceExact Trace = iota
	TraceStatic
	TraceNone
)

func (t Trace) String() string { return word(int(t), traces) }

// A Glob is a pattern over the paths of the repository, such as docs/**.
type Glob struct {
	Pattern string
	Line    int
}

// Match reports whether the pattern covers a path of the repository.
func (g Glob) Match(path string) bool {
	ok, err := doublestar.Match(g.Pattern, path)
	return ok && err == nil
}

// A Rule starts integrations when certain paths change, for what no schema can
// tell.
type Rule struct {
	When []Glob
	Run  []Name
	Line int
}

// Runs tells whether the rule starts an integration.
func (r Rule) Runs(name string) bool {
	return slices.ContainsFunc(r.Run, func(n Name) bool { return n.Name == name })
}

// A Name is an integration's name at a place in the settings.
type Name struct {
	Name string
	Line int
}

// Match finds the first pattern of the rule that covers path.
func (r Rule) Match(path string) (Glob, bool) {
	i := slices.IndexFunc(r.When, func(g Glob) bool { return g.Match(path) })
	if i < 0 {
		return Glob{}, false
	}
	return r.When[i], true
}

// A SettingsError is one mistake in a settings file.
type SettingsError struct {
	File string
	Line int // 0 when the mistake has no line
	Msg  string
}

func (e *SettingsError) Error() string {
	if e.Line == 0 {
		return fmt.Sprintf("%s: %s", e.File, e.Msg)
	}
	return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Msg)
}

// For gives the settings of an integration, whether the file names it or not.
func (s *Settings) For(name string) Integration {
	if it, ok := s.integrations[name]; ok {
		return it
	}
	it := Integration{Name: name, Exec: s.Exec, Transient: s.transient, Reuse: s.fresh()}
	if it.Exec.Timeout == 0 {
		it.Exec.Timeout = DefaultTimeout
	}
	return it
}

// Names lists the integrations that the file names, sorted.
func (s *Settings) Names() []string {
	return slices.Sorted(maps.Keys(s.integrations))
}

// Digest identifies the file's bytes: "sha256:…", or "" when there is no file.
func (s *Settings) Digest() string { return s.digest }

// Text returns the file's bytes, nil when there is no file.
func (s *Settings) Text() []byte { return s.text }

// Ignored reports whether a change of path alone plans nothing. The path is
// one of the repository: the datafile /a.yml is data/a.yml, the resource /r is
// resources/r.
func (s *Settings) Ignored(path string) bool {
	return slices.ContainsFunc(s.Ignore, func(g Glob) bool { return g.Match(path) })
}

// SelectedBy gives the rules that cover a path of the repository.
func (s *Settings) SelectedBy(path string) []Rule {
	var rules []Rule
	for _, r := range s.Rules {
		if _, ok := r.Match(path); ok {
			rules = append(rules, r)
		}
	}
	return rules
}

func digest(raw []byte) string {
	sum := sha256.Sum256(raw)
	return "sha256:" + hex.EncodeToString(sum[:])
}
