package plain

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"

	"github.com/app-sre/prcheck/internal/jsonpointer"
	"github.com/app-sre/prcheck/natives/generic/body"
)

func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }

// Unwrap returns the resource in an answer.
func (h *Habits) Unwrap(answer any) any {
	object, isObject := answer.(map[string]any)
	if inner, has := object[h.Answer].(map[string]any); isObject && has && h.Answer != "" {
		return inner
	}
	return answer
}

// wrap puts a body into an envelope, if there is one.
func wrap(content any, envelope string) any {
	if envelope == "" {
		return content
	}
	return map[string]any{envelope: content}
}

// Creation returns the body of the request that creates a resource, without what is cleared.
func (h *Habits) Creation(desired any) any { return wrap(body.WithoutNulls(desired), h.Create) }

// Alike returns a resource in which an object that requests take as one value is what the data say of it: its id or its
// name. Another one is its name, or else its id.
func (h *Habits) Alike(live, desired any) any {
	object, isObject := live.(map[string]any)
	if !isObject {
		return live
	}
	want, _ := desired.(map[string]any)
	out := maps.Clone(object)
	for _, name := range h.Scalars {
		inner, has := object[name].(map[string]any)
		if !has {
			continue
		}
		out[name] = nameOf(inner, want[name])
	}
	return out
}

// nameOf returns what names an object: what the data say, if that is one of its names.
func nameOf(object map[string]any, want any) any {
	members := []string{"name", "slug", "id"}
	for _, member := range members {
		if v, has := object[member]; has && want != nil && textOf(v) == textOf(want) {
			return want
		}
	}
	for _, member := range members {
		if v, has := object[member]; has && v != nil {
			return v
		}
	}
	return object
}

// textOf returns a scalar as text.
func textOf(v any) string {
	if text, isText := v.(string); isText {
		return text
	}
	return body.Canonical(v)
}

// A Request is one that changes a resource.
type Request struct {
	Verb   string // PATCH, PUT or POST
	Path   string // of an action, with parameters; "" is the resource
	Body   any
	IsForm bool
	Action *Action // nil is an update
}

// Requests returns the requests that change a resource: one for each action, then the update. paths are the pointers of
// what changes, and whole is the body that leads there. A property that nothing changes is an error.
func (h *Habits) Requests(paths []string, whole any) ([]Request, error) {
	var out []Request
	object, _ := whole.(map[string]any)
	members := map[string]bool{} // at the top, that the update changes
	done := map[*Action]bool{}
	for _, path := range paths {
		if i := h.actionOf(path); i != nil {
			if done[i] {
				continue
			}
			done[i] = true
			value, _ := body.Get(whole, i.Property)
			content := map[string]any{i.As: value}
			maps.Copy(content, i.With)
			out = append(out, Request{Verb: "POST", Path: i.Shape.Path, Body: content, IsForm: i.Shape.IsForm, Action: i})
			continue
		}
		parts := jsonpointer.Split(path)
		if len(parts) == 0 {
			continue
		}
		members[parts[0]] = true
	}
	if len(members) == 0 {
		return out, nil
	}
	content := map[string]any{}
	for _, name := range sortedKeys(members) {
		if h.Update == "" || h.Changes != nil && !slices.Contains(h.Changes, name) {
			return nil, fmt.Errorf("nothing changes %q: the specification has neither an update that takes it, nor does the "+
				"description name an action", name)
		}
		content[name] = object[name]
	}
	if h.Update == "PUT" && !h.PutsPart {
		for name, v := range object {
			if h.Changes == nil || slices.Contains(h.Changes, name) {
				content[name] = v
			}
		}
		content, _ = body.WithoutNulls(content).(map[string]any)
	}
	return append(out, Request{Verb: h.Update, Body: wrap(content, h.Change), IsForm: h.ChangesForm}), nil
}

// actionOf returns the action that changes a property, nil if none does.
func (h *Habits) actionOf(path string) *Action {
	for i := range h.Actions {
		if at := h.Actions[i].Property; path == at || len(path) > len(at) && path[:len(at)+1] == at+"/" {
			return &h.Actions[i]
		}
	}
	return nil
}

// Form returns a body as a form: members of objects and items of lists stand in brackets. What is cleared is empty.
func Form(content any) []byte {
	out := url.Values{}
	addForm(out, "", content)
	return []byte(out.Encode())
}

func addForm(out url.Values, name string, v any) {
	inside := func(key string) string {
		if name == "" {
			return key
		}
		return name + "[" + key + "]"
	}
	switch v := v.(type) {
	case map[string]any:
		for key, item := range v {
			addForm(out, inside(key), item)
		}
		if len(v) == 0 && name != "" {
			out.Set(name, "")
		}
	case []any:
		for i, item := range v {
			addForm(out, inside(fmt.Sprint(i)), item)
		}
		if len(v) == 0 {
			out.Set(name, "")
		}
	case nil:
		out.Set(name, "")
	case string:
		out.Set(name, v)
	case json.Number:
		out.Set(name, v.String())
	default:
		out.Set(name, fmt.Sprint(v))
	}
}

// Identity returns the part of a path that stands for a resource in an answer, "" if it has no id.
func (h *Habits) Identity(live any) string {
	v, _ := body.Get(live, jsonpointer.Append("", h.ID))
	switch v := v.(type) {
	case string:
		return v
	case json.Number:
		return v.String()
	}
	return ""
}
