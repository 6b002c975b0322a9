package plan

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strings"
)

// A FieldChange is one value of a thing that becomes another. A side without a value has none: null is a value.
type FieldChange struct {
	Path   string          `json:"path"` // JSON pointer in the thing
	Old    json.RawMessage `json:"old,omitempty"`
	New    json.RawMessage `json:"new,omitempty"`
	Reason string          `json:"reason,omitempty"` // in a word of the integration
	// Secret says that the value is a secret or holds one. Then there is neither Old nor New.
	Secret bool `json:"secret,omitempty"`
	// Cut has the sizes of values of which Old and New have only the beginning, as texts.
	Cut *ValueCut `json:"cut,omitempty"`
}

// A ValueCut has the sizes in bytes of values that are cut.
type ValueCut struct {
	Old int `json:"old,omitempty"`
	New int `json:"new,omitempty"`
}

// becomes reports whether both changes lead to the same value at the same place.
func (c FieldChange) becomes(other FieldChange) bool {
	return c.Path == other.Path && c.Secret == other.Secret && bytes.Equal(c.New, other.New)
}

// A thing is what an effect is about, with its kind: effects of one thing may differ in what they change.
type thing struct {
	kind            EffectKind
	action, target  string
	subject, digest string
}

// thing returns what the effect is about. What a program says is told apart by kind and subject alone.
func (e Effect) thing() thing {
	if e.Known.IsSaid() {
		return thing{kind: e.Kind, subject: e.Subject, digest: e.Digest}
	}
	return thing{e.Kind, e.Action, e.Target, e.Subject, e.Digest}
}

// Identity returns a text that is the same for the same effect, whatever it is caused by and however it is known.
// What a creation gives a thing does not count: it is not there on either side.
func (e Effect) Identity() string {
	t := e.thing()
	words := []string{string(t.kind), t.action, t.target, t.subject, t.digest}
	if !e.Known.IsSaid() && e.Kind != EffectCreate {
		var changes []string
		for _, c := range e.Changes {
			changes = append(changes, c.Path+"\x01"+string(c.New))
		}
		slices.Sort(changes)
		words = append(words, changes...)
	}
	return strings.Join(words, "\x00")
}

// CompareEffects returns the effects of head with the sides on which each is announced. Effects count as often as
// they are announced: what head announces twice and base once is pending once and new once. An effect of a thing
// that base changes otherwise is new for the changes that base does not have, and pending for the others. Effects that
// base alone announces come last. An effect of head that says already since when it is stays as it is.
func CompareEffects(head, base []Effect) []Effect {
	c := effectComparison{onBase: map[string]int{}, out: []Effect{}}
	for _, item := range base {
		c.onBase[item.Identity()] += max(1, item.Times)
	}
	fresh := c.match(head)
	gone := c.left(base)
	others := map[thing]*Effect{} // effects of base that head announces otherwise
	for _, item := range gone {
		if item.Times == 1 && item.isSplittable() {
			others[item.thing()] = item
		}
	}
	for _, item := range fresh {
		other := others[item.thing()]
		if other == nil || item.Times != 1 || !item.isSplittable() {
			c.add(item, SinceChange, item.Times)
			continue
		}
		delete(others, item.thing())
		both := item
		both.Changes, item.Changes = divide(item.Changes, other.Changes)
		if _, other.Changes = divide(other.Changes, both.Changes); len(other.Changes) == 0 {
			other.Times = 0
		}
		c.add(item, SinceChange, min(len(item.Changes), 1))
		c.add(both, SinceBase, min(len(both.Changes), 1))
	}
	for _, item := range gone {
		c.add(*item, SinceGone, item.Times)
	}
	return c.out
}

// An effectComparison is one comparison of effects.
type effectComparison struct {
	onBase map[string]int // how often base announces effects that no effect of head was matched with
	out    []Effect
}

// add adds an effect a number of times.
func (c *effectComparison) add(item Effect, since Since, times int) {
	if times <= 0 {
		return
	}
	item.Since, item.Times = since, 0
	if times > 1 {
		item.Times = times
	}
	c.out = append(c.out, item)
}

// match adds the effects of head that base announces as well, and returns the others.
func (c *effectComparison) match(head []Effect) (fresh []Effect) {
	for _, item := range head {
		times := max(1, item.Times)
		if item.Since != "" {
			c.add(item, item.Since, times)
			continue
		}
		pending := min(times, c.onBase[item.Identity()])
		c.onBase[item.Identity()] -= pending
		c.add(item, SinceBase, pending)
		if item.Times = times - pending; item.Times > 0 {
			fresh = append(fresh, item)
		}
	}
	return fresh
}

// left returns the effects of base that were not matched.
func (c *effectComparison) left(base []Effect) (gone []*Effect) {
	for _, item := range base {
		item.Times = c.onBase[item.Identity()]
		if c.onBase[item.Identity()] = 0; item.Times > 0 {
			gone = append(gone, &item)
		}
	}
	return gone
}

// isSplittable reports whether some of the changes of the effect may be those of another effect of the thing.
func (e Effect) isSplittable() bool {
	return !e.Known.IsSaid() && len(e.Changes) > 0 && e.ChangesBeyond == 0
}

// divide returns the changes that others have as well, and the rest.
func divide(changes, others []FieldChange) (both, rest []FieldChange) {
	for _, c := range changes {
		if slices.ContainsFunc(others, c.becomes) {
			both = append(both, c)
		} else {
			rest = append(rest, c)
		}
	}
	return both, rest
}

// SortEffects sorts effects as people are shown them: deletions first, then what the change causes before what is
// pending or gone, then by target, type and subject.
func SortEffects(all []Effect) {
	since := []Since{SinceChange, "", SinceBase, SinceGone}
	slices.SortStableFunc(all, func(a, b Effect) int {
		return cmp.Or(
			cmp.Compare(slices.Index(EffectKinds(), a.Kind), slices.Index(EffectKinds(), b.Kind)),
			cmp.Compare(slices.Index(since, a.Since), slices.Index(since, b.Since)),
			strings.Compare(a.Target, b.Target), strings.Compare(a.Type, b.Type), strings.Compare(a.Subject, b.Subject),
		)
	})
}
