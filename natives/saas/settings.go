package saas

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/app-sre/prcheck/internal/origin"
	"github.com/app-sre/prcheck/internal/outward"
	"github.com/app-sre/prcheck/settings"
)

// Settings are those that all natives of saas files share. A native embeds them in its own.
type Settings struct {
	// Hosts are the only hosts that get credentials which the data name: of repositories,
	// registries, build servers and sources of measurements.
	Hosts outward.Hosts `yaml:"hosts"`
	// Logins are those of hosts, by name, whatever the data say: for a GitLab that all saas files
	// use, for instance.
	Logins map[string]LoginSecret `yaml:"logins"`
	// Records is the place of the records of promotions, above the folder state of
	// qontract-reconcile: s3://BUCKET or s3://BUCKET/PREFIX. "" is no records.
	Records string `yaml:"records"`
	Soak    Soak   `yaml:"soak"`
	// May are the people who may speak for targets, by what targets are called, see [Target.Called].
	May map[string][]string `yaml:"may"`
	// Words is who proves the names of people that speak: "" takes them by comments and by the program, comments by
	// comments alone.
	Words string `yaml:"words"`
	// Approvers are who approves promotions of targets, by what targets are called. It is the environment of a target
	// if nothing is said.
	Approvers map[string]string `yaml:"approvers"`
	// Freight are targets that are promoted together or not at all, by the name of the set.
	Freight map[string][]string `yaml:"freight"`
	// Verify says what must hold after a run, by what targets are called.
	Verify map[string]Verification `yaml:"verify"`
	// FIPS makes the identities of targets as qontract-reconcile does in FIPS mode.
	FIPS bool `yaml:"fips"`
}

// WordsInComments takes words of people by comments alone, whose authors the forge knows.
const WordsInComments = "comments"

// A Soak says how the time for which a commit ran is counted over several publishers.
type Soak string

// The ways. Sum is the zero value.
const (
	Sum  Soak = ""     // the times of all publishers together
	Each Soak = "each" // every publisher on its own
	Own  Soak = "own"  // like Sum, and the time of newer commits does not count
)

// UnmarshalText implements [encoding.TextUnmarshaler].
func (s *Soak) UnmarshalText(text []byte) error {
	switch string(text) {
	case "sum":
		*s = Sum
	case "each":
		*s = Each
	case "own":
		*s = Own
	default:
		return fmt.Errorf("must be sum, each or own, got %.40q", text)
	}
	return nil
}

// A Verification is what must hold after a run: a measurement that must be good for some time, or a Job that must
// succeed within that time.
type Verification struct {
	For time.Duration `yaml:"for"`
	// Job runs in the namespace of the target; nil if a measurement is asked.
	Job *VerificationJob `yaml:"job"`
	// Measure is an expression of the measurements of the target's namespace, as an SLO document names them; it is good
	// if it is not below Least.
	Measure string  `yaml:"measure"`
	Least   float64 `yaml:"least"`
	// Back lets the commit before be proposed again when the measurement is bad.
	Back bool `yaml:"back"`
}

// A VerificationJob is what the Job of a verification runs. It gets the variables COMMIT, TARGET and NAMESPACE.
type VerificationJob struct {
	Image          string   `yaml:"image"`
	Args           []string `yaml:"args"`
	ServiceAccount string   `yaml:"service_account"` // of the pod, "" for the default one
}

// mistake returns what is wrong with a verification, "" for nothing.
func (v Verification) mistake() string {
	switch hasMeasure := strings.TrimSpace(v.Measure) != ""; {
	case v.For < time.Second, v.Job == nil && !hasMeasure:
		return "needs for, such as 30m, and either measure, an expression, or job"
	case v.Job != nil && hasMeasure:
		return "must have measure or job, and not both"
	case v.Job != nil && strings.TrimSpace(v.Job.Image) == "":
		return "needs the image of its job"
	}
	return ""
}

// Speakers returns the people who may speak for a target, sorted.
func (s Settings) Speakers(t *Target) []string {
	var out []string
	for _, word := range slices.Sorted(maps.Keys(s.May)) {
		if t.Called(word) {
			out = append(out, s.May[word]...)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// ApproversOf returns who approves promotions of a target: what the settings say of its narrowest name, or its
// environment.
func (s Settings) ApproversOf(t *Target) string {
	for _, word := range t.Calls() {
		if name := s.Approvers[word]; name != "" {
			return name
		}
	}
	return t.Calls()[len(t.Calls())-1]
}

// FreightOf returns the name of the set with which a target moves, "" if it moves alone.
func (s Settings) FreightOf(t *Target) string {
	for _, name := range slices.Sorted(maps.Keys(s.Freight)) {
		if slices.ContainsFunc(s.Freight[name], t.Called) {
			return name
		}
	}
	return ""
}

// VerificationOf returns what must hold after a run of a target, by its narrowest name.
func (s Settings) VerificationOf(t *Target) (Verification, bool) {
	for _, word := range t.Calls() {
		if v, ok := s.Verify[word]; ok {
			return v, true
		}
	}
	return Verification{}, false
}

// Check returns the first mistake that the types of the settings do not show.
func (s Settings) Check(own settings.Own) error {
	if i, must := s.Hosts.Mistake(false); i >= 0 {
		return own.Mistake(must, "hosts", fmt.Sprint(i))
	}
	for _, host := range slices.Sorted(maps.Keys(s.Logins)) {
		switch l := s.Logins[host]; {
		case host == "" || strings.ContainsAny(host, "/@: ") || host != strings.ToLower(host):
			return own.Mistake("must be the name of a host in lower case, such as gitlab.example.com", "logins", host)
		case l.Path == "" || l.Field == "":
			return own.Mistake("must have path and field of the secret with its token", "logins", host)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.Verify)) {
		if what := s.Verify[name].mistake(); what != "" {
			return own.Mistake(what, "verify", name)
		}
	}
	if s.Words != "" && s.Words != WordsInComments {
		return own.Mistake("must be comments, or be left out", "words")
	}
	if len(s.May)+len(s.Freight)+len(s.Verify) > 0 && s.Records == "" {
		return own.Mistake("is required with may, freight and verify: the ledger is there", "records")
	}
	if s.Records != "" && !strings.HasPrefix(s.Records, "s3://") {
		return own.Mistake("must be s3://BUCKET or s3://BUCKET/PREFIX", "records")
	}
	return nil
}

// errAddress says that an address of a repository cannot be used.
var errAddress = errors.New("the address of a repository must be https://HOST/PATH, without a user")

// serverOf returns the server at an address, which is none if the address cannot be used.
func serverOf(address string) origin.Origin {
	at, err := origin.Parse(address)
	if err != nil {
		return origin.Origin{}
	}
	return at
}

// registryOf returns the registry of an image, or of a pattern of images. What stands before the first slash is taken
// for its host. It is none if that is no host.
func registryOf(image string) origin.Origin {
	host, _, hasPath := strings.Cut(image, "/")
	if !hasPath {
		host, _, _ = strings.Cut(host, ":")
	}
	at, err := origin.OfHost(host)
	if err != nil {
		return origin.Origin{}
	}
	return at
}

// MayGetAt reports whether a server that the data name gets credentials: it has TLS, and the settings name it.
func (s Settings) MayGetAt(address string) bool {
	at := serverOf(address)
	return at.Scheme == "https" && s.Hosts.Name(at)
}
