package plain

import (
	"fmt"
	"slices"
	"strings"

	"github.com/app-sre/prcheck/internal/jsonpointer"
	"github.com/app-sre/prcheck/natives/openapi"
	"github.com/app-sre/prcheck/natives/openapi/classes"
	"github.com/app-sre/prcheck/natives/openapi/resources"
	"github.com/app-sre/prcheck/plan"
)

// The codes of descriptions that cannot be used.
const (
	CodeDescription plan.FindingCode = "DESCRIPTION" // it contradicts the specification or itself
	CodeKey         plan.FindingCode = "NATURAL_KEY" // nothing tells a resource whose id the service gives
	CodeAmbiguous   plan.FindingCode = "AMBIGUOUS"   // several resources have the natural key
)

// Habits are those of one type.
type Habits struct {
	Type string
	Path string // of the address, as the specification has it
	// Answer and List are the members of answers in which the resource and the items of the collection stand, Create and
	// Change those of requests; "" if they are the body.
	Answer, List, Create, Change string
	// CreatesForm and ChangesForm say that a request takes a form and no JSON.
	CreatesForm, ChangesForm bool
	// Update is the verb that changes a resource: PATCH, PUT or POST; "" if nothing does. PutsPart says that it keeps
	// what a request leaves out. PATCH and POST always do.
	Update   string
	PutsPart bool
	// Changes are the members that the update takes; nil is any.
	Changes []string
	// ID is the member with the id. GivesID says that the service chooses it. Then Key are the members that tell one
	// resource from all others, the first of which has the name of the entry.
	ID      string
	GivesID bool
	Key     []string
	// Marks is where a mark of ours stands.
	Marks   Marks
	Actions []Action
	Pages   Pages
	// Deletes says that there is a DELETE.
	Deletes bool
	// Scalars are the members that a request takes as one value and an answer has as an object.
	Scalars []string
}

// An Action is a request that changes one property.
type Action struct {
	Property string // its pointer
	Shape    resources.ActionShape
	As       string         // the member of the request that takes the value
	With     map[string]any // members that the request has beside it
}

// Pages is how a collection is listed.
type Pages struct {
	Next       string   // the pointer in an answer to what leads to the next page; "" if the answer tells by itself
	Parameter  string   // of the query that takes it; "" if it is an address
	Parameters []string // all in the query of the list
	CanList    bool
}

// reader reads the habits of a type.
type reader struct {
	t    *resources.Type
	c    *classes.Classifier
	says classes.Description
	out  *Habits
	get  []string // members of an answer
	post []string // members of the request that creates
}

// Read returns the habits of a type of the family plain, by its specification and by what descriptions say of it. A
// later file replaces what an earlier one says.
func Read(t *resources.Type, c *classes.Classifier, files ...*classes.Overrides) (*Habits, error) {
	says, err := classes.Describe(t, files...)
	if err != nil {
		return nil, wrong(t, CodeDescription, "%s", err.Error())
	}
	r := &reader{t: t, c: c, says: says, out: &Habits{Type: t.ID(), Path: t.Path}}
	for _, step := range []func() error{r.envelopes, r.updates, r.identity, r.marks, r.actions, r.pages} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	r.out.Deletes = slices.Contains(t.Verbs(), "delete")
	return r.out, nil
}

// wrong returns the error of a description.
func wrong(t *resources.Type, code plan.FindingCode, format string, args ...any) error {
	return &openapi.Error{Code: string(code), Place: t.ID(), Message: fmt.Sprintf(format, args...)}
}

func (r *reader) envelopes() error {
	shape, err := r.t.PlainShape()
	if err != nil {
		return err
	}
	out := r.out
	out.Answer, out.List = shape.AnswerEnvelope, shape.ListEnvelope
	if out.Create, err = r.t.RequestEnvelope("create"); err != nil {
		return err
	}
	if out.CreatesForm, err = r.t.IsForm("create"); err != nil {
		return err
	}
	bodies, err := r.t.Bodies()
	if err != nil {
		return err
	}
	if r.get, err = bodies.Get.Properties(); err != nil {
		return err
	}
	if r.t.CreatesByPost() == "" {
		if r.post, _, _, err = r.t.Takes("put"); err != nil {
			return err
		}
	} else if r.post, _, _, err = r.t.Takes("create"); err != nil {
		return err
	}
	for _, name := range r.post {
		got, err := r.isObject(bodies.Get, name)
		if err != nil {
			return err
		}
		sent, err := r.isObject(bodies.Post, name)
		if err != nil {
			return err
		}
		if got && !sent && bodies.Post != nil {
			out.Scalars = append(out.Scalars, name)
		}
	}
	return nil
}

// isObject reports whether a member of a body is an object with members.
func (r *reader) isObject(body *openapi.Schema, name string) (bool, error) {
	if body == nil {
		return false, nil
	}
	s, err := body.Property(name)
	if err != nil || s == nil {
		return false, err
	}
	names, err := s.Properties()
	return len(names) > 0, err
}

