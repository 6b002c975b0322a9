package plan

import "slices"

// Effects are all that a dry run says the integration would do. A result without Effects
// (nil) is one for which nobody looked: the settings have no rule for its integration.
type Effects struct {
	// Unknown says in one line why the effects cannot be told, for instance because the
	// task failed. It is "" if they are known; if it is not, Items is empty.
	Unknown string `json:"unknown,omitempty"`
	// Items are the effects, deletions first, see [SortEffects]. If there are too many to keep,
	// deletions are kept before all others.
	Items []Effect `json:"items"`
	// Beyond counts the effects that are not in Items because there are too many, by kind.
	Beyond map[EffectKind]int `json:"beyond,omitempty"`
	// Cut tells what was left out of items because all of them together were too large.
	Cut *EffectsCut `json:"cut,omitempty"`
	// Comparison says how the effects were compared with those on base. Documents of an older prcheck do
	// not have it, see [Effects.HowCompared].
	Comparison Comparison `json:"comparison,omitzero"`
	// Compared tells in short that the items say whether base announces them as well.
	Compared bool `json:"compared,omitempty"`
	// Uncompared says in one line why the effects were not compared with those on base,
	// although the settings ask for it. It is "" if they were compared or nobody asked.
	Uncompared string `json:"uncompared,omitempty"`
	// Unlooked are the parts at which nobody looked, as far as a native integration tells.
	Unlooked []Unlooked `json:"unlooked,omitempty"`
	// Problems are lines about output that could not be read, such as a line of JSON that
	// has no kind. They do not make the effects unknown.
	Problems []string `json:"problems,omitempty"`
}

// EffectsCut counts what was left out of effects.
type EffectsCut struct {
	Texts   int `json:"texts,omitempty"`   // lines of programs
	Changes int `json:"changes,omitempty"` // changed fields
}

// An Effect is a change of the world that a dry run announces.
type Effect struct {
	Kind    EffectKind `json:"kind"`
	Subject string     `json:"subject"`          // what would be created, changed or deleted; one line, masked
	Digest  string     `json:"digest,omitempty"` // of the whole subject, if the subject was cut
	Type    string     `json:"type,omitempty"`   // of the thing
	Name    string     `json:"name,omitempty"`   // of the thing, short, for people
	Target  string     `json:"target,omitempty"` // the server that is written to
	Part    string     `json:"part,omitempty"`   // of the task, such as the shard, if it has several
	// Action is the word of the integration where the kind hides something, such as replace or adopt.
	Action string `json:"action,omitempty"`
	// Cause are the changed places of the data that lead to it, at most [MaxCauses]. CauseUnknown says
	// why there are none although the change leads to it.
	Cause        []Cause `json:"cause,omitempty"`
	CauseBeyond  int     `json:"cause_beyond,omitempty"`
	CauseUnknown string  `json:"cause_unknown,omitempty"`
	// Changes are the fields of the thing that change, at most [MaxFieldChanges], by path.
	Changes       []FieldChange `json:"changes,omitempty"`
	ChangesBeyond int           `json:"changes_beyond,omitempty"`
	Since         Since         `json:"since,omitempty"` // "" if the effect was not compared with those on base
	Times         int           `json:"times,omitempty"` // how often it is announced, if more than once
	Known         Known         `json:"known,omitzero"`  // the zero value: a program said it
	Text          string        `json:"text,omitempty"`  // what the program printed, if that is more than the subject
}

// The bounds of one effect.
const (
	MaxCauses       = 5
	MaxFieldChanges = 50
	MaxFieldValue   = 256  // bytes of JSON
	MaxEffectText   = 1000 // characters
)

// A Cause is a place of the data that the change altered.
type Cause struct {
	Place
	What CauseKind `json:"what,omitempty"` // "" if it is not known
}

// A CauseKind says what a change did to a place.
type CauseKind string

// What a change does to a place.
const (
	CauseAdded   CauseKind = "added"
	CauseChanged CauseKind = "changed"
	CauseRemoved CauseKind = "removed"
)

// Known says how an effect is known.
type Known struct {
	How How    `json:"how,omitempty"`
	Why string `json:"why,omitempty"` // nobody asked the target, or of when it is, in one line
}

// How is a way in which an effect is known.
type How string

