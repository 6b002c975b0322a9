package integration

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/app-sre/prcheck/internal/origin"
	"github.com/app-sre/prcheck/internal/outward"
	"github.com/app-sre/prcheck/internal/phrase"
	"github.com/app-sre/prcheck/internal/suggest"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/settings"
	"github.com/app-sre/prcheck/state"
)

// ExactNumbers is the name of a variable of queries; see gql.ExactVariable, which is the same.
const ExactNumbers = "exactNumbers"

// A QueryFunc answers a GraphQL query over one bundle. It returns the data of the
// response as JSON.
// A variable [ExactNumbers] that is true asks for an error about each number that a JSON text of
// the answer could not hold.
type QueryFunc func(ctx context.Context, query string, variables map[string]any) ([]byte, error)

// A DryRunner is what programs that plan and dry-run need of an integration that is written in Go and
// part of the program. It may also be a [Stater], [Sharder], [Checker], [Previewer] or [Hider], and
// an [io.Closer] if it keeps files while the program runs.
type DryRunner interface {
	// Name returns the native's name. It runs for the definition of this name, and for each
	// definition to which the settings bind it.
	Name() string
	// DryRun says what would be done. It gets nothing that can write to a live system.
	DryRun(ctx context.Context, env Environment) error
}

// A Native is an integration that is written in Go and part of the program. Only the program
// reconciler calls Run.
type Native interface {
	DryRunner
	// Run changes the live systems so that they match the desired state.
	Run(ctx context.Context, env Environment, act Actors) error
}

// An Environment is what a native integration reads, and where it reports.
type Environment struct {
	Integration string               // name of the definition that it runs for
	Settings    settings.Integration // the settings of this integration, of base
	Query       QueryFunc            // answers queries over the data that are to become true
	Base        QueryFunc            // answers queries over the data before the change; nil if there is no change
	Shard       string               // the shard to work on; "" means all shards
	Static      plan.Fraction
	State       state.Store // the documents of this integration alone; nil if nothing is remembered
	Secret      func(ctx context.Context, ref SecretRef) (string, error)
	Cluster     func(ctx context.Context, ref ClusterRef) (ClusterReader, error)
	Bucket      func(ctx context.Context, place string) (BucketReader, error)
	// Endpoint returns what sends requests to an API, with its token. It refuses all that could
	// change something: every verb but GET and HEAD, and POST but to a declared read action.
	Endpoint func(ctx context.Context, ref EndpointRef) (http.RoundTripper, error)
	// EndpointTrial is Endpoint for requests that the server checks and does not keep: it sends
	// any verb with dryRun=All. It is nil unless the settings of base say server_dry_run.
	EndpointTrial func(ctx context.Context, ref EndpointRef) (http.RoundTripper, error)
	// Trial lets clusters try writes in a dry run; nil unless the settings of base say
	// server_dry_run.
	Trial    func(ctx context.Context, ref ClusterRef) (ClusterTrial, error)
	Variable func(name string) (string, bool) // a variable of the environment of the process; nil if there are none
	Now      func() time.Time
	// Mask replaces the secrets that were read until now. It is for texts of services that are
	// remembered: what is logged or reported is masked by the program. Nil replaces nothing.
	Mask   func(text string) string
	Log    io.Writer    // takes the output of the integration, line by line
	Report func(Remark) // takes findings and effects; several goroutines may call it
	// Stand takes how each unit of work stands, for tables and metrics; nil if nobody asks. Several
	// goroutines may call it.
	Stand func(Standing)
	// Pass takes how commits stand at the stages that they pass, once for each source of commits; nil if nobody asks.
	Pass    func(Flow)
	Commit  string        // of the data that are to become true; "" if nobody knows it
	Workers int           // how many things may be read or written at once; 0 means one
	Wait    time.Duration // how long to wait for what another run writes to; 0 is two minutes
	Approve Approvals     // what a person allowed by hand
}

// Approvals are what a person allowed by hand for one run.
type Approvals struct {
	Deletions []string // digests of deletions, see package reconcile
	Adopt     bool     // put the mark on things that exist without one, and do nothing else
	// TakeOver takes the things that another version of the integration made, and does nothing
	// else: those that the data name, as the data want them.
	TakeOver bool
	// Word lets an integration that listens to people do what one says, and nothing else; nil if nobody says anything.
	Word *Word
}

// An Obeyer is a Native that does what a person says, see [Approvals]. Another one would do all of its work instead, so
// nobody says anything to it.
type Obeyer interface {
	Native
	// Obeys has no effect.
	Obeys()
}

