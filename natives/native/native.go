package native

import (
	"context"
	"slices"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/natives/reconcile"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/settings"
	"github.com/app-sre/prcheck/state"
)

// A Recipe says how an integration keeps things as the data say. Make turns it into a native integration.
type Recipe struct {
	Name  string          // of the native
	Class reconcile.Class // how it finds things that the data no longer name
	// Unconditional tells that the system has no conditional writes. The report says so.
	Unconditional bool
	Prune         bool // things that no entry names any more are deleted; see [reconcile.Input]
	// Offline says that the data alone are worth a check: a target that cannot be asked fails no
	// dry run of a change. The report tells what was not asked.
	Offline bool

	// Desired returns what the data say. It depends on the answers of query and on the
	// settings alone. An error means that nothing can be said; a mistake of one entry is a
	// finding, and the other entries go on.
	Desired func(ctx context.Context, query integration.QueryFunc, it settings.Integration) (Desired, error)
	// Current returns what is there, at the target of one part. An error means that the
	// target cannot be asked.
	Current func(ctx context.Context, env integration.Environment, part Part) (Current, error)
	// Complete returns a part whose items have what only services know, such as the commit of a
	// branch, or the mistake that nobody knows it. Nothing but items counts, and their keys stay
	// the same. It is called before Current for parts that have items, and not for the desired
	// state. It only reads. An error is one of the part. If it is nil, parts are complete.
	Complete func(ctx context.Context, env integration.Environment, part Part) (Part, error)
	// Compare returns how a thing differs from its item. It asks nobody.
	Compare reconcile.Compare
	// Replaces reports whether, by the data alone, a change of an entry from base to head leads to a
	// deletion and a new creation of its thing. What it cannot tell is true. If it is nil, no change does.
	Replaces func(base, head reconcile.Item) bool
	// Alters returns what the data alone say that a change of an entry from base to head changes of its thing, if
	// the thing is as base says: what Compare says then. It returns false if the data do not tell. If it is nil, effects
	// that are known by the data alone name no fields.
	Alters func(base, head reconcile.Item) (changes []reconcile.Change, isKnown bool)
	// Sets returns what the thing of an entry gets when it is created, by the data alone and without values of secrets.
	// If it is nil, effects of creations name no fields.
	Sets func(it reconcile.Item) []reconcile.Change
	// Places returns the JSON pointers in the datafile of an entry of what leads to some changes, or to the
	// deletion of its thing. If it is nil, it is the place of the entry.
	Places func(it reconcile.Item, changes []reconcile.Change) []string
	// Label returns the type of a thing and its short name, for people. The body is that of its entry, nil if
	// there is none. If Label is nil, the key says it all.
	Label func(k reconcile.Key, body any) (kind, name string)
	// Try asks the system whether it would do a step, in a dry run whose settings allow it, and
	// returns what would change. It writes nothing. If it is nil, the system is not asked.
	Try func(ctx context.Context, env integration.Environment, part Part, step reconcile.Step) ([]reconcile.Change, error)
	// Remembers returns what the state keeps of a body that was written, for Compare; nil keeps
	// the body. What is not needed is best left out: it is read in each run.
	Remembers func(body any) any
	// Doer returns what reads and writes single things of a part. A dry run does not call it.
	Doer func(ctx context.Context, env integration.Environment, act integration.Actors, part Part) (reconcile.Doer, error)
	// Prepare does what must be done before the first step of a part, such as to stop processes
	// that would get in the way of new ones, and returns the errors of steps that must not be
	// done. If it is nil, nothing is prepared.
	Prepare func(ctx context.Context, env integration.Environment, act integration.Actors, part Part,
		plan *reconcile.Plan) map[reconcile.Key]error
	// Settle waits until what was written works, and returns the errors of those that do not. It
	// is called after each wave with the steps of the wave that succeeded, so before what needs
	// them is written and before anything is deleted. Deletions are not waited for. If it is
	// nil, nothing is waited for.
	Settle func(ctx context.Context, env integration.Environment, part Part, done []reconcile.Step) map[reconcile.Key]error
	// Describe returns how the thing of a step stands, as conditions. The result is that of a run,
	// nil if somebody asks for the status. A run describes everything that it looked at, so it best
	// reads no more than what may have changed since the last status, which is the zero value if
	// there is none. If Describe is nil, nobody tells.
	Describe func(ctx context.Context, env integration.Environment, part Part, step reconcile.Step,
		result *reconcile.Result, last integration.Status) integration.Status
	// Watches returns the names of what an event may be about; see [integration.Watcher]. If it is nil, every event
	// counts.
	Watches func(Desired) []string
	// Momentary says that Describe tells what the system itself remembers, so that no run keeps it in the state.
	Momentary bool
	// Check returns what the data of both sides say about a change, beside the mistakes of
	// entries. It asks no system, and is called in the dry run of a change alone. If it is nil,
	// they say nothing more.
	Check func(ctx context.Context, env integration.Environment) ([]plan.Finding, error)
	// Hidden returns which values of the data no output may show; see [integration.Hider]. If it is
	// nil, all of them may be shown.
	Hidden func(ctx context.Context, query integration.QueryFunc, files []string) (map[string][]string, error)
	// UsesHosts returns the hosts that the data and the settings name; see [integration.HostUser]. If it is
	// nil, none are told.
	UsesHosts func(ctx context.Context, query integration.QueryFunc,
		it settings.Integration) ([]integration.HostUse, error)
	// Limits are those of deletions where the settings say nothing; nil is
	// [reconcile.DefaultLimits].
	Limits *reconcile.Limits
	// CheckSettings returns the mistakes in the settings that the integration reads itself.
	// If it is nil, the integration has none.
	CheckSettings func(settings.Own) error
}

