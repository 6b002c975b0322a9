package rest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"strings"

	"github.com/app-sre/prcheck/internal/jsonpointer"
	"github.com/app-sre/prcheck/internal/lazyregexp"
	"github.com/app-sre/prcheck/natives/generic/body"
)

// apply changes a resource by server-side apply. Fields that others own are taken only if all
// of them are ours by the state; else they are left out and told. What an apply cannot take
// away, because somebody else owns it as well, goes by a merge patch afterwards.
func (w *write) apply(ctx context.Context, change *Change) error {
	desired, force := body.WithoutNulls(change.Desired), false
	for range 1 + conflicts {
		r := w.request(http.MethodPatch, w.t.Address.URI(), mediaApply)
		r.uri = withParameter(w.managed(r.uri), "force", fmt.Sprint(force))
		err := w.exchange(ctx, r, desired)
		var e *Error
		if err == nil {
			return w.takeAway(ctx)
		}
		if !errors.As(err, &e) || len(e.conflicts) == 0 || force {
			return err
		}
		theirs := w.theirs(e.conflicts, change.Applied)
		if force = len(theirs) == 0; !force {
			desired = w.leaveOut(desired, theirs)
		}
	}
	return &Error{Class: Reread, Message: "other managers take fields again and again"}
}

// A conflict is a field that another manager owns.
type conflict struct{ manager, field string }

// manager finds the name of a manager in the message of a conflict.
var manager = lazyregexp.New(`^conflict with "([^"]*)"`)

// conflicts returns the conflicts of an apply.
func (f failure) conflicts() []conflict {
	var out []conflict
	for _, c := range f.Causes {
		if m := manager.FindStringSubmatch(c.Message); c.Reason == "FieldManagerConflict" && m != nil {
			out = append(out, conflict{m[1], c.Field})
		}
	}
	return out
}

// theirs returns the fields in conflict that are not ours. Ours are those that we set before, by
// another kind of request, and those that the body has that was applied last.
func (w *write) theirs(all []conflict, applied any) []conflict {
	var out []conflict
	for _, c := range all {
		path, ok := fieldSteps(c.field)
		if _, isThere := cut(applied, path); !ok || c.manager != w.Family.FieldManager && !isThere {
			out = append(out, c)
		}
	}
	return out
}

// leaveOut takes the fields in conflict out of a body, and notes them.
func (w *write) leaveOut(desired any, all []conflict) any {
	for _, c := range all {
		path, ok := fieldSteps(c.field)
		if !ok {
			continue
		}
		if out, isThere := cut(desired, path); isThere {
			desired = out
			w.note(Note{Code: "KEPT_CONTESTED", Path: pointerOf(path),
				Text: fmt.Sprintf("it belongs to the manager %q, and is left as it is", w.text(c.manager))})
		}
	}
	return desired
}

// A step is one part of the path of a field: a name, an item by its keys, or an item by its
// value.
type step struct {
	name  string
	keys  map[string]any
	value any
}

// fieldSteps reads the path of a field as server-side apply writes it, such as
// .spec.containers[name="app"].image or .metadata.finalizers[="x"].
func fieldSteps(field string) ([]step, bool) {
	const most = 100
	var out []step
	for field != "" && len(out) < most {
		switch field[0] {
		case '.':
			end := strings.IndexAny(field[1:], ".[")
			if end < 0 {
				end = len(field) - 1
			}
			out, field = append(out, step{name: field[1 : 1+end]}), field[1+end:]
		case '[':
			s, size, ok := bracketStep(field)
			if !ok {
				return nil, false
			}
			out, field = append(out, s), field[size:]
		default:
			return nil, false
		}
	}
	return out, field == "" && len(out) > 0
}

