package decide

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/app-sre/prcheck/state"
)

// A Kind is the kind of a signal, and of the reason why a run starts.
type Kind string

// The kinds, in the order of reasons: readers of today's runs look at the first reason alone, and
// the scans of images need one of an image or of a build.
const (
	Image     Kind = "image"
	Upstream  Kind = "upstream"
	Commit    Kind = "commit"
	Promotion Kind = "promotion" // a change of the data that a promotion made; its signal is Config
	Config    Kind = "config"
)

// Kinds returns all kinds in the order of reasons.
func Kinds() []Kind { return []Kind{Image, Upstream, Commit, Promotion, Config} }

// A Signal is what one source says about a target.
type Signal struct {
	Kind Kind // not Promotion
	// Value is what is there now, such as the sha of a commit. It is "" if there is nothing yet.
	Value string
	// Unknown says why nobody knows the value, "" if the source answered.
	Unknown string
	// Wait says what is not there yet, such as an image, "" if nothing is awaited.
	Wait string

	Reason  string          // text for people and for the parameters of a run
	Ref     string          // the commit or the branch that a run for this signal deploys
	Content json.RawMessage // what the value is a digest of, of signals with the kind Config
	// Auto says that promotions set the ref of the target, so a change that touches nothing but
	// what promotions set is one of them. It is a part of signals with the kind Config.
	Auto bool
}

// A WatchedTarget is one target of a cell, with its signals.
type WatchedTarget struct {
	UID   string
	Key   string // text that names saas file, template, cluster, namespace and environment
	Label string // for people
	// Delete says that the target is to be removed from its namespace.
	Delete bool
	Hotfix bool // what it deploys is a hotfix
	// Signals are at most one of each kind. One of the kind Config is always there.
	Signals []Signal
	File    string // the datafile with the target
	Pointer string // JSON pointer in the file
}

// signal returns the signal of a kind.
func (t WatchedTarget) signal(k Kind) (Signal, bool) {
	i := slices.IndexFunc(t.Signals, func(s Signal) bool { return s.Kind == k })
	if i < 0 {
		return Signal{}, false
	}
	return t.Signals[i], true
}

// A Cell is a saas file in an environment, as the data and the services show it.
type Cell struct {
	Key        string // saas/environment
	Deprecated bool   // the saas file is deprecated
	Mistake    string // why the data of the cell allow no run, "" if they do
	Targets    []WatchedTarget
	Runs       Runs
	Gates      *Gates // nil if they were not asked
	// Asked tells that a person wants what failed to run again, and said so after the run began.
	Asked bool
}

// A Gate can hold a cell.
type Gate struct {
	Kind GateKind
	// Closed says why the gate is closed, "" if it is open.
	Closed string
	Opens  time.Time // when it opens; zero if nobody knows
	// Unknown says why nobody knows whether the gate is open. It then counts as closed.
	Unknown string
}

// A GateKind is the kind of a gate.
type GateKind string

// The kinds of gates.
const (
	PromotionGate GateKind = "promotion"
	SLOGate       GateKind = "slo"
)

// Gates are what was asked about a cell that would start.
type Gates struct {
	// NoPipeline says that what is to run is not there yet, "" if it is.
	NoPipeline string
	Unknown    string // why nobody knows whether it is there
	Gates      []Gate // of all targets of the cell
}

// Values are values by the kind of their signal.
type Values map[Kind]string

// Unseen is the value of a signal that a run deployed while nobody knew the value.
const Unseen = "?"

// A Holding is what a run is to apply, by uid.
type Holding map[string]Values

// Fingerprint returns a digest of a holding: 16 hex digits.
func (h Holding) Fingerprint() string {
	var texts []string
	for uid, values := range h {
		for kind, value := range values {
			texts = append(texts, state.Name(uid, string(kind), value))
		}
	}
	slices.Sort(texts)
	return state.Name(texts...)[:16]
}