// Desired is what the data say.
type Desired struct {
	Parts []Part
	// Callers are the keys of all running instances; nil if the data and the settings do not
	// tell, and then every other caller counts as living.
	Callers  []string
	Findings []plan.Finding // mistakes of the data
	// Approvals are deletions that the data allow, beside those of the settings. Of a change
	// those of base count, so that it cannot approve itself.
	Approvals []reconcile.Approval
	// Targets are known besides those of the parts. What base knows may be asked in the dry run
	// of a change, see [Part].
	Targets []any
	// Left returns a part that the state remembers and the data no longer have, or an error if
	// its target is not known any more. It gets the shard, the caller and At. If it is nil, such parts are
	// forgotten. The things of such a part are told in each run, and deleted if DeleteLeft.
	Left       func(was Part) (Part, error)
	DeleteLeft bool
	// Whole is what the integration needs of base in the dry run of a change, see [Part].
	Whole any
}

// A Part is what one shard does at one target.
type Part struct {
	Shard  string // key of the shard
	Caller string // whose mark the things get
	// At tells parts of one shard and caller apart, such as the cluster and namespace; "" if the
	// shard and the caller suffice.
	At string
	// Target is how the target is reached, such as an [integration.ClusterRef]. It is
	// compared as JSON, and must have everything that Current and Doer use of the data. See
	// also [Identified].
	Target any
	Items  []reconcile.Item
	// Skip says why the part is not worked on, for instance because the data disable it. Its
	// entries count as named, and nothing else is done with them.
	Skip string
	// Lease names what two runs do not write to at once, such as a cluster; "" is the part
	// itself.
	Lease string
	Last  bool // it is worked on after the other parts
	// Clear says that the data want all things of the part to go: no limit on deletions holds
	// them back, unless the settings say that each one must be approved.
	Clear bool
	// Known is what the state knows of the part. It is filled in before Current and Doer are
	// called, for those with a state.
	Known map[reconcile.Key]reconcile.Record `json:"-"`
	// OfBase is what [Desired] of base has as Whole, in the dry run of a change whose base can be read. It is filled in
	// before Complete is called.
	OfBase any `json:"-"`
}

