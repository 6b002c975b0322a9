package threeway

import (
	"cmp"
	"slices"

	"github.com/app-sre/prcheck/natives/generic/body"
	"github.com/app-sre/prcheck/natives/generic/rules"
)

// An Input is what a plan is made of.
type Input struct {
	Applied, Desired, Live any
	// Known is what the data have, if Desired is only a part of it, such as the mark of a resource. A body for PUT
	// carries its values that cannot be read back. nil is Desired.
	Known        any
	WasApplied   bool // Applied counts; else the resource was never applied
	IsThere      bool // Live counts; else the resource is not there
	Rules        rules.Rules
	AllowReplace bool     // a create-only change may delete and create
	AllowUpdate  []string // places whose inferred create-only is not believed
	Children     []string // managed resources that a replacement would destroy
	// Key makes the keyed hashes of [Remember]. With a key, a value that cannot be read back and
	// that Applied has no trace of was never sent. Without one it counts as sent, unless its rule
	// says that it changed.
	Key []byte
	// Again says that the resource is to be sent again although nothing differs: its last operation failed.
	Again bool
	// Stop is asked now and then, if it is not nil. Once it returns true, the rest of the plan says
	// that nothing is known, and must not be used.
	Stop func() bool
}

// An Action is what is to be done.
type Action string

// The actions.
const (
	None    Action = "none"
	Create  Action = "create"
	Update  Action = "update"
	Replace Action = "replace" // delete and create
	Blocked Action = "blocked" // nothing, because of violations
)

// A Reason says why a value changes.
type Reason string

// The reasons.
const (
	Desired Reason = "desired" // the data changed
	Drift   Reason = "drift"   // the data are as they were applied, and live differs
	Removed Reason = "removed" // the data have it no longer
	Cleared Reason = "cleared" // the data say null
	Adopt   Reason = "adopt"   // the resource was never applied
	Variant Reason = "variant" // only the variant that it was has it
	Secret  Reason = "secret"  // its version changed; it cannot be compared
	Failed  Reason = "failed"  // nothing differs, and the last operation failed
)

// The codes of violations and warnings.
const (
	CreateOnly         = "CREATE_ONLY"
	CreateOnlyInferred = "CREATE_ONLY_INFERRED"
	ReadOnlySet        = "RO_SET"
	Duplicate          = "DUPLICATE"
	SpecBroken         = "SPEC_REF"
	Orphan             = "ORPHAN"
	KeptContested      = "KEPT_CONTESTED"
	KeptCreateOnly     = "KEPT_CREATE_ONLY"
	UnknownValue       = "UNKNOWN_VALUE"
)

// A Change is one value that becomes another. From and To are masked; nil means that there is
// none.
type Change struct {
	Op      string `json:"op"`   // add, replace or remove
	Path    string `json:"path"` // a JSON pointer; items are named by keys or value
	Pattern string `json:"-"`    // the same with * for items
	Reason  Reason `json:"reason"`
	From    any    `json:"from,omitempty"`
	To      any    `json:"to,omitempty"`
	Ground  string `json:"ground,omitempty"` // why the property has its class
	Place   string `json:"place,omitempty"`  // where the specification or an override says so
	// FirstSet is the path of the create-only value that comes with the change and was not there;
	// "" if there is none. Once it is there it stays.
	FirstSet string `json:"-"`

	isForeign bool // the value is of somebody else: the data did not change it
}

// An Objection is why a plan is blocked, or what a person should know.
type Objection struct {
	Code    string `json:"code"`
	Path    string `json:"path"`
	Pattern string `json:"-"`
	Message string `json:"message"` // what is wrong, and what to do
	Reason  Reason `json:"reason,omitempty"`
	From    any    `json:"from,omitempty"`
	To      any    `json:"to,omitempty"`
	Ground  string `json:"ground,omitempty"`
	Place   string `json:"place,omitempty"`

	isForeign bool
}

// A Plan is what has to change. Changes and findings are sorted by path.
type Plan struct {
	Action     Action
	Changes    []Change
	Violations []Objection
	Warnings   []Objection

	// What to send. It may hold secrets.
	Body       any            // to create or to replace
	MergePatch map[string]any // RFC 7386, to update
	PutBody    any            // to update, without what the service fills in, with all that the data know
}

// Make returns the plan. It never changes the bodies of the input, and what it returns may
// share parts with them.
func Make(in Input) *Plan {
	if in.Rules == nil {
		in.Rules = rules.None
	}
	if in.Known == nil {
		in.Known = in.Desired
	}
	m := &maker{in: in, plan: &Plan{}, known: map[place]rules.Rule{}, isNew: map[string]bool{}}
	m.inspect(place{}, in.Desired)
	if in.IsThere {
		m.compare()
	} else {
		m.create()
	}
	m.finish()
	return m.plan
}

func (m *maker) create() {
	m.plan.Action = Create
	m.plan.Body = sendable(m.in.Desired)
	reason := Desired
	if m.in.WasApplied {
		reason = Drift
	}
	m.plan.Changes = []Change{{Op: "add", Reason: reason, To: rules.Mask(m.in.Rules, "", "", m.plan.Body)}}
}

// compare plans a resource that is there.
func (m *maker) compare() {
	applied := side{m.in.Applied, m.in.WasApplied && m.in.Applied != nil}
	result := m.merge(place{}, applied, in(m.in.Desired), in(m.in.Live))
	switch {
	case len(m.plan.Changes) > 0:
	case !m.in.Again:
		m.plan.Action = None
		return
	default:
		m.plan.Changes = []Change{{Op: "replace", Reason: Failed}}
	}
	m.plan.Action = Update
	live, _ := m.strip(place{}, m.in.Live).(map[string]any)
	if to, ok := result.v.(map[string]any); ok {
		m.plan.MergePatch = body.MergePatch(live, to)
	}
	m.plan.PutBody = m.carry(place{}, m.in.Known, result).v
	if m.plan.MergePatch != nil {
		m.carryLists(place{}, m.in.Known, m.plan.MergePatch)
	}
	if all, ok := sendable(m.in.Known).(map[string]any); ok && m.plan.Changes[0].Reason == Failed {
		m.plan.MergePatch = all
	}
	m.unknown(place{}, found{m.in.Known, true}, m.in.Live, m.plan.PutBody)
}

// finish sorts the plan, and decides what violations mean.
func (m *maker) finish() {
	p := m.plan
	slices.SortStableFunc(p.Changes, func(a, b Change) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Op, b.Op))
	})
	for _, findings := range [][]Objection{p.Violations, p.Warnings} {
		slices.SortStableFunc(findings, func(a, b Objection) int {
			return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Code, b.Code))
		})
	}
	if len(p.Violations) == 0 {
		return
	}
	canReplace := m.in.AllowReplace && slices.ContainsFunc(p.Violations, Objection.isOfData) &&
		!slices.ContainsFunc(p.Violations, func(f Objection) bool {
			return f.Code != CreateOnly && f.Code != CreateOnlyInferred
		})
	p.PutBody, p.MergePatch, p.Body = nil, nil, nil
	p.Action = Blocked
	switch {
	case canReplace && len(m.in.Children) > 0:
		p.Violations = append([]Objection{orphans(m.in.Children)}, p.Violations...)
	case canReplace:
		p.Action = Replace
		p.Body = sendable(m.in.Desired)
	}
}
