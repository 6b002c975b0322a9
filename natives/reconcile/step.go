package reconcile

import (
	"cmp"
	"encoding/json"
	"slices"

	"github.com/app-sre/prcheck/plan"
)

// An Action is what a step does.
type Action string

// The actions. Adopt and Mark only write our mark, Forget only removes the thing from the
// state. None does nothing because nothing differs. Skip leaves a thing of others alone in
// silence, and Blocked is a step that may not be done.
const (
	Create   Action = "create"
	Update   Action = "update"
	Replace  Action = "replace"
	Remove   Action = "delete"
	Undelete Action = "recover"
	AdoptIt  Action = "adopt"
	MarkIt   Action = "mark"
	Forget   Action = "forget"
	None     Action = "none"
	Skip     Action = "skip"
	Blocked  Action = "blocked"
)

// Writes reports whether the action changes a thing.
func (a Action) Writes() bool {
	switch a {
	case Create, Update, Replace, Remove, Undelete, AdoptIt, MarkIt:
		return true
	}
	return false
}

// A Step is what is to be done with one thing.
type Step struct {
	Key     Key              `json:"key"`
	Action  Action           `json:"action"`
	Owner   Whose            `json:"owner,omitempty"`
	Code    plan.FindingCode `json:"code,omitempty"` // why it is blocked
	Reason  string           `json:"reason"`
	Changes []Change         `json:"changes,omitempty"`
	Wave    int              `json:"wave,omitempty"` // steps of a wave may run at once; 0 if it changes nothing
	Needs   []Key            `json:"needs,omitempty"`
	After   []Key            `json:"after,omitempty"`
	Place   plan.Place       `json:"place,omitzero"`

	Item  *Item  `json:"-"` // nil if no entry names the thing
	Thing *Thing `json:"-"` // as it was read for the plan; nil if it is not there
	mark  bool   // the thing gets our mark
	learn bool   // the state does not know the thing and must be told
	wish  Wish   // with which the owner was judged
}

// Wanted returns the body of the item, nil if no entry names the thing.
func (s Step) Wanted() any {
	if s.Item == nil {
		return nil
	}
	return s.Item.Body
}

// A Change is a difference between an item and its thing, for people.
type Change struct {
	Path string `json:"path"`
	// Named is the path with names in place of positions, for people; "" if it is the path.
	Named string `json:"-"`
	Old   string `json:"old,omitempty"` // masked, "" if there is none
	New   string `json:"new,omitempty"`
	// Reason says why it changes, in a word of the integration.
	Reason string `json:"reason,omitempty"`
	// From and To are the values as JSON, without secrets; both are nil if only the texts are known.
	From json.RawMessage `json:"-"`
	To   json.RawMessage `json:"-"`
	// Secret says that the value is a secret, or holds one.
	Secret bool `json:"-"`
}

// At returns the place of a change for people.
func (c Change) At() string { return cmp.Or(c.Named, c.Path) }

// A Difference is how a thing differs from its item. The zero value is no difference.
type Difference struct {
	Changes []Change
	Replace bool // the thing cannot be changed, only deleted and made anew
	// Mistake says why the thing cannot be made as the item says, for instance because somebody
	// else has set a field of it. It is blocked then.
	Mistake Mistake
	// Warnings say what people must know of the change although it can be made, for instance
	// that a part of the thing stays as it is.
	Warnings []string
}

// Compare returns how a thing differs from its item. The record says what was written last; it
// is the zero value if the state does not know the thing.
type Compare func(want Item, is Thing, last Record) (Difference, error)

// An Input is what a plan is made from.
type Input struct {
	Owner    Owner
	Class    Class
	Prune    bool // things that no entry names any more and that the state knows are deleted (class Knowing)
	Desired  []Item
	Removed  []Item // entries that base has and head has not; only in the dry run of a merge request
	Current  []Thing
	Known    map[Key]Record // what the state knows
	Unread   map[Key]error  // things that could not be read
	Errors   []error        // other errors of reading: the current state is not complete
	Kept     map[Key]string // things that stay as they are, with the reason
	Compare  Compare
	Gate     Gate
	FoldCase bool // keys that differ in upper and lower case are one key

	rules *rules // nil but in tests
}

// The rules about owners and deletions. Tests replace them to show that the laws notice it.
type rules struct {
	judge  func(Owner, Mark, Wish) Verdict
	decide func(Gate, Deletions) Refusal
}

// rulesOrDefault returns the rules of the input.
func (in Input) rulesOrDefault() rules {
	if in.rules != nil {
		return *in.rules
	}
	return rules{Owner.Judge, Gate.Decide}
}

// A Plan says what is to be done, in the order of waves.
type Plan struct {
	Owner     Owner     `json:"-"`
	Steps     []Step    `json:"steps"`    // sorted by key
	Findings  []Finding `json:"findings"` // errors first
	Deletions Deletions `json:"-"`
	Refused   Refusal   `json:"-"`
	// Finished are the entries that say delete and whose thing is gone: they can be removed
	// from the data.
	Finished []Key `json:"finished,omitempty"`

	rules rules
}

// Failed reports whether a finding is an error.
func (p *Plan) Failed() bool {
	return slices.ContainsFunc(p.Findings, func(f Finding) bool { return f.Severity == plan.SeverityError })
}