// name returns the name of a part in the state, or with more texts that of a share of it.
func (p Part) name(more ...string) string {
	texts := append([]string{p.Shard, p.Caller}, more...)
	if p.At != "" {
		texts = append(texts, "at", p.At)
	}
	return state.Name(texts...)
}

// Current is what is there.
type Current struct {
	Things []reconcile.Thing
	Unread map[reconcile.Key]error // things that could not be read
	Errors []error                 // other errors: not everything was listed
	// Partly are things of which not everything can be compared before the merge of a change, with the
	// reason. What the data alone say of them counts as well.
	Partly map[reconcile.Key]string
	// Kept are things that stay as they are, with the reason: they are neither changed nor
	// deleted nor forgotten.
	Kept map[reconcile.Key]string
	// Mistakes say why entries cannot be used as things are. Their things are left as they are.
	Mistakes map[reconcile.Key]reconcile.Mistake
}

// ErrNothingDone says that no part could be read, so nothing could be done.
var ErrNothingDone = integration.ErrNothingDone

// A made is a native integration that was made of an Integration.
type made struct{ Recipe }

// Make returns the native integration.
func Make(i Recipe) integration.Native { return made{i} }

// Name implements [integration.Native].
func (m made) Name() string { return m.Recipe.Name }

// Watches implements [integration.Watcher].
func (m made) Watches(ctx context.Context, query integration.QueryFunc, it settings.Integration) ([]string, error) {
	if m.Recipe.Watches == nil {
		return nil, nil
	}
	is, err := m.Desired(ctx, query, it)
	if err != nil {
		return nil, err
	}
	return m.Recipe.Watches(is), nil
}

// CheckSettings implements [integration.Checker].
func (m made) CheckSettings(own settings.Own) error {
	if m.Recipe.CheckSettings == nil {
		return own.Decode(&struct{}{})
	}
	return m.Recipe.CheckSettings(own)
}

// Hidden implements [integration.Hider].
func (m made) Hidden(ctx context.Context, query integration.QueryFunc, files []string) (map[string][]string, error) {
	if m.Recipe.Hidden == nil {
		return nil, nil
	}
	return m.Recipe.Hidden(ctx, query, files)
}

// UsesHosts implements [integration.HostUser].
func (m made) UsesHosts(ctx context.Context, query integration.QueryFunc,
	it settings.Integration) ([]integration.HostUse, error) {
	if m.Recipe.UsesHosts == nil {
		return nil, nil
	}
	return m.Recipe.UsesHosts(ctx, query, it)
}

// Shards implements [integration.Sharder]: the shards are those of the parts.
func (m made) Shards() settings.Shards {
	by, err := settings.ParseSelector("parts[*].shard")
	if err != nil {
		panic(err) // the text is a constant
	}
	return settings.Shards{By: []settings.Selector{by}}
}

// An Identified target has parts that tell neither where it is nor who asks, such as a list of
// requests that only read. In the dry run of a change, a target of base with the same identity
// takes its place: it is asked as base says, and what is found at its things was there without
// the change.
type Identified interface {
	// Identity returns the target without these parts. It is compared as JSON.
	Identity() any
}

// reachedBy returns the data with the targets of base in the place of those with the same
// identity.
func (d Desired) reachedBy(base Desired) Desired {
	known := map[string]any{}
	note := func(target any) {
		if is, ok := target.(Identified); ok {
			known[text(is.Identity())] = target
		}
	}
	for _, p := range base.Parts {
		note(p.Target)
	}
	for _, target := range base.Targets {
		note(target)
	}
	if len(known) == 0 {
		return d
	}
	d.Parts = slices.Clone(d.Parts)
	for i := range d.Parts {
		is, ok := d.Parts[i].Target.(Identified)
		if !ok {
			continue
		}
		if target, ok := known[text(is.Identity())]; ok {
			d.Parts[i].Target = target
		}
	}
	return d
}