func (r *reader) updates() error {
	all, out := r.t.UpdatesBy(), r.out
	if len(all) > 0 {
		out.Update = all[0]
	}
	if want := r.says.Update; want != "" {
		if !slices.Contains(all, want) {
			return wrong(r.t, CodeDescription, "the description says update: %s, and the specification has no %s at %s", want,
				want, r.t.Path)
		}
		out.Update = want
	}
	if out.PutsPart = r.says.Put == "merge"; out.PutsPart && out.Update != "PUT" {
		return wrong(r.t, CodeDescription, "the description says put: merge, and the type is changed by %q", out.Update)
	}
	if out.Update == "" {
		return nil
	}
	verb := strings.ToLower(out.Update)
	var err error
	if out.Change, err = r.t.RequestEnvelope(verb); err != nil {
		return err
	}
	if out.ChangesForm, err = r.t.IsForm(verb); err != nil {
		return err
	}
	names, _, isAny, err := r.t.Takes(verb)
	if !isAny {
		out.Changes = names
	}
	return err
}

// identity reads which member has the id, who chooses it, and what tells a resource from others.
func (r *reader) identity() error {
	last := r.t.Path[strings.LastIndexByte(r.t.Path, '/')+1:]
	parameter := strings.Trim(last, "{}")
	if parameter == last || r.t.IsSingleton {
		return r.refuseKey("is the only one at its address")
	}
	candidates := []string{parameter, "id"}
	if noun := r.t.Name[strings.LastIndexByte(r.t.Name, '/')+1:]; r.says.ID == "" {
		candidates = append(candidates, strings.TrimSuffix(noun, "s")+"_id", "uuid", "sid", "name")
	} else {
		candidates = []string{r.says.ID}
	}
	for _, name := range candidates {
		if slices.Contains(r.get, name) {
			r.out.ID = name
			break
		}
	}
	if r.out.ID == "" {
		if r.says.ID != "" {
			return wrong(r.t, CodeDescription, "the description says id: %q, and no answer has that member", r.says.ID)
		}
		return wrong(r.t, CodeDescription, "no answer has a member with the id: say id in the description")
	}
	p, err := r.c.Explain(r.out.ID)
	if err != nil {
		return wrong(r.t, CodeDescription, "%s", err.Error())
	}
	r.out.GivesID = r.t.CreatesByPost() != "" && (!slices.Contains(r.post, r.out.ID) || p.ReadOnly != nil)
	if !r.out.GivesID {
		return r.refuseKey("has an id that the data choose")
	}
	if r.out.Key = r.says.Key; r.out.Key == nil && slices.Contains(r.post, "name") && slices.Contains(r.get, "name") {
		r.out.Key = []string{"name"}
	}
	if len(r.out.Key) == 0 {
		return wrong(r.t, CodeKey, "the service gives the id, and nothing says how a resource is found again: name the members "+
			"that tell it from all others in key of the description")
	}
	for _, name := range r.out.Key {
		if !slices.Contains(r.get, name) || !slices.Contains(r.post, name) {
			return wrong(r.t, CodeDescription, "the key has the member %q, which must be in what creates a resource and in "+
				"what is read", name)
		}
	}
	return nil
}

// refuseKey returns an error if a description has a key for a type that needs none.
func (r *reader) refuseKey(why string) error {
	if r.says.Key != nil {
		return wrong(r.t, CodeDescription, "the description has a key, and the type %s", why)
	}
	return nil
}

func (r *reader) actions() error {
	for _, says := range r.says.Actions {
		shape, err := r.t.Action(says.Path())
		if err != nil {
			return wrong(r.t, CodeDescription, "%s", openapi.MessageOf(err))
		}
		p, err := r.c.Explain(says.Property)
		if err != nil {
			return wrong(r.t, CodeDescription, "%s", err.Error())
		}
		a := Action{Property: p.Pattern, Shape: shape, As: says.As, With: says.With}
		if parts := jsonpointer.Split(p.Pattern); a.As == "" {
			a.As = parts[len(parts)-1]
		}
		for _, name := range append([]string{a.As}, sortedKeys(a.With)...) {
			if !shape.IsOpen && !slices.Contains(shape.Takes, name) {
				return wrong(r.t, CodeDescription, "the action %s takes no member %q: it takes %s", shape.Path, name,
					strings.Join(shape.Takes, ", "))
			}
		}
		for _, name := range shape.Required {
			if _, has := a.With[name]; name != a.As && !has {
				return wrong(r.t, CodeDescription, "the action %s needs the member %q: give it in with", shape.Path, name)
			}
		}
		r.out.Actions = append(r.out.Actions, a)
	}
	return nil
}

func (r *reader) pages() error {
	var err error
	p := &r.out.Pages
	p.Next, p.Parameter = r.says.Next, r.says.Parameter
	if p.Parameters, p.CanList, err = r.t.Pages(); err != nil {
		return err
	}
	if r.out.GivesID && !p.CanList {
		return wrong(r.t, CodeKey, "the service gives the id, and %s cannot be listed: a resource whose creation was lost "+
			"could not be found again", r.t.CreatesByPost())
	}
	if p.Parameter != "" && !slices.Contains(p.Parameters, p.Parameter) {
		return wrong(r.t, CodeDescription, "the description says parameter: %q, and the list takes no such parameter",
			p.Parameter)
	}
	return nil
}
