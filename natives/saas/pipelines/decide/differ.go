package decide

import (
	"bytes"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
)

// A difference is what a cell wants and does not have.
type difference struct {
	holds    Holding           // everything that a run would apply
	reasons  []Reason          // in the order of kinds and targets
	changed  map[string]bool   // targets with a reason
	first    Holding           // values that are seen for the first time at applied targets
	unknown  []string          // sources that do not answer
	waits    []string          // what is not there yet
	isUnseen map[string]Values // signals without a known value, by uid
	has      map[string]Values // all signals of the cell, by uid
}

// compare finds the difference between the signals of a cell and what is applied.
func compare(c Cell, m Memory) difference {
	d := difference{holds: Holding{}, changed: map[string]bool{}, first: Holding{}, isUnseen: map[string]Values{},
		has: map[string]Values{}}
	reasons := map[Kind][]Reason{}
	for _, t := range c.Targets {
		was, isKnown := m.Targets[t.UID]
		isKnown = isKnown && was.Key == t.Key && was.Values[Config] != ""
		first := Values{}
		d.has[t.UID] = Values{}
		for _, s := range t.Signals {
			d.has[t.UID][s.Kind] = s.Value
			kind, how := d.judge(t, s, m, was, isKnown)
			switch how {
			case isChanged:
				d.hold(t.UID, s)
				reasons[kind] = append(reasons[kind], Reason{kind, t.Label, s.Ref, s.Reason})
				d.changed[t.UID] = true
			case isBaseline:
				first[s.Kind] = s.value()
			}
		}
		switch {
		case len(first) == 0:
		case d.changed[t.UID]:
			for kind, value := range first {
				d.hold(t.UID, Signal{Kind: kind, Value: value})
			}
		case !was.TakenOver:
			// Nobody knows what was deployed of it.
			for _, s := range t.Signals {
				if value, ok := first[s.Kind]; ok && value != Unseen {
					d.hold(t.UID, s)
					reasons[s.Kind] = append(reasons[s.Kind], Reason{s.Kind, t.Label, s.Ref, s.Reason})
					d.changed[t.UID] = true
				}
			}
		default:
			maps.DeleteFunc(first, func(_ Kind, value string) bool { return value == Unseen })
			if len(first) > 0 {
				d.first[t.UID] = first
			}
		}
	}
	for _, kind := range Kinds() {
		d.reasons = append(d.reasons, reasons[kind]...)
	}
	return d
}

// A verdict is what the comparison says about one signal.
type verdict int

const (
	isSame     verdict = iota // or nobody knows
	isChanged                 // a run is to apply it
	isBaseline                // it was never seen before, and is no reason by itself
)

// judge compares one signal with what is applied, and returns the kind of the reason.
func (d *difference) judge(t WatchedTarget, s Signal, m Memory, was Applied, isKnown bool) (Kind, verdict) {
	if s.Unknown != "" {
		d.unknown = append(d.unknown, s.Unknown)
	}
	if s.Wait != "" {
		d.waits = append(d.waits, s.Wait)
	}
	_, isSeen := was.Values[s.Kind]
	inDoubt := m.Failed != nil && m.Failed.has(t, s.Kind)
	switch isFirst := !isKnown || !isSeen && !inDoubt; {
	case s.Kind != Config && isFirst:
		if s.Unknown != "" {
			d.unsee(t.UID, s.Kind)
		}
		return s.Kind, isBaseline
	case s.Unknown != "":
		d.unsee(t.UID, s.Kind)
		return s.Kind, isSame
	case s.Value == "":
		return s.Kind, isSame
	case !isFirst && !inDoubt && was.has(s):
		return s.Kind, isSame
	case s.Kind == Config && !isFirst && s.Auto && isPromotion(was.Config, s.Content):
		return Promotion, isChanged
	}
	return s.Kind, isChanged
}

// has reports whether the value of a signal is applied.
func (a Applied) has(s Signal) bool {
	before := a.Values[s.Kind]
	return s.Value == before || s.Kind == Config && before != Unseen && sameContent(a.Config, s.Content)
}

// value returns the value of a signal, or that nobody saw it.
func (s Signal) value() string {
	if s.Value == "" || s.Unknown != "" {
		return Unseen
	}
	return s.Value
}

func (d *difference) hold(uid string, s Signal) {
	if d.holds[uid] == nil {
		d.holds[uid] = Values{}
	}
	d.holds[uid][s.Kind] = s.Value
}

func (d *difference) unsee(uid string, k Kind) {
	if d.isUnseen[uid] == nil {
		d.isUnseen[uid] = Values{}
	}
	d.isUnseen[uid][k] = Unseen
}

// has reports whether a failed run held a value of a target.
func (f *Failure) has(t WatchedTarget, k Kind) bool {
	_, ok := f.Holds[t.UID][k]
	return ok && f.Keys[t.UID] == t.Key
}

// isAs reports whether a difference is what another holding has. Signals that nobody knows now
// count as the same, so that a source that comes and goes starts nothing.
func (d difference) isAs(other Holding) bool {
	uids := maps.Clone(d.holds)
	maps.Copy(uids, other)
	for uid := range uids {
		for _, kind := range Kinds() {
			now, isNow := d.holds[uid][kind]
			then, isThen := other[uid][kind]
			_, isUnseen := d.isUnseen[uid][kind]
			of, isThere := d.has[uid]
			if _, has := of[kind]; isThere && !has {
				continue // the target has no such signal any more, which its data say as well
			}
			if isUnseen || isNow && now == Unseen && isThen {
				continue
			}
			if isNow != isThen || now != then {
				return false
			}
		}
	}
	return true
}

// sameContent reports whether two contents are the same but for members that are null. The
// answers of a newer schema have more of those.
func sameContent(a, b json.RawMessage) bool {
	if bytes.Equal(a, b) {
		return len(a) > 0
	}
	before, ok := decode(a)
	after, isAlso := decode(b)
	return ok && isAlso && reflect.DeepEqual(withoutNulls(before), withoutNulls(after))
}

// promoted are the members of a content that promotions set.
var promoted = []string{"ref", "promotion"}

// isPromotion reports whether two contents differ in nothing but what promotions set.
func isPromotion(before, after json.RawMessage) bool {
	a, ok := decode(before)
	b, isAlso := decode(after)
	if !ok || !isAlso {
		return false
	}
	x, isObject := withoutNulls(a).(map[string]any)
	y, areObjects := withoutNulls(b).(map[string]any)
	if !isObject || !areObjects || reflect.DeepEqual(x, y) {
		return false
	}
	maps.DeleteFunc(x, func(key string, _ any) bool { return slices.Contains(promoted, key) })
	maps.DeleteFunc(y, func(key string, _ any) bool { return slices.Contains(promoted, key) })
	return reflect.DeepEqual(x, y)
}

// decode reads a content. Numbers keep their text.
func decode(raw json.RawMessage) (any, bool) {
	var v any
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	err := d.Decode(&v)
	return v, err == nil
}

// withoutNulls returns a value without the members of objects that are null. Nulls in lists stay.
func withoutNulls(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for key, member := range v {
			if member != nil {
				out[key] = withoutNulls(member)
			}
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = withoutNulls(item)
		}
		return out
	}
	return v
}
