package plan

import "slices"

// Effects are all that a dry run says the integration would do. A result without Effects
// (nil) is one for which nobody looked: the settings have no rule for its integration.
type Effects struct {
	// Unknown says in one line why the effects cannot be told, for instance because the
	// task failed. It is "" if they are known; if it is not, Items is empty.
	Unknown string `json:"unknown,omitempty"`
	// Items are the effects in the order of the dry run. If there are too many to keep,
	// deletions are kept before all others.
	Items []Effect `json:"items"`
	// Beyond counts the effects that are not in Items because there are too many, by kind.
	Beyond map[EffectKind]int `json:"beyond,omitempty"`
	// Compared tells that the task ran on base, too, and that the items say whether base
	// announces them as well.
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

// An Effect is a change of the world that a dry run announces.
type Effect struct {
	Kind    EffectKind `json:"kind"`
	Subject string     `json:"subject"`          // what would be created, changed or deleted; one line, masked
	Digest  string     `json:"digest,omitempty"` // of the whole subject, if the subject was cut
	Since   Since      `json:"since,omitempty"`  // "" if the effects were not compared with those on base
	Times   int        `json:"times,omitempty"`  // how often it is announced, if more than once
	Known   Known      `json:"known,omitzero"`   // the zero value: a program said it
}

// Known says how an effect is known.
type Known struct {
	How How    `json:"how,omitempty"`
	Why string `json:"why,omitempty"` // nobody asked the target, in one line
}

// How is a way in which an effect is known.
type How string

// The ways. Live: the target was asked in this run. Data: base and head alone say it.
const (
	KnownLive How = "live"
	KnownData How = "data"
)

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
