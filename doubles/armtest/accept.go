package armtest

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
)

// accept makes a body that of a resource, or answers why not. A whole body comes by PUT or POST; the
// other one is the old body with a patch in it.
func (s *Server) accept(c *call, kind string, old *object, body map[string]any, whole bool) {
	b := s.behaviours[kind]
	strip(body, b)
	cleared := nullAt(body, b.CreateOnly)
	if old != nil {
		retain(body, old.body, b, whole)
	}
	dropNulls(body)
	for path, value := range b.Defaults {
		if _, there := get(body, path); !there {
			set(body, path, copyOf(value))
		}
	}
	for path, spell := range b.Spelling {
		visit(body, path, func(object map[string]any, name string) { object[name] = spell(object[name]) })
	}
	for _, path := range b.Required {
		if _, there := get(body, path); !there {
			code := "InvalidParameter"
			if path == "location" {
				code = "LocationRequired"
			}
			c.refuse(http.StatusBadRequest, code, path, path+" is required")
			return
		}
	}
	if old == nil {
		o := &object{id: c.id(), kind: kind, body: body, visible: s.Now().Add(b.Lag), state: "Succeeded"}
		s.objects[key(o.id)] = o
		s.start(c, o, http.MethodPost, nil)
		return
	}
	for _, path := range b.CreateOnly {
		was, _ := get(old.body, path)
		is, _ := get(body, path)
		if slices.Contains(cleared, path) && was != nil || !equal(was, is, slices.Contains(b.Folded, path)) {
			c.refuse(http.StatusConflict, "PropertyChangeNotAllowed", path, "changing property '"+path+"' is not allowed")
			return
		}
	}
	before := old.body
	old.body = body
	s.start(c, old, http.MethodPut, before)
}

// retain fills a body with what a change cannot take away: what was there before if the type merges,
// and otherwise what the service guards.
func retain(body, before map[string]any, b Behaviour, whole bool) {
	if whole && b.Merges {
		keep(body, before)
	}
	guarded := slices.Concat(b.CreateOnly, b.ReadOnly)
	if !whole || !b.Forgets {
		guarded = append(guarded, b.WriteOnly...)
	}
	for _, path := range guarded {
		if v, had := get(before, path); had {
			if _, has := get(body, path); !has {
				set(body, path, copyOf(v))
			}
		}
	}
	for _, path := range b.Ignored {
		if v, had := get(before, path); had {
			set(body, path, copyOf(v))
		} else {
			unset(body, path)
		}
	}
}

// nullAt returns the paths at which a body has null.
func nullAt(body map[string]any, paths []string) (found []string) {
	for _, path := range paths {
		if v, there := get(body, path); there && v == nil {
			found = append(found, path)
		}
	}
	return found
}

// equal reports whether two values are the same, texts perhaps whatever their case.
func equal(a, b any, folded bool) bool {
	x, isText := a.(string)
	y, areTexts := b.(string)
	if folded && isText && areTexts {
		return strings.EqualFold(x, y)
	}
	return same(a, b)
}

// PlainLocation is how the service spells locations: "West US" becomes westus.
func PlainLocation(v any) any {
	text, ok := v.(string)
	if !ok {
		return v
	}
	return strings.ToLower(strings.ReplaceAll(text, " ", ""))
}

// LongDuration spells durations of whole hours in minutes: PT1H becomes PT60M.
func LongDuration(v any) any {
	text, _ := v.(string)
	d, err := time.ParseDuration(strings.ToLower(strings.TrimPrefix(text, "PT")))
	if err != nil || d%time.Hour != 0 {
		return v
	}
	return fmt.Sprintf("PT%dM", int(d.Minutes()))
}