// The ways. Live: the target was asked in this run. Data: base and head alone say it. Said: a program
// printed it. Remembered: an earlier run found it for the same inputs.
const (
	KnownLive       How = "live"
	KnownData       How = "data"
	KnownSaid       How = "said"
	KnownRemembered How = "remembered"
)

// IsSaid reports whether a program said it; a document of an older prcheck says so by saying nothing.
func (k Known) IsSaid() bool { return k.How == "" || k.How == KnownSaid }

// Unlooked is something at which nobody looked, so that what would be done there is not known.
type Unlooked struct {
	Part    string       `json:"part,omitempty"` // such as the shard; "" is the whole task
	What    UnlookedKind `json:"what"`
	Entries int          `json:"entries,omitempty"` // number of things
	Why     string       `json:"why"`               // in one line
	Code    string       `json:"code,omitempty"`    // of the finding that tells it as well
}

// An UnlookedKind says what is not known.
type UnlookedKind string

// What is not known. All: anything may be done. Drift: the data of both sides were compared, and not what
// is there. Removed: the fate of things that no entry names any more.
const (
	UnlookedAll     UnlookedKind = "all"
	UnlookedDrift   UnlookedKind = "drift"
	UnlookedRemoved UnlookedKind = "removed"
)

// MayHave reports whether the change may have an effect of a kind where nobody looked. Drift is there
// without the change.
func (u Unlooked) MayHave(kind EffectKind) bool {
	switch u.What {
	case UnlookedDrift:
		return false
	case UnlookedRemoved:
		return kind == EffectDelete
	case UnlookedAll:
	}
	return true // also what a later prcheck says
}

// An EffectKind is the kind of an effect.
type EffectKind string

// The kinds of effects. Other is an effect that is neither of the first three, such as a
// mail that would be sent.
const (
	EffectCreate EffectKind = "create"
	EffectChange EffectKind = "change"
	EffectDelete EffectKind = "delete"
	EffectOther  EffectKind = "other"
)

// EffectKinds returns all kinds in the order in which people are shown them.
func EffectKinds() []EffectKind {
	return []EffectKind{EffectDelete, EffectCreate, EffectChange, EffectOther}
}

// IsValid reports whether the kind is one of [EffectKinds].
func (k EffectKind) IsValid() bool { return slices.Contains(EffectKinds(), k) }

// Since says on which sides an effect is announced.
type Since string

// The sides on which an effect is announced.
const (
	SinceChange Since = "new"     // on head alone: the change causes it
	SinceBase   Since = "pending" // on base as well: it is drift, and would be done without the change
	SinceGone   Since = "gone"    // on base alone: the change takes it back
)

// A Comparison says how effects were compared with those on base.
type Comparison struct {
	How ComparisonHow `json:"how,omitempty"`
	Why string        `json:"why,omitempty"` // they were not, in one line
}

// A ComparisonHow is a way to compare effects.
type ComparisonHow string

// The ways. Run: the task ran on base, too. Data: base's data are one side of the computation. Remembered: what
// the task announces on base was known. None: nobody compared them.
const (
	ComparedByRun     ComparisonHow = "run"
	ComparedByData    ComparisonHow = "data"
	ComparedWithState ComparisonHow = "remembered"
	ComparedWithNone  ComparisonHow = "none"
)

// HowCompared returns how the effects were compared with those on base, also of a document of an older prcheck.
func (e *Effects) HowCompared() Comparison {
	switch {
	case e.Comparison != Comparison{}:
		return e.Comparison
	case e.Compared:
		return Comparison{How: ComparedByRun}
	case e.Uncompared != "":
		return Comparison{How: ComparedWithNone, Why: e.Uncompared}
	}
	return Comparison{How: ComparedWithNone, Why: "the results do not say it"}
}

// Count returns how many effects of a kind there are that would be done on head, those
// beyond the items included.
func (e *Effects) Count(kind EffectKind) int {
	n := e.Beyond[kind]
	for _, item := range e.Items {
		if item.Kind == kind && item.Since != SinceGone {
			n += max(1, item.Times)
		}
	}
	return n
}

// IsWhole reports whether all effects are known and are items, each of a known kind and
// with a subject, so that they can be remembered for another run.
func (e *Effects) IsWhole() bool {
	isWrong := func(i Effect) bool { return !i.Kind.IsValid() || i.Subject == "" || i.Times < 0 }
	return e != nil && e.Unknown == "" && len(e.Beyond)+len(e.Unlooked) == 0 && !slices.ContainsFunc(e.Items, isWrong)
}
