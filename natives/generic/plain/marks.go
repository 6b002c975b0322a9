package plain

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/app-sre/prcheck/internal/names"
	"github.com/app-sre/prcheck/natives/generic/body"
	"github.com/app-sre/prcheck/natives/reconcile"
)

// Marks is where a mark of ours stands in a resource. The zero value is nowhere: the state is the only memory.
type Marks struct {
	Member string // labels, tags or metadata
	IsList bool   // it is a list of texts, and no object
}

// label is the name of the label that is our mark.
const label = "prcheck"

// own is the integration whose name a mark leaves out.
const own = "generic"

// marks finds the first member that can hold a mark.
func (r *reader) marks() error {
	want := r.says.Marks
	if want == "state" || !r.out.GivesID && want == "" && r.t.CreatesByPost() == "" && r.t.IsSingleton {
		return nil
	}
	candidates := []string{"labels", "tags", "metadata"}
	if want != "" {
		candidates = []string{strings.TrimPrefix(want, "/")}
	}
	for _, name := range candidates {
		m, canMark, err := r.marksAt(name)
		if err != nil {
			return err
		}
		if canMark {
			r.out.Marks = m
			return nil
		}
	}
	if want != "" {
		return wrong(r.t, CodeDescription, "the description says marks: %q, and there is no such object or list of texts that "+
			"is created, changed and read", want)
	}
	return nil
}

// marksAt reports whether a member can hold a mark: it is created, changed and read, and takes any text.
func (r *reader) marksAt(name string) (Marks, bool, error) {
	for _, members := range [][]string{r.get, r.post, r.out.Changes} {
		if members != nil && !slices.Contains(members, name) {
			return Marks{}, false, nil
		}
	}
	if r.out.Update == "" {
		return Marks{}, false, nil
	}
	p, err := r.c.Explain(name)
	if err != nil || p.ReadOnly != nil || p.CreateOnly != nil || p.WriteOnly != nil {
		return Marks{}, false, nil //nolint:nilerr // a member that nobody knows holds no mark
	}
	switch p.Type {
	case "array":
		item, err := r.c.Explain(name + "[]")
		isText := err == nil && item.Type == "string"
		return Marks{Member: name, IsList: true}, isText, nil
	case "object", "":
		value, err := r.c.Explain(name + "." + label)
		isText := err != nil || value.Type == "string" || value.Type == ""
		return Marks{Member: name}, isText, nil
	}
	return Marks{}, false, nil
}

// Text returns the text that stands for a mark. The error says that no label can have it.
func Text(m reconcile.Mark) (string, error) {
	text := m.Caller
	if m.Integration != own || strings.Contains(m.Caller, ".") {
		text = m.Integration + "." + m.Caller
	}
	if names.LabelValue(text) != text {
		return "", reconcile.Config(fmt.Errorf("the mark %.100q cannot be a label: use letters, digits, dashes, underscores "+
			"and dots for the instance, at most 63 characters", text))
	}
	return text, nil
}

// markOf returns the mark that a text stands for.
func markOf(text string) reconcile.Mark {
	if integration, caller, isLong := strings.Cut(text, "."); isLong {
		return reconcile.Mark{Integration: integration, Caller: caller}
	}
	return reconcile.Mark{Integration: own, Caller: text}
}

// Of returns the mark of a resource.
func (m Marks) Of(live any) reconcile.Mark {
	if m.Member == "" {
		return reconcile.Mark{}
	}
	v, _ := body.Get(live, "/"+m.Member)
	switch v := v.(type) {
	case map[string]any:
		if text, isText := v[label].(string); isText && !m.IsList {
			return markOf(text)
		}
	case []any:
		for _, item := range v {
			if text, isText := item.(string); isText && m.IsList && strings.HasPrefix(text, label+":") {
				return markOf(text[len(label)+1:])
			}
		}
	}
	return reconcile.Mark{}
}

// Put returns a desired body with a mark. live is the resource as it is, nil if it is not there: labels that the data
// do not name stay.
func (m Marks) Put(desired, live any, mark reconcile.Mark) (any, error) {
	object, isObject := desired.(map[string]any)
	if m.Member == "" || !isObject {
		return desired, nil
	}
	text, err := Text(mark)
	if err != nil {
		return nil, err
	}
	out := maps.Clone(object)
	if !m.IsList {
		labels, _ := out[m.Member].(map[string]any)
		labels = maps.Clone(labels)
		if labels == nil {
			labels = map[string]any{}
		}
		labels[label] = text
		out[m.Member] = labels
		return out, nil
	}
	items, isNamed := out[m.Member].([]any)
	if !isNamed {
		is, _ := body.Get(live, "/"+m.Member)
		items, _ = is.([]any)
	}
	out[m.Member] = append(m.without(items), label+":"+text)
	return out, nil
}

// Strip returns a resource without the mark, where the mark is an item of a list that is compared as a whole.
func (m Marks) Strip(live any) any {
	object, isObject := live.(map[string]any)
	items, isList := object[m.Member].([]any)
	if !isObject || !m.IsList || !isList {
		return live
	}
	out := maps.Clone(object)
	out[m.Member] = m.without(items)
	return out
}

// Drop returns a resource without the mark.
func (m Marks) Drop(live any) any {
	object, isObject := live.(map[string]any)
	labels, isLabels := object[m.Member].(map[string]any)
	if !isObject || m.IsList || !isLabels {
		return m.Strip(live)
	}
	out := maps.Clone(object)
	kept := maps.Clone(labels)
	if delete(kept, label); len(kept) == 0 {
		delete(out, m.Member)
		return out
	}
	out[m.Member] = kept
	return out
}

// without returns a list of texts without our mark.
func (m Marks) without(items []any) []any {
	return slices.DeleteFunc(slices.Clone(items), func(item any) bool {
		text, _ := item.(string)
		return strings.HasPrefix(text, label+":")
	})
}
