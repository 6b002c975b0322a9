package resources

import (
	"slices"
	"strings"

	"github.com/app-sre/prcheck/natives/openapi"
)

// RequestEnvelope returns the member of a request in which a plain type stands, "" if the request is the resource. The
// verb is post for the request that creates, else that of the update.
func (t *Type) RequestEnvelope(verb string) (string, error) {
	envelope, err := t.envelopeOf("get")
	if err != nil || envelope == "" {
		return "", err
	}
	o, ok := t.request(verb)
	if !ok {
		return "", nil
	}
	body, _, err := o.Body(t.Document.View())
	if err != nil {
		return "", err
	}
	name, inner, err := only(body)
	if err != nil || name != envelope || inner == nil {
		return "", err
	}
	return envelope, nil
}

// request returns the operation that creates (post) or updates with a verb.
func (t *Type) request(verb string) (openapi.Operation, bool) {
	if verb == "create" {
		if t.collection == nil {
			return openapi.Operation{}, false
		}
		return t.collection.Operation("post")
	}
	return t.address.Operation(verb)
}

// UpdatesBy returns the verbs by which the item of a type can be changed: PATCH, PUT, POST.
func (t *Type) UpdatesBy() []string {
	var out []string
	for _, verb := range []string{"patch", "put", "post"} {
		if t.address.Has(verb) {
			out = append(out, strings.ToUpper(verb))
		}
	}
	return out
}

// Takes returns the members that the request of a verb takes at its top, without its envelope, and whether it takes
// others as well. The verb is "create" for the one that creates.
func (t *Type) Takes(verb string) (names, required []string, isOpen bool, err error) {
	o, ok := t.request(verb)
	if !ok {
		return nil, nil, false, nil
	}
	body, _, err := o.Body(t.Document.View())
	if err != nil {
		return nil, nil, false, err
	}
	if body == nil {
		return nil, nil, true, nil
	}
	envelope, err := t.RequestEnvelope(verb)
	if err != nil {
		return nil, nil, false, err
	}
	if envelope != "" {
		if body, err = body.Property(envelope); err != nil {
			return nil, nil, false, err
		}
	}
	return membersOf(body)
}

// membersOf returns the members of a schema, which of them it requires, and whether it takes others.
func membersOf(s *openapi.Schema) (names, required []string, isOpen bool, err error) {
	if names, err = s.Properties(); err != nil {
		return nil, nil, false, err
	}
	if required, err = s.Required(); err != nil {
		return nil, nil, false, err
	}
	isOpen, err = s.IsOpen()
	return names, required, isOpen || len(names) == 0, err
}

// IsForm reports whether the request of a verb takes a form and no JSON. The verb is "create" for the one that creates.
func (t *Type) IsForm(verb string) (bool, error) {
	o, ok := t.request(verb)
	if !ok {
		return false, nil
	}
	return takesForm(t.Document.View(), o)
}

func takesForm(view *openapi.View, o openapi.Operation) (bool, error) {
	_, media, err := o.Body(view)
	isJSON := slices.ContainsFunc(media, func(m string) bool { return strings.Contains(m, "json") })
	return err == nil && !isJSON && slices.Contains(media, "application/x-www-form-urlencoded"), err
}

// Pages returns the parameters in the query of the collection's list, nil if it cannot be listed.
func (t *Type) Pages() (parameters []string, canList bool, err error) {
	if t.collection == nil {
		return nil, false, nil
	}
	o, ok := t.collection.Operation("get")
	if !ok {
		return nil, false, nil
	}
	parameters, err = o.QueryNames()
	return parameters, true, err
}

// An ActionShape is a request that changes a part of a resource and is no update of it.
type ActionShape struct {
	Path     string   // with the parameters of the type's address
	Takes    []string // the members of its body
	Required []string
	IsOpen   bool // it takes others as well
	IsForm   bool
	// Envelope is the member of the answer in which the action stands, "" if there is none.
	Envelope string
	// Poll is the path at which the action is read again: the one that has one parameter more than Path, or that of all
	// actions. It is "" if there is none.
	Poll string
}

// Action returns the shape of an action at a path. Parameters that the address of the type has must have its names.
func (t *Type) Action(path string) (ActionShape, error) {
	out := ActionShape{Path: path}
	all, _ := t.Document.Addresses()
	i := slices.IndexFunc(all, func(a openapi.Address) bool { return a.Path == path && a.Has("post") })
	if i < 0 {
		return out, &openapi.Error{Code: openapi.CodeReference, Place: t.Document.Name,
			Message: "there is no POST at " + path}
	}
	if normal(path) != normal(t.Path) && !strings.HasPrefix(normal(path), normal(t.Path)+"/") {
		return out, &openapi.Error{Code: openapi.CodeReference, Place: t.Document.Name,
			Message: "the action " + path + " is not below " + t.Path}
	}
	o, _ := all[i].Operation("post")
	body, _, err := o.Body(t.Document.View())
	if err != nil {
		return out, err
	}
	out.IsOpen = true
	if body != nil {
		if out.Takes, out.Required, out.IsOpen, err = membersOf(body); err != nil {
			return out, err
		}
	}
	if out.IsForm, err = takesForm(t.Document.View(), o); err != nil {
		return out, err
	}
	answer, err := o.Answer(t.Document.View())
	if err != nil {
		return out, err
	}
	if inner, err := answer.Property("action"); err != nil {
		return out, err
	} else if inner != nil {
		out.Envelope = "action"
	}
	out.Poll = t.pollOf(all, path)
	return out, nil
}

// pollOf returns the address at which an action of a path is read: that of all actions, or one below the resource.
func (t *Type) pollOf(all []openapi.Address, path string) string {
	front := path[:strings.LastIndexByte(path, '/')]
	candidates := []string{normal(path) + "/{}", normal(front) + "/{}"}
	if i := strings.Index(normal(path), "/{}"); i >= 0 { // /v2/droplets/{id}/actions: /v2/actions/{id}
		top := normal(path)[:i]
		candidates = append(candidates, top[:strings.LastIndexByte(top, '/')]+"/actions/{}")
	}
	for _, want := range candidates {
		for _, a := range all {
			if normal(a.Path) == want && a.Has("get") {
				return a.Path
			}
		}
	}
	return ""
}