// A Word is what a person says to an integration.
type Word struct {
	Text string // such as: reject TARGET COMMIT
	Who  string
}

// Actors change live systems. Only Run gets them, so that a dry run cannot write.
type Actors struct {
	State   state.Store // as that of the environment, for writing; nil if nothing is remembered
	Cluster func(ctx context.Context, ref ClusterRef) (ClusterWriter, error)
	Bucket  func(ctx context.Context, place string) (BucketWriter, error)
	// Endpoint returns what sends any request to an API, with its token.
	Endpoint func(ctx context.Context, ref EndpointRef) (http.RoundTripper, error)
	// PutSecret puts a value into a field of a secret of the store of secrets, and leaves its other fields; nil if
	// nothing can.
	PutSecret func(ctx context.Context, ref SecretRef, value string) error
	Did       func(Deed) // takes each step as it ends; several goroutines may call it
}

// A Standing is how one unit of work stands at the end of a run, also if nothing is done with it.
type Standing struct {
	Key     string   `json:"key"`
	State   string   `json:"state"`             // a word of the integration, such as same or held
	Reasons []string `json:"reasons,omitempty"` // kinds of what differs, in the order of the integration
	Hold    string   `json:"hold,omitempty"`    // what it waits for, or why nothing is done
	// Waits says that something differs and is not being done, so that somebody may have to act.
	Waits bool `json:"waits,omitzero"`
	// Opens is when the wait ends, and Since when it began; zero if nobody knows.
	Opens time.Time `json:"opens,omitzero"`
	Since time.Time `json:"since,omitzero"`
	// Started says that something was started, for the reasons.
	Started bool `json:"started,omitzero"`
	// Took is how long the unit took, if it ended since the run before; 0 if it did not.
	Took time.Duration `json:"took_ns,omitzero"`
	// Things counts what belongs to the unit by a word for how it stands, such as the resources of a shard.
	Things map[string]int `json:"things,omitempty"`
}

// The states of units that mean the same for all integrations. Others are words of each.
const (
	StandingSame    = "same"    // nothing differs
	StandingOff     = "off"     // nobody looks at it, as the data say
	StandingUnknown = "unknown" // what it is to be, or what is there, is not known
)

// A Deed is a step that was taken or would be taken, for reports, the journal and the metrics.
type Deed struct {
	Shard   string `json:"shard,omitempty"`
	Key     string `json:"key"`
	Action  string `json:"action"`
	Status  string `json:"status"`
	Error   string `json:"error,omitempty"`
	File    string `json:"file,omitempty"`    // path of the datafile that asks for it
	Pointer string `json:"pointer,omitempty"` // JSON pointer to the place in the file
	// Changes are the fields of the thing that differ, without secrets.
	Changes []plan.FieldChange `json:"changes,omitempty"`
}

// ErrNothingDone says that a native could do nothing at all, for instance because no target
// could be read. Other errors of a native are about a part of its work.
var ErrNothingDone = errors.New("nothing could be done")

// A Remark is one thing that a native says: a finding, an effect, or a part at which nobody looked.
type Remark struct {
	plan.Finding
	// Effect is what would be done, if the finding is about an effect. The other fields say
	// where it comes from.
	Effect *plan.Effect
	// Unlooked is a part at which nobody looked, if the finding is about one. It is no mistake.
	Unlooked *plan.Unlooked
	Action   string // of the step that has the effect, as [Deed] has it; "" if it is not known
	Shard    string // to which the step belongs
}

// A Stater is a native integration that can compute its desired state. It is skipped
// if the desired states of base and head are equal.
//
// The desired state must depend on nothing but the answers of query and the settings: not
// on a clock, a service or a file. It must contain all data of the bundle that DryRun and
// Run use. It must be complete when it is encoded as JSON, because the JSON is compared. The
// order of its lists does not count unless the settings say list_order: significant; a list
// whose order means something is best written as one text. An error is always safe: the integration then runs in full.
type Stater interface {
	DesiredState(ctx context.Context, query QueryFunc, it settings.Integration) (any, error)
}

// A Sharder is a native integration that can run on one shard of its work. The
// selectors of its shards are paths through its desired state. Shards in prcheck.yaml
// replace those of the Sharder.
type Sharder interface {
	Shards() settings.Shards
}

// A Watcher is a native integration that knows what its work depends on besides the data, so that an event about it
// need not wait for the next round.
type Watcher interface {
	// Watches returns the names of such things: addresses of repositories, ids of resources; nil is everything. It asks
	// nobody.
	Watches(ctx context.Context, query QueryFunc, it settings.Integration) ([]string, error)
}