// bracketStep reads [k="v",n=1] or [="v"]. Values are JSON.
func bracketStep(field string) (s step, size int, ok bool) {
	s.keys = map[string]any{}
	rest := field[1:]
	for {
		name, after, found := strings.Cut(rest, "=")
		if !found {
			return s, 0, false
		}
		d := json.NewDecoder(strings.NewReader(after))
		d.UseNumber()
		var v any
		if d.Decode(&v) != nil {
			return s, 0, false
		}
		rest = after[d.InputOffset():]
		if s.keys[name] = v; name == "" {
			s.value = v
		}
		switch {
		case strings.HasPrefix(rest, "]"):
			if s.value != nil {
				s.keys = nil
			}
			return s, len(field) - len(rest) + 1, true
		case !strings.HasPrefix(rest, ","):
			return s, 0, false
		}
		rest = rest[1:]
	}
}

// cut returns a value without the member at a path, and whether it was there.
func cut(v any, path []step) (any, bool) {
	if len(path) == 0 {
		return v, false
	}
	switch of := v.(type) {
	case map[string]any:
		name, size := memberOf(of, path)
		if size == 0 {
			return v, false
		}
		out := maps.Clone(of)
		if len(path) == size {
			delete(out, name)
			return out, true
		}
		var ok bool
		out[name], ok = cut(of[name], path[size:])
		return out, ok
	case []any:
		for i, item := range of {
			if !path[0].matches(item) {
				continue
			}
			out := append([]any(nil), of...)
			if len(path) == 1 {
				return append(out[:i], out[i+1:]...), true
			}
			inner, ok := cut(item, path[1:])
			out[i] = inner
			return out, ok
		}
	}
	return v, false
}

// memberOf returns the member of an object that a path begins with, and how many steps its
// name is: a name with dots was read as several. It is 0 if there is no such member.
func memberOf(object map[string]any, path []step) (name string, size int) {
	for i, s := range path {
		if s.name == "" {
			break
		}
		if i > 0 {
			name += "."
		}
		name += s.name
		if _, isThere := object[name]; isThere {
			return name, i + 1
		}
	}
	return "", 0
}

// matches reports whether a step names an item of a list.
func (s step) matches(item any) bool {
	if s.keys == nil {
		return s.value != nil && body.Canonical(s.value) == body.Canonical(item)
	}
	object, ok := item.(map[string]any)
	for name, v := range s.keys {
		if have, isThere := object[name]; isThere && body.Canonical(have) != body.Canonical(v) {
			return false
		}
	}
	return ok && len(s.keys) > 0
}

// pointerOf writes steps as a JSON pointer, with items by their keys or value.
func pointerOf(path []step) string {
	out := ""
	for _, s := range path {
		switch {
		case s.name != "":
			out = jsonpointer.Append(out, s.name)
		case s.keys == nil:
			out = jsonpointer.Append(out, body.Text(s.value))
		default:
			var keys []string
			for _, name := range sortedNames(s.keys) {
				value, isText := s.keys[name].(string)
				if !isText {
					value = body.Canonical(s.keys[name])
				}
				keys = append(keys, name+"="+value)
			}
			out = jsonpointer.Append(out, strings.Join(keys, ","))
		}
	}
	return out
}

// takeAway removes by a merge patch what an apply left although it is to go.
func (w *write) takeAway(ctx context.Context) error {
	change, err := w.p.Plan(ctx, w.live)
	if w.trim(change); err != nil || change == nil {
		return err
	}
	merge := map[string]any{}
	for _, pointer := range change.Removed {
		remove(merge, w.live.Body, change.Put, jsonpointer.Split(pointer))
	}
	if len(merge) == 0 {
		return nil
	}
	return w.patch(ctx, merge, mediaMerge)
}

// remove adds to a merge patch that the member at a path goes. A list changes as a whole: it
// becomes what the whole desired body has.
func remove(merge map[string]any, live, put any, path []string) {
	object, ok := live.(map[string]any)
	if !ok || len(path) == 0 {
		return
	}
	inner, isThere := object[path[0]]
	if !isThere {
		return
	}
	members, _ := put.(map[string]any)
	if _, isObject := inner.(map[string]any); !isObject || len(path) == 1 {
		merge[path[0]] = members[path[0]]
		return
	}
	below, ok := merge[path[0]].(map[string]any)
	if !ok {
		below = map[string]any{}
	}
	if remove(below, inner, members[path[0]], path[1:]); len(below) > 0 {
		merge[path[0]] = below
	}
}
