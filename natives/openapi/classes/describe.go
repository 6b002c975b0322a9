package classes

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/app-sre/prcheck/natives/openapi/resources"
)

// A Habit is what an override says of how the resources of a plain type are found, created and changed. It stands at
// the path "" of the type, but for Action, As and With, which are about one property.
type Habit struct {
	ID     string   `json:"id,omitempty"`     // the member of answers with the id
	Key    []string `json:"key,omitempty"`    // the members that tell a resource from all others
	Create string   `json:"create,omitempty"` // POST and the path that creates
	Update string   `json:"update,omitempty"` // PATCH, PUT or POST
	Put    string   `json:"put,omitempty"`    // merge: PUT keeps what it does not name
	Marks  string   `json:"marks,omitempty"`  // the member for a mark of ours, or "state"
	// Next is the JSON pointer in an answer to what leads to the next page, and Parameter the one of the query that takes
	// it, "" if it is an address.
	Next      string `json:"next,omitempty"`
	Parameter string `json:"parameter,omitempty"`

	Action string         `json:"action,omitempty"` // POST and the path that changes the property
	As     string         `json:"as,omitempty"`     // the member of the request that takes its value
	With   map[string]any `json:"with,omitempty"`   // members that the request has beside it
}

// isAboutType reports whether a habit says something about the whole type.
func (h *Habit) isAboutType() bool {
	return h.ID != "" || h.Key != nil || h.Create != "" || h.Update != "" || h.Put != "" || h.Marks != "" ||
		h.Next != "" || h.Parameter != ""
}

// Describes reports whether a habit says anything.
func (h *Habit) Describes() bool { return h.isAboutType() || h.Action != "" }

// check finds the mistakes of a habit that can be seen without a specification.
func (h *Habit) check(path string) error {
	switch {
	case path != "" && h.isAboutType():
		return errors.New("id, key, create, update, put, marks, next and parameter are about the whole resource: the path is " +
			"empty")
	case path == "" && h.Action != "":
		return errors.New("an action changes one property: name its path")
	case h.Action == "" && (h.As != "" || h.With != nil):
		return errors.New("as and with belong to an action")
	case h.Key != nil && (len(h.Key) == 0 || slices.Contains(h.Key, "")):
		return errors.New("key names the members that tell a resource from others")
	case h.Update != "" && !slices.Contains([]string{"PATCH", "PUT", "POST"}, h.Update):
		return fmt.Errorf("there is no update by %q; there are PATCH, PUT and POST", h.Update)
	case h.Put != "" && h.Put != "merge":
		return fmt.Errorf("there is no way to put %q; there is merge", h.Put)
	case h.Parameter != "" && h.Next == "":
		return errors.New("a parameter takes what stands at next: name that, too")
	case h.Next != "" && !strings.HasPrefix(h.Next, "/"):
		return errors.New("next is a JSON pointer, such as /meta/next")
	}
	for _, request := range []string{h.Create, h.Action} {
		if request != "" && !strings.HasPrefix(request, "POST /") {
			return fmt.Errorf("%q is no request: write POST and a path of the specification", request)
		}
	}
	return nil
}

// A Description is all that override files say of the habits of a type.
type Description struct {
	Habit
	Actions []ActionOf
}

// An ActionOf is the action that changes a property.
type ActionOf struct {
	Habit
	Property string // its path, as the entry has it
}

// Path returns the path of the action.
func (a ActionOf) Path() string { return strings.TrimPrefix(a.Action, "POST ") }

// CreatePath returns the path on which POST creates, "" if the description does not say it.
func (d Description) CreatePath() string { return strings.TrimPrefix(d.Create, "POST ") }

// Describe returns what files say of the habits of a type. A later file replaces what an earlier one says; two
// entries of one file that say different things are an error.
func Describe(t *resources.Type, files ...*Overrides) (Description, error) {
	var out Description
	for _, f := range files {
		var says Description
		for _, e := range f.Entries {
			if !e.IsAbout(t) || !e.Describes() {
				continue
			}
			if t.Family != resources.Plain {
				return out, fmt.Errorf("%s: only types of plain APIs have a description", e.place())
			}
			if e.Action != "" {
				if slices.ContainsFunc(says.Actions, func(a ActionOf) bool { return a.Property == e.Path }) {
					return out, fmt.Errorf("%s: another entry has an action for %q, too", e.place(), e.Path)
				}
				says.Actions = append(says.Actions, ActionOf{e.Habit, e.Path})
				continue
			}
			if err := says.add(e); err != nil {
				return out, err
			}
		}
		out = says.over(out)
	}
	return out, nil
}

// add adds what an entry says of the whole type.
func (d *Description) add(e *Entry) error {
	for _, f := range []struct {
		name string
		to   *string
		is   string
	}{{"id", &d.ID, e.ID}, {"create", &d.Create, e.Create}, {"update", &d.Update, e.Update}, {"put", &d.Put, e.Put},
		{"marks", &d.Marks, e.Marks}, {"next", &d.Next, e.Next}, {"parameter", &d.Parameter, e.Parameter}} {
		if f.is != "" && *f.to != "" && *f.to != f.is {
			return fmt.Errorf("%s: another entry says %s: %q, too", e.place(), f.name, *f.to)
		}
		*f.to = cmp.Or(f.is, *f.to)
	}
	if e.Key != nil && d.Key != nil && !slices.Equal(e.Key, d.Key) {
		return fmt.Errorf("%s: another entry says key: %q, too", e.place(), d.Key)
	}
	if e.Key != nil {
		d.Key = e.Key
	}
	return nil
}

// over returns a description with what an earlier one says where it says nothing.
func (d Description) over(earlier Description) Description {
	d.ID, d.Create = cmp.Or(d.ID, earlier.ID), cmp.Or(d.Create, earlier.Create)
	d.Update, d.Put, d.Marks = cmp.Or(d.Update, earlier.Update), cmp.Or(d.Put, earlier.Put), cmp.Or(d.Marks, earlier.Marks)
	d.Next, d.Parameter = cmp.Or(d.Next, earlier.Next), cmp.Or(d.Parameter, earlier.Parameter)
	if d.Key == nil {
		d.Key = earlier.Key
	}
	for _, a := range earlier.Actions {
		if !slices.ContainsFunc(d.Actions, func(own ActionOf) bool { return own.Property == a.Property }) {
			d.Actions = append(d.Actions, a)
		}
	}
	return d
}