// A Checker is a native integration that has settings of its own. Their mistakes are found
// when the settings are read for a plan.
type Checker interface {
	CheckSettings(settings.Own) error
}

// A Previewer is a native integration that says what the merge of a change would start, by the
// data alone: one line for each thing, for people.
type Previewer interface {
	Preview(ctx context.Context, base, head QueryFunc, it settings.Integration) ([]string, error)
}

// A Teller is a native integration that tells what a change does by the data of both sides alone, as its dry run would
// if every target were as base says.
type Teller interface {
	// Tell reports findings, effects, and what is not known. It reaches nothing and asks nobody.
	Tell(ctx context.Context, env Environment) error
}

// A Hider is a native integration that knows which values of the data no output may show, for
// instance a secret that somebody wrote into them.
type Hider interface {
	// Hidden returns the JSON pointers of such values by the path of the datafile, at least for
	// the given datafiles.
	Hidden(ctx context.Context, query QueryFunc, files []string) (map[string][]string, error)
}

// FindNative returns the native that runs for an integration: that of the name to which its
// settings bind it, or else that of its own name.
func FindNative[N DryRunner](natives []N, it settings.Integration) (N, bool) {
	name := it.Name
	if it.Native != "" {
		name = it.Native
	}
	for _, n := range natives {
		if n.Name() == name {
			return n, true
		}
	}
	var none N
	return none, false
}

// DryRunners returns natives as those who plan and dry-run know them.
func DryRunners[N DryRunner](natives []N) []DryRunner {
	out := make([]DryRunner, len(natives))
	for i, n := range natives {
		out[i] = n
	}
	return out
}

// Close closes the natives that keep files while the program runs.
func Close[N DryRunner](natives []N) error {
	var errs []error
	for _, n := range natives {
		if c, ok := any(n).(io.Closer); ok {
			errs = append(errs, c.Close())
		}
	}
	return errors.Join(errs...)
}

// A StateFunc returns a desired state by the answers of query, see [Stater].
type StateFunc func(ctx context.Context, query QueryFunc) (any, error)

// StateOf returns the function that computes the desired state of an integration, nil if its
// native has none.
func StateOf(n DryRunner, it settings.Integration) StateFunc {
	s, ok := n.(Stater)
	if !ok {
		return nil
	}
	return func(ctx context.Context, query QueryFunc) (any, error) { return s.DesiredState(ctx, query, it) }
}

// AsSharder returns n as a Sharder, if n has shards.
func AsSharder(n DryRunner) (Sharder, bool) {
	s, ok := n.(Sharder)
	return s, ok
}

// requestTime is how long one request of a client may take.
const requestTime = time.Minute

// Client returns a client for services that are not clusters or buckets, wherever they are: [Environment.ClientFor] is
// safer. It refuses to send anything but GET and HEAD, so that a dry run cannot write.
func (Environment) Client() *http.Client {
	return &http.Client{Timeout: requestTime, Transport: reading{http.DefaultTransport}}
}

// ClientFor returns a client that sends GET and HEAD to one server alone, with a value of the header Authorization; ""
// is none. A redirect is an error, and so is everything that is to go elsewhere.
func (Environment) ClientFor(server, authorization string) (*http.Client, error) {
	at, err := origin.Parse(server)
	if err != nil {
		return nil, Failure(FailureOfConfig, fmt.Errorf("the address %.200q: %w", server, err))
	}
	return outward.Party{At: at, Authorization: authorization, Timeout: requestTime}.Client(), nil
}

// Client returns a client that sends every request.
func (Actors) Client() *http.Client { return &http.Client{Timeout: requestTime} }

// A reading transport sends only requests that change nothing.
type reading struct{ http.RoundTripper }

// RoundTrip implements [http.RoundTripper].
func (r reading) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Method != http.MethodGet && req.Method != http.MethodHead {
		if req.Body != nil {
			_ = req.Body.Close() // the error says why nothing was sent
		}
		return nil, fmt.Errorf("a dry run sends no %s", req.Method)
	}
	return r.RoundTripper.RoundTrip(req)
}

// WithDefaults returns the environment with what nobody listens to in place of what it lacks: a
// log, reports and the clock of the machine. Every secret is an error if there is no source.
func (e Environment) WithDefaults() Environment {
	if e.Log == nil {
		e.Log = io.Discard
	}
	if e.Report == nil {
		e.Report = func(Remark) {}
	}
	if e.Stand == nil {
		e.Stand = func(Standing) {}
	}
	if e.Pass == nil {
		e.Pass = func(Flow) {}
	}
	if e.Now == nil {
		e.Now = time.Now
	}
	if e.Mask == nil {
		e.Mask = func(text string) string { return text }
	}
	if e.Secret == nil {
		e.Secret = func(context.Context, SecretRef) (string, error) { return "", errors.New("there are no secrets") }
	}
	return e
}

