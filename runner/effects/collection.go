package effects

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/app-sre/prcheck/internal/lazyregexp"
	"github.com/app-sre/prcheck/internal/sanitize"
	"github.com/app-sre/prcheck/plan"
)

// The bounds of the effects of a task.
const (
	maxItems    = 2000 // different effects
	maxSubject  = 200  // characters
	maxProblems = 20
	maxUnlooked = 100     // parts
	maxAll      = 1 << 20 // bytes of JSON of all effects
	keptChanges = 5       // of each effect, if all of them are too large
)

// A collection gathers effects and problems within bounds.
type collection struct {
	mask     func(string) string
	items    []plan.Effect
	deleted  int            // items that are deletions
	index    map[string]int // of an item, by what makes it the same effect
	beyond   map[plan.EffectKind]int
	problems []string
	dropped  int // problems that are not kept
	unlooked []plan.Unlooked
	// unread is the digest of what was left out at the end of the line that is read, "" if nothing was.
	unread string
	line   string // that is read
}

func newCollection(mask func(string) string) *collection {
	return &collection{mask: mask, index: map[string]int{}}
}

// add adds an effect that a program announces a number of times.
func (c *collection) add(kind plan.EffectKind, subject string, times int) {
	c.announce(plan.Effect{Kind: kind, Subject: subject, Times: times})
}

// announce adds an effect. Of two that are the same the first one says how it is known. What a program says of
// the fields of one thing in several lines is one effect.
func (c *collection) announce(e plan.Effect) {
	times := max(1, e.Times)
	item := c.cleaned(e)
	name := nameOf(item)
	if i, ok := c.index[name]; ok {
		c.items[i] = repeated(c.items[i], item, times)
		return
	}
	if len(c.items) >= maxItems && (item.Kind != plan.EffectDelete || !c.evict()) {
		c.count(item.Kind, times)
		return
	}
	if item.Kind == plan.EffectDelete {
		c.deleted++
	}
	c.index[name] = len(c.items)
	if item.Times = 0; times > 1 {
		item.Times = times
	}
	c.items = append(c.items, item)
}

// repeated returns an effect that is announced again. If a program says more of its fields, it is not done more often.
func repeated(was, again plan.Effect, times int) plan.Effect {
	before := len(was.Changes) + was.ChangesBeyond
	if was.Known.IsSaid() {
		was.Changes, was.ChangesBeyond = joined(was.Changes, again.Changes, was.ChangesBeyond)
	}
	if len(was.Changes)+was.ChangesBeyond == before {
		was.Times = max(1, was.Times) + times
	}
	return was
}

// nameOf returns what makes two announced effects the same effect. What is pending or gone is told apart from
// what the change causes.
func nameOf(e plan.Effect) string {
	name := e.Identity()
	if e.Since == plan.SinceBase || e.Since == plan.SinceGone {
		name += "\x00" + string(e.Since)
	}
	return name
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
		out.Items[i] = c.finished(out.Items[i])
	}
	plan.SortEffects(out.Items)
	fit(out)
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
	return c.shortenTo(maxSubject, text)
}

// shortenTo is shorten for another number of characters.
func (c *collection) shortenTo(most int, text string) (short, digest string) {
	unread := c.unread
	if len(text) > maxLine {
		unread += fmt.Sprintf(" %x", sha256.Sum256([]byte(text[maxLine:])))
		text = text[:maxLine]
	}
	text = c.mask(sanitize.Line(text))
	short = text
	n, last := 0, 0
	for i := range text {
		if n++; n > most {
			short = strings.TrimRight(text[:last], " ") + "…"
			break
		}
		if n == most {
			last = i
		}
	}
	if short == text && unread == "" {
		return short, ""
	}
	return short, fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(text+unread)))
}

// A kubectl finds effects in the output of kubectl with --dry-run, and of kubectl diff.
type kubectl struct {
	object string // whose difference is read; "" if its kind is known
}

var (
	// kubectlLine matches what kubectl says about an object: kind/name, or kind "name".
	kubectlLine = lazyregexp.New(`^([a-z][\w.-]*(?:/| ")[^\s"/]+)"? (created|configured|serverside-applied|patched|replaced|labeled|unlabeled|annotated|scaled|deleted|pruned|force deleted)(?: from \S+ namespace)? \((?:server )?dry run\)$`)
	// kubectlUnchanged matches an object that stays as it is.
	kubectlUnchanged = lazyregexp.New(`^[a-z][\w.-]*/\S+ unchanged(?: \((?:server )?dry run\))?$`)
	// diffHead matches the first line of the difference of an object. The files are named
	// after the object.
	diffHead = lazyregexp.New(`^diff -\S+ (?:-\S+ )*\S*/LIVE-\d+/(\S+) \S*/MERGED-\d+/(\S+)$`)
	// diffHunk matches the place of a difference.
	diffHunk = lazyregexp.New(`^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@`)
)

var kubectlKinds = map[string]plan.EffectKind{"created": plan.EffectCreate, "deleted": plan.EffectDelete,
	"force deleted": plan.EffectDelete, "pruned": plan.EffectDelete}

