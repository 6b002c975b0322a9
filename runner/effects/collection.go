package effects

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"

	"github.com/app-sre/prcheck/internal/sanitize"
	"github.com/app-sre/prcheck/plan"
)

// The bounds of the effects of a task.
const (
	maxItems    = 2000 // different effects
	maxSubject  = 200  // characters
	maxProblems = 20
	maxUnlooked = 100 // parts
)

// A collection gathers effects and problems within bounds.
type collection struct {
	mask     func(string) string
	items    []plan.Effect
	deleted  int                 // items that are deletions
	index    map[plan.Effect]int // of an item, by its kind and subject
	beyond   map[plan.EffectKind]int
	problems []string
	dropped  int // problems that are not kept
	unlooked []plan.Unlooked
	// unread is the digest of what was left out at the end of the line that is read, "" if nothing was.
	unread string
}

func newCollection(mask func(string) string) *collection {
	return &collection{mask: mask, index: map[plan.Effect]int{}}
}

// add adds an effect that a program announces a number of times.
func (c *collection) add(kind plan.EffectKind, subject string, times int) {
	c.announce(plan.Effect{Kind: kind, Subject: subject, Times: times})
}

// announce adds an effect. Of two that are the same the first one says how it is known.
func (c *collection) announce(e plan.Effect) {
	kind, times := e.Kind, max(1, e.Times)
	name := plan.Effect{Kind: kind}
	name.Subject, name.Digest = c.shorten(e.Subject)
	if i, ok := c.index[name]; ok {
		c.items[i].Times = max(1, c.items[i].Times) + times
		return
	}
	if len(c.items) >= maxItems && (kind != plan.EffectDelete || !c.evict()) {
		c.count(kind, times)
		return
	}
	if kind == plan.EffectDelete {
		c.deleted++
	}
	c.index[name] = len(c.items)
	item := name
	if times > 1 {
		item.Times = times
	}
	item.Since, item.Known.How = e.Since, e.Known.How
	item.Known.Why, _ = c.shorten(e.Known.Why)
	c.items = append(c.items, item)
}

// unlook adds a part at which nobody looked. Beyond the bound, parts of one kind are one.
func (c *collection) unlook(u plan.Unlooked) {
	u.Part, _ = c.shorten(u.Part)
	u.Why, _ = c.shorten(u.Why)
	if len(c.unlooked) < maxUnlooked {
		c.unlooked = append(c.unlooked, u)
		return
	}
	isLike := func(o plan.Unlooked) bool { return o.What == u.What }
	if i := slices.IndexFunc(c.unlooked[maxUnlooked:], isLike); i >= 0 {
		c.unlooked[maxUnlooked+i].Entries += u.Entries
		return
	}
	c.unlooked = append(c.unlooked, plan.Unlooked{What: u.What, Entries: u.Entries,
		Why: "more parts were not looked at than are kept"})
}

// evict removes the last effect that is no deletion, and counts it. It returns false if all
// effects are deletions.
func (c *collection) evict() bool {
	for i := len(c.items) - 1; i >= 0 && c.deleted < len(c.items); i-- {
		item := c.items[i]
		if item.Kind == plan.EffectDelete {
			continue
		}
		c.count(item.Kind, max(1, item.Times))
		c.items = append(c.items[:i], c.items[i+1:]...)
		delete(c.index, nameOf(item))
		for j, moved := range c.items[i:] {
			c.index[nameOf(moved)] = i + j
		}
		return true
	}
	return false
}

// count counts effects that are not kept.
func (c *collection) count(kind plan.EffectKind, times int) {
	if c.beyond == nil {
		c.beyond = map[plan.EffectKind]int{}
	}
	c.beyond[kind] += times
}

// problem adds a problem.
func (c *collection) problem(format string, args ...any) {
	if len(c.problems) >= maxProblems {
		c.dropped++
		return
	}
	text, _ := c.shorten(fmt.Sprintf(format, args...))
	c.problems = append(c.problems, text)
}

// effects returns what was gathered.
func (c *collection) effects() *plan.Effects {
	out := &plan.Effects{Items: append([]plan.Effect{}, c.items...), Problems: c.problems}
	for i := range out.Items { // secrets may have become known since
		out.Items[i].Subject, out.Items[i].Known.Why = c.mask(out.Items[i].Subject), c.mask(out.Items[i].Known.Why)
	}
	for _, u := range c.unlooked {
		u.Part, u.Why = c.mask(u.Part), c.mask(u.Why)
		out.Unlooked = append(out.Unlooked, u)
	}
	if len(c.beyond) > 0 {
		out.Beyond = c.beyond
	}
	for i := range out.Problems {
		out.Problems[i] = c.mask(out.Problems[i])
	}
	if c.dropped > 0 {
		out.Problems = append(out.Problems[:len(out.Problems):len(out.Problems)], fmt.Sprintf("%d more problems", c.dropped))
	}
	return out
}

// shorten makes a foreign text one short line without secrets and without characters that a
// terminal acts on. The digest is that of the whole line, with what was not read of it; "" if nothing
// is left out.
func (c *collection) shorten(text string) (short, digest string) {
	unread := c.unread
	if len(text) > maxLine {
		unread += fmt.Sprintf(" %x", sha256.Sum256([]byte(text[maxLine:])))
		text = text[:maxLine]
	}
	text = c.mask(sanitize.Line(text))
	short = text
	n, last := 0, 0
	for i := range text {
		if n++; n > maxSubject {
			short = strings.TrimRight(text[:last], " ") + "…"
			break
		}
		if n == maxSubject {
			last = i
		}
	}
	if short == text && unread == "" {
		return short, ""
	}
	return short, fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(text+unread)))
}
