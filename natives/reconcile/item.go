package reconcile

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/app-sre/prcheck/plan"
)

// A Key identifies an item and its thing for ever. It does not depend on the position of an
// entry in the data.
type Key string

// An Item says what a thing should be.
type Item struct {
	Key       Key
	Body      any        // what it should be; only [Compare] and the [Doer] look into it
	Needs     []Key      // items that must exist before it
	After     []Key      // items that come before it, also if they fail
	Delete    bool       // the thing must go
	Protected bool       // the thing must not be deleted or replaced
	Recover   bool       // a deleted thing that the system still keeps may be brought back
	Policy    Policy     // what may be done with the thing
	Claim     Claim      // by the settings of base
	Place     plan.Place // of the entry in the data
	// Mistake says why the entry cannot be used. Its thing is left as it is.
	Mistake Mistake
	// HowToAdopt says what to do if its thing is there and belongs to nobody, for people.
	HowToAdopt string
}

// before returns the items that come before an item.
func (it *Item) before() []Key { return slices.Concat(it.Needs, it.After) }

// A Mistake is what is wrong with an entry. The zero value is no mistake.
type Mistake struct {
	Code    plan.FindingCode `json:"code,omitempty"`
	Message string           `json:"message,omitempty"`
}

// A Thing is what is there.
type Thing struct {
	Key         Key
	Body        any
	Mark        Mark
	Unmarkable  bool   // it cannot have a mark, and belongs to the owner of its parent
	Parent      Key    // "" if it has none
	Needs       []Key  // things that it uses
	Protected   bool   // the system refuses to delete it
	Protection  string // why it is protected and what to do, for people; "" is a lock of the system
	SoftDeleted bool   // it was deleted, and the system still keeps it
	Version     string // of the reading, for a conditional write
}

// protection says why a thing is protected.
func (t Thing) protection() string {
	return cmp.Or(t.Protection, "the system protects it: its lock is removed by hand")
}

// A Record is what the state knows of a thing that we made.
type Record struct {
	Applied  any    `json:"applied,omitempty"`  // what was written last
	Policy   Policy `json:"policy,omitempty"`   // of the item
	Deleting bool   `json:"deleting,omitempty"` // its entry said that it must go
	// Unmarked tells that the thing was imported and has no mark: it is ours by the state alone,
	// and gets our mark with the next change.
	Unmarked bool `json:"unmarked,omitempty"`
}

// A Policy says what may be done with a thing.
type Policy string

// The policies. Manage is the zero value. Observe never writes. Detach leaves the thing alone
// when its entry goes or says that it must go, and forgets it.
const (
	Manage  Policy = ""
	Observe Policy = "observe"
	Detach  Policy = "detach-on-delete"
)

// A Claim allows to take a thing that is not ours. It never leads to a deletion in the same
// run.
type Claim string

// The claims. Adopt takes a thing without a mark, TakeOver a thing of another living caller
// of the same integration.
const (
	NoClaim         Claim = ""
	Adopt           Claim = "adopt"
	TakeOver        Claim = "take_over"
	AdoptOrTakeOver Claim = "adopt_or_take_over"
)

// A Class says how an integration finds a thing that the data no longer name.
type Class string

// The classes. Listing: the marks of the current state tell which things are ours. Knowing:
// the state knows what we made. Blind: nobody knows.
const (
	Listing Class = "listing"
	Knowing Class = "knowing"
	Blind   Class = "blind"
)

// The codes.
const (
	CodeDuplicate plan.FindingCode = "DUPLICATE"        // one key twice in the data
	CodeCycle     plan.FindingCode = "DEPENDENCY_CYCLE" // items need each other
	// a thing must go, and another one that needs it must stay
	CodeDeleteWithChild plan.FindingCode = "DELETE_WITH_CHILD"
	CodeNotAdopted      plan.FindingCode = "NOT_ADOPTED"           // the thing has no mark and is not known to be ours
	CodeOwnedByOther    plan.FindingCode = "OWNED_BY_OTHER"        // another owner has the thing
	CodeOrphan          plan.FindingCode = "ORPHAN"                // nobody names the thing any more, and it stays
	CodeProtected       plan.FindingCode = "PROTECTED"             // the thing must not be deleted
	CodePolicy          plan.FindingCode = "POLICY"                // the policy of the item does not allow it
	CodeSoftDeleted     plan.FindingCode = "SOFT_DELETED"          // the system keeps a deleted thing of this key
	CodeIncomplete      plan.FindingCode = "INCOMPLETE"            // not all was read
	CodeEmpty           plan.FindingCode = "EMPTY_DESIRED"         // nothing is desired
	CodeTooMany         plan.FindingCode = "TOO_MANY_DELETES"      // more deletions than the limits allow
	CodeDelete          plan.FindingCode = "DELETE"                // deletions are off, and this one is not approved
	CodeCompare         plan.FindingCode = "COMPARE"               // item and thing cannot be compared
	CodeType            plan.FindingCode = "VAL_TYPE"              // a value of the data has another type
	CodeKept            plan.FindingCode = "KEPT"                  // whoever read the thing says that it stays as it is
	CodeApproval        plan.FindingCode = "APPROVAL_WITHOUT_DATE" // an approval says no date until which it holds
)

// A Finding is a finding about things, or about a whole run.
type Finding struct {
	plan.Finding
	Keys []Key `json:"keys,omitempty"` // that it is about
	// OfThing tells that the finding depends on nothing but the entry and its thing, so that it
	// is there without a change that does not touch the entry.
	OfThing bool `json:"-"`
}

// ReadDelete reads the value of "delete" of an entry, as JSON. No value and null are false.
// Anything but a bool is an error, see [CodeType]: "true" is a mistake, not a wish.
func ReadDelete(raw json.RawMessage) (bool, error) {
	switch text := string(bytes.TrimSpace(raw)); text {
	case "true":
		return true, nil
	case "", "false", "null":
		return false, nil
	default:
		return false, Config(fmt.Errorf("%s: delete is %.40s; it must be true or false", CodeType, text))
	}
}
