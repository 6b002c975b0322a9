package effects

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/app-sre/prcheck/plan"
)

// cleaned returns an effect whose texts are short, harmless and masked. Its values stay whole until the end: the
// beginning of one that is cut could be that of a secret which becomes known later.
func (c *collection) cleaned(e plan.Effect) plan.Effect {
	if e.Known.IsSaid() && e.Text == "" {
		e.Text = messageOf(c.line)
	}
	e.Subject, e.Digest = c.shorten(e.Subject)
	for _, text := range []*string{&e.Type, &e.Name, &e.Target, &e.Part, &e.Action, &e.Known.Why, &e.CauseUnknown} {
		*text, _ = c.shorten(*text)
	}
	if e.Text, _ = c.shortenTo(plan.MaxEffectText, e.Text); e.Text == e.Subject {
		e.Text = ""
	}
	e.Changes, e.ChangesBeyond = joined(nil, e.Changes, e.ChangesBeyond)
	for i := range e.Changes {
		change := &e.Changes[i]
		change.Path, _ = c.shortenTo(plan.MaxFindingPlace, change.Path)
		change.Reason, _ = c.shorten(change.Reason)
		change.Cut = nil
		if change.Secret {
			change.Old, change.New = nil, nil
		}
	}
	var causes []plan.Cause
	for _, at := range e.Cause[:min(len(e.Cause), plan.MaxCauses)] {
		at.File, at.Pointer = c.mask(at.File), c.mask(at.Pointer)
		if at.Path, at.Line = "", 0; len(at.File) <= plan.MaxFindingPlace && len(at.Pointer) <= plan.MaxFindingPlace {
			causes = append(causes, at)
		}
	}
	e.CauseBeyond += len(e.Cause) - len(causes)
	e.Cause = causes
	return e
}

// joined returns changes of both lists, one for each path, within the bound, and how many are beyond it.
func joined(a, b []plan.FieldChange, beyond int) ([]plan.FieldChange, int) {
	all := slices.Concat(a, b)
	slices.SortStableFunc(all, func(a, b plan.FieldChange) int { return strings.Compare(a.Path, b.Path) })
	all = slices.CompactFunc(all, func(a, b plan.FieldChange) bool { return a.Path == b.Path })
	if more := len(all) - plan.MaxFieldChanges; more > 0 {
		return all[:plan.MaxFieldChanges:plan.MaxFieldChanges], beyond + more
	}
	return all, beyond
}

// finished returns an effect as it leaves: masked once more, with values that are cut.
func (c *collection) finished(e plan.Effect) plan.Effect {
	for _, text := range []*string{&e.Subject, &e.Type, &e.Name, &e.Target, &e.Part, &e.Action, &e.Known.Why,
		&e.CauseUnknown, &e.Text} {
		*text = c.mask(*text)
	}
	e.Known.How = cmp.Or(e.Known.How, plan.KnownSaid)
	e.Changes = slices.Clone(e.Changes)
	for i := range e.Changes {
		change := &e.Changes[i]
		change.Path, change.Reason = c.mask(change.Path), c.mask(change.Reason)
		var old, now int
		change.Old, old = c.value(change.Old)
		change.New, now = c.value(change.New)
		if old+now > 0 {
			change.Cut = &plan.ValueCut{Old: old, New: now}
		}
	}
	e.Cause = slices.Clone(e.Cause)
	for i := range e.Cause {
		e.Cause[i].File, e.Cause[i].Pointer = c.mask(e.Cause[i].File), c.mask(e.Cause[i].Pointer)
	}
	return e
}

// value returns a masked value. If it is too long, that is a text with its beginning, and its size is returned.
func (c *collection) value(raw json.RawMessage) (json.RawMessage, int) {
	if len(raw) == 0 {
		return nil, 0
	}
	in := json.NewDecoder(bytes.NewReader(raw))
	in.UseNumber()
	var v any
	if in.Decode(&v) != nil {
		v = string(raw)
	}
	out := encode(c.masked(v))
	if text := c.mask(string(out)); text != string(out) { // a secret that several values are
		out = encode(text)
	}
	if len(out) <= plan.MaxFieldValue {
		return out, 0
	}
	begin := out[:plan.MaxFieldValue]
	for len(begin) > 0 && !utf8.Valid(begin) {
		begin = begin[:len(begin)-1]
	}
	return encode(string(begin)), len(out)
}

// masked returns a value whose texts, names and numbers are masked.
func (c *collection) masked(v any) any {
	switch v := v.(type) {
	case string:
		return c.mask(v)
	case json.Number:
		if text := c.mask(v.String()); text != v.String() {
			return text
		}
	case []any:
		for i := range v {
			v[i] = c.masked(v[i])
		}
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, value := range v {
			out[c.mask(name)] = c.masked(value)
		}
		return out
	}
	return v
}

// encode returns a value as JSON without escapes for HTML.
func encode(v any) json.RawMessage {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return json.RawMessage(fmt.Sprintf("%q", "a value that cannot be written"))
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n"))
}

// fit leaves out texts, and then changes, until all effects together are small enough: first those beyond a few of
// each effect, and then all of those that are no deletions, from the last.
func fit(e *plan.Effects) {
	size := 0
	for _, item := range e.Items {
		size += sizeOf(item)
	}
	cut := plan.EffectsCut{}
	for i := len(e.Items) - 1; i >= 0 && size > maxAll; i-- {
		if item := &e.Items[i]; item.Text != "" {
			size -= len(item.Text)
			item.Text = ""
			cut.Texts++
		}
	}
	for _, most := range []int{keptChanges, 0} {
		for i := len(e.Items) - 1; i >= 0 && size > maxAll; i-- {
			item := &e.Items[i]
			if more := len(item.Changes) - most; more > 0 && (most > 0 || item.Kind != plan.EffectDelete) {
				size -= sizeOf(*item)
				item.Changes, item.ChangesBeyond = item.Changes[:most:most], item.ChangesBeyond+more
				cut.Changes += more
				size += sizeOf(*item)
			}
		}
	}
	if cut != (plan.EffectsCut{}) {
		e.Cut = &cut
	}
}

// sizeOf returns the size of an effect as JSON.
func sizeOf(e plan.Effect) int { return len(encode(e)) }