// CheckNatives returns the mistakes in the settings that only those who know the natives can
// find: a native that is not there, a key for natives at an integration that has none, and
// what a [Checker] says. The error joins one [settings.Error] per mistake.
func CheckNatives(s *settings.Settings, natives []DryRunner) error {
	found := &settings.Mistakes{File: s.File}
	for _, name := range s.Names() {
		checkNative(s.For(name), natives, found)
	}
	return found.Err()
}

// checkNative notes the mistakes of one integration.
func checkNative(it settings.Integration, natives []DryRunner, found *settings.Mistakes) {
	at := "integrations." + it.Name
	n, ok := FindNative(natives, it)
	switch {
	case !ok && it.Native != "":
		found.Add(nativeLine(it, "native"), at+".native",
			"this program has no native integration "+unknownNative(it.Native, natives))
		return
	case !ok:
		for _, key := range it.NativeKeys {
			found.Add(key.Line, at+"."+key.Name,
				fmt.Sprintf("only a native integration uses this key, and %s is none; bind it to one with the key native",
					phrase.Quote(it.Name)))
		}
		return
	}
	if it.Native != "" && len(it.Queries) > 0 && StateOf(n, it) != nil {
		found.Add(it.Queries[0].Line, at+".queries",
			fmt.Sprintf("the native integration %s says itself what it wants, and a skip would depend on these queries "+
				"instead: leave them out", phrase.Quote(n.Name())))
	}
	own := it.Own
	if own.IsZero() {
		own = settings.Own{File: found.File, At: at + ".settings", Line: it.Line}
	}
	switch checker, ok := n.(Checker); {
	case ok:
		found.AddOwn(own, checker.CheckSettings(own))
	case !own.IsZero():
		found.Add(own.Line, own.At, fmt.Sprintf("nobody reads this key: the native integration %s has no settings of its own",
			phrase.Quote(n.Name())))
	}
}

// nativeLine returns the line of a key that only natives use.
func nativeLine(it settings.Integration, key string) int {
	i := slices.IndexFunc(it.NativeKeys, func(k settings.Name) bool { return k.Name == key })
	if i < 0 {
		return it.Line
	}
	return it.NativeKeys[i].Line
}

// unknownNative quotes the name of a native that is not there, and says which natives there are.
func unknownNative(name string, natives []DryRunner) string {
	var known []string
	for _, n := range natives {
		known = append(known, n.Name())
	}
	slices.Sort(known)
	text := phrase.Quote(name) + suggest.Hint(name, known)
	if len(known) == 0 {
		return text + "; it has none"
	}
	return text + "; it has " + strings.Join(known, ", ")
}

// A FailureClass is the kind of a failure of a native integration, by the name that it has in
// the results.
type FailureClass string

// The classes that an integration can give to a failure. A failure without a class is one of
// the integration itself.
const (
	FailureOfConfig  FailureClass = "config"    // the data or the settings are wrong
	FailureTransient FailureClass = "transient" // it may go away by itself, so the task is tried again
)

// A failure is an error with a class.
type failure struct {
	error
	class FailureClass
}

func (f failure) Unwrap() error { return f.error }

// FailureClass returns the class.
func (f failure) FailureClass() string { return string(f.class) }

// Failure gives a class to an error of a native integration.
func Failure(class FailureClass, err error) error { return failure{err, class} }

// ClassOfFailure returns the class of an error of a native integration, or "" if it has none.
// Every error with a method FailureClass has a class.
func ClassOfFailure(err error) FailureClass {
	var classed interface{ FailureClass() string }
	if !errors.As(err, &classed) {
		return ""
	}
	return FailureClass(classed.FailureClass())
}

// A HostUser is a native integration that asks hosts which the data name, and whose settings say which of
// them get credentials.
type HostUser interface {
	// UsesHosts returns the hosts that the data name and those that the settings name, sorted.
	UsesHosts(ctx context.Context, query QueryFunc, it settings.Integration) ([]HostUse, error)
}

// A HostUse is a host that the data or the settings of a native name.
type HostUse struct {
	Host string // in lower case, with a port that is not the usual one
	For  string // what the data name it for, such as "repositories"; "" if they do not
	// Missing says what does not work because the settings do not name the host, "" for nothing.
	Missing string
}
