package proof

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strconv"

	"github.com/app-sre/prcheck/settings"
)

// A writer writes plain values as texts that are the same for equal values: the order of
// keys never counts, and that of lists only if the settings say so.
type writer struct{ order settings.ListOrder }

// write returns the text of a value.
func (w writer) write(v any) string { return string(w.append(nil, v)) }

func (w writer) append(out []byte, v any) []byte {
	switch v := v.(type) {
	case nil:
		return append(out, "null"...)
	case bool:
		return strconv.AppendBool(out, v)
	case json.Number:
		return append(out, v...)
	case string:
		return strconv.AppendQuote(out, v)
	case list:
		items := make([]string, len(v))
		for i := range v {
			items[i] = w.write(v[i]) + ","
		}
		out = append(out, '[')
		for _, item := range w.sorted(items) {
			out = append(out, item...)
		}
		return append(out, ']')
	case object:
		out = append(out, '{')
		for _, k := range sortedKeys(v) {
			out = append(w.append(append(strconv.AppendQuote(out, k), ':'), v[k]), ',')
		}
		return append(out, '}')
	}
	panic("proof: not a plain value") // a programming error, never input
}

// sorted returns texts in a fixed order, unless their order counts.
func (w writer) sorted(texts []string) []string {
	if w.order == settings.OrderIgnored {
		texts = slices.Sorted(slices.Values(texts))
	}
	return texts
}

func sortedKeys[V any](m map[string]V) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

// difference returns two documents without what both have. An order of lists that counts is a
// part of each document, so nothing is taken away then.
func (w writer) difference(base, head any) (lost, added any) {
	if reflect.DeepEqual(base, head) {
		return nil, nil
	}
	was, ok := base.(object)
	is, too := head.(object)
	if !ok || !too || w.order == settings.OrderSignificant {
		return base, head
	}
	was, is = maps.Clone(was), maps.Clone(is)
	for key := range was {
		before, ok := was[key].(list)
		after, too := is[key].(list)
		if ok && too {
			was[key], is[key] = w.cancel(before, after)
		}
	}
	return was, is
}

// cancel removes from two lists the items that both have.
func (w writer) cancel(base, head list) (onlyBase, onlyHead list) {
	texts := func(items list) []string {
		out := make([]string, len(items))
		for i, v := range items {
			out[i] = w.write(v)
		}
		return out
	}
	only := func(items list, own, other []string) list {
		left := map[string]int{} // how often the other list has an item
		for _, t := range other {
			left[t]++
		}
		out := list{}
		for i, t := range own {
			if left[t]--; left[t] < 0 {
				out = append(out, items[i])
			}
		}
		return out
	}
	old, now := texts(base), texts(head)
	return only(base, old, now), only(head, now, old)
}

// isSameJSON tells whether two values are written alike.
func isSameJSON(a, b any) bool {
	one, err := json.Marshal(a)
	other, failed := json.Marshal(b)
	return err == nil && failed == nil && string(one) == string(other)
}