func (k *kubectl) read(line string, claimed bool, found *collection) bool {
	if claimed {
		return false
	}
	if m := diffHead.FindStringSubmatch(line); m != nil && m[1] == m[2] {
		k.end(found)
		k.object = m[1]
		return true
	}
	if m := diffHunk.FindStringSubmatch(line); m != nil && k.object != "" {
		k.readHunk(m, found)
		return true
	}
	if m := kubectlLine.FindStringSubmatch(line); m != nil {
		kind, ok := kubectlKinds[m[2]]
		if !ok {
			kind = plan.EffectChange
		}
		found.add(kind, strings.Replace(m[1], ` "`, "/", 1), 1)
		return true
	}
	return kubectlUnchanged.MatchString(line)
}

// readHunk tells from the first difference of an object whether the object is new or gone:
// then one of the two sides is empty.
func (k *kubectl) readHunk(m []string, found *collection) {
	kind := plan.EffectChange
	switch {
	case m[1] == "0" && m[2] == "0":
		kind = plan.EffectCreate
	case m[3] == "0" && m[4] == "0":
		kind = plan.EffectDelete
	}
	found.add(kind, k.object, 1)
	k.object = ""
}

// end takes an object without a readable difference as changed.
func (k *kubectl) end(found *collection) {
	if k.object != "" {
		found.add(plan.EffectChange, k.object, 1)
		k.object = ""
	}
}

// A vaultManager finds effects in the log of vault-manager, which is in logfmt:
//
//	time="…" level=info msg="[Dry Run] [Vault Policy] policy to be written='x'" instance="…"
type vaultManager struct{}

// vaultMessage matches the message of an effect: the part of Vault, the kind of thing, what
// would be done, and sometimes its name.
var vaultMessage = lazyregexp.New(`^\[Dry Run\]\s+(?:\[([^\]]+)\]\s+)?(\S.*?) to be (enabled|disabled|written|deleted|delelted|created|updated|removed)(?:='?(.*?)'?)?$`)

// vaultKinds are the kinds of what vault-manager would do. To disable an engine deletes its
// content. What is written may exist already.
var vaultKinds = map[string]plan.EffectKind{
	"enabled": plan.EffectCreate, "created": plan.EffectCreate, "written": plan.EffectChange, "updated": plan.EffectChange,
	"disabled": plan.EffectDelete, "deleted": plan.EffectDelete, "delelted": plan.EffectDelete,
	"removed": plan.EffectDelete,
}

func (vaultManager) read(line string, claimed bool, found *collection) bool {
	if claimed || !strings.Contains(line, "level=") {
		return false
	}
	fields, ok := readLogfmt(line)
	if !ok {
		return false
	}
	var level, message string
	var details []string
	for _, f := range fields {
		switch f[0] {
		case "level":
			level = f[1]
		case "msg":
			message = f[1]
		case "time":
		default:
			details = append(details, f[0]+"="+f[1])
		}
	}
	m := vaultMessage.FindStringSubmatch(message)
	if level != "info" || m == nil {
		return false
	}
	subject := strings.Join(append([]string{m[2], m[4]}, details...), " ")
	found.add(vaultKinds[m[3]], subject, 1)
	return true
}

func (vaultManager) end(*collection) {}

// logfmtField matches the next field of a line in logfmt.
var logfmtField = lazyregexp.New(`^ *([A-Za-z_][\w.-]*)=("(?:[^"\\]|\\.)*"|[^\s"]*)(?: |$)`)

// readLogfmt returns the fields of a line in logfmt, in order.
func readLogfmt(line string) (fields [][2]string, ok bool) {
	for strings.TrimSpace(line) != "" {
		m := logfmtField.FindStringSubmatch(line)
		if m == nil {
			return nil, false
		}
		v := m[2]
		if strings.HasPrefix(v, `"`) {
			plain, err := strconv.Unquote(v)
			if err != nil {
				return nil, false
			}
			v = plain
		}
		fields = append(fields, [2]string{m[1], v})
		line = line[len(m[0]):]
	}
	return fields, true
}

// Compare returns head's effects with the sides on which each is announced, see [plan.CompareEffects]. What
// the data of both sides alone say is new already.
//
// If one side is unknown, or is not complete, head's effects are returned as they are, with
// the reason.
func Compare(head, base *plan.Effects) *plan.Effects {
	switch {
	case head == nil || head.Unknown != "":
		return head
	case base == nil:
		return Uncompared(head, "nobody looked for effects on base")
	case base.Unknown != "":
		return Uncompared(head, "on base: "+base.Unknown)
	case len(head.Beyond)+len(base.Beyond) > 0:
		return Uncompared(head, "there are too many effects to compare")
	}
	out, now := *head, slices.Clone(head.Items)
	for i := range now {
		if now[i].Since == "" && now[i].Known.How == plan.KnownData {
			now[i].Since = plan.SinceChange
		}
	}
	out.Compared, out.Uncompared, out.Comparison = true, "", plan.Comparison{How: plan.ComparedByRun}
	out.Items = plan.CompareEffects(now, base.Items)
	plan.SortEffects(out.Items)
	return &out
}

// Uncompared returns a copy of effects that says why they were not compared with base.
func Uncompared(e *plan.Effects, why string) *plan.Effects {
	out := *e
	out.Uncompared, out.Comparison = why, plan.Comparison{How: plan.ComparedWithNone, Why: why}
	return &out
}
