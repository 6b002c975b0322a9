package resources

import (
	"slices"
	"strings"

	"github.com/app-sre/prcheck/natives/openapi"
)

// beside are the members of an answer that stand beside a resource, and are no part of it.
var beside = []string{"meta", "links", "action", "actions", "next_actions", "errors"}

// A PlainShape is the habits of a type of the family plain, read from its specification.
type PlainShape struct {
	AnswerEnvelope string // the member of an answer in which the resource stands, "" if the answer is the resource
	ListEnvelope   string // the member of the collection's answer in which the items stand, "" if the answer is the list
	Update         string // PATCH, PUT or POST on the item, "" if nothing changes it
	Body           string // json or form
	Create         string // POST with its address, or PUT
}

// PlainShape returns the habits of a type.
func (t *Type) PlainShape() (PlainShape, error) {
	out := PlainShape{Body: "json", Create: "PUT"}
	var err error
	if out.AnswerEnvelope, err = t.envelopeOf("get"); err != nil {
		return out, err
	}
	if t.collection != nil {
		out.Create = "POST " + t.collection.Path
		if out.ListEnvelope, err = t.listEnvelope(); err != nil {
			return out, err
		}
	}
	o, hasUpdate := t.update()
	if hasUpdate {
		out.Update = strings.ToUpper(o.Verb)
	} else if t.collection != nil {
		o, hasUpdate = t.collection.Operation("post")
	}
	if !hasUpdate {
		return out, nil
	}
	_, media, err := o.Body(t.Document.View())
	if len(media) > 0 && !slices.ContainsFunc(media, func(m string) bool { return strings.Contains(m, "json") }) &&
		slices.Contains(media, "application/x-www-form-urlencoded") {
		out.Body = "form"
	}
	return out, err
}

// update returns the operation that changes a resource: PATCH, PUT, or POST on the item.
func (t *Type) update() (openapi.Operation, bool) {
	for _, verb := range []string{"patch", "put", "post"} {
		if o, ok := t.address.Operation(verb); ok {
			return o, true
		}
	}
	return openapi.Operation{}, false
}

// envelopeOf returns the only member of an answer that is an object, if nothing but what stands beside a resource is in
// it.
func (t *Type) envelopeOf(verb string) (string, error) {
	o, ok := t.address.Operation(verb)
	if !ok {
		return "", nil
	}
	answer, err := o.Answer(t.Document.View())
	if err != nil {
		return "", err
	}
	name, inner, err := only(answer)
	if err != nil || inner == nil {
		return "", err
	}
	names, err := inner.Properties()
	if err != nil || len(names) == 0 {
		return "", err
	}
	isEnvelope, err := t.isEnvelope(name)
	if err != nil || !isEnvelope {
		return "", err
	}
	return name, nil
}

// isEnvelope reports whether a member holds the resource, and is none of its properties: it is called as the type, or a
// request has no such member.
func (t *Type) isEnvelope(name string) (bool, error) {
	last := t.Name[strings.LastIndexByte(t.Name, '/')+1:]
	if plural := strings.ToLower(last); slices.Contains([]string{plural, strings.TrimSuffix(plural, "s"),
		strings.TrimSuffix(plural, "es"),
		strings.TrimSuffix(plural, "ies") + "y"}, strings.ToLower(name)) {
		return true, nil
	}
	requests := []openapi.Operation{}
	if o, ok := t.update(); ok {
		requests = append(requests, o)
	}
	if t.collection != nil {
		if o, ok := t.collection.Operation("post"); ok {
			requests = append(requests, o)
		}
	}
	for _, o := range requests {
		body, _, err := o.Body(t.Document.View())
		if err != nil {
			return false, err
		}
		names, err := body.Properties()
		if err != nil {
			return false, err
		}
		if len(names) > 0 && !slices.Contains(names, name) {
			return true, nil
		}
	}
	return false, nil
}

// listEnvelope returns the only member of the collection's answer that is a list.
func (t *Type) listEnvelope() (string, error) {
	o, ok := t.collection.Operation("get")
	if !ok {
		return "", nil
	}
	answer, err := o.Answer(t.Document.View())
	if err != nil {
		return "", err
	}
	name, inner, err := only(answer)
	if err != nil || inner == nil {
		return "", err
	}
	items, err := inner.ItemsOf()
	if items == nil {
		return "", err
	}
	return name, err
}

// only returns the only member of a schema but for those that stand beside a resource, nil if there are several.
func only(s *openapi.Schema) (string, *openapi.Schema, error) {
	names, err := s.Properties()
	if err != nil {
		return "", nil, err
	}
	names = slices.DeleteFunc(slices.Clone(names), func(name string) bool { return slices.Contains(beside, name) })
	if len(names) != 1 {
		return "", nil, nil
	}
	inner, err := s.Property(names[0])
	return names[0], inner, err
}

// unwrap takes the envelope off the bodies of a plain type: off answers, and off requests that have the same.
func (t *Type) unwrap(b *Bodies) error {
	if _, ok := t.address.Operation("post"); ok && !b.HasPatch && !b.HasPut {
		o, _ := t.address.Operation("post")
		b.HasPatch = true
		var err error
		if b.Patch, b.PatchMedia, err = o.Body(t.Document.View()); err != nil {
			return err
		}
	}
	envelope, err := t.envelopeOf("get")
	if err != nil || envelope == "" {
		return err
	}
	if b.Get, err = b.Get.Property(envelope); err != nil {
		return err
	}
	for _, body := range []**openapi.Schema{&b.Put, &b.Patch, &b.Post} {
		name, inner, err := only(*body)
		if err != nil {
			return err
		}
		if name == envelope && inner != nil {
			*body = inner
		}
	}
	return nil
}

// CreatedAt returns the type with another address at which POST creates it.
func (t *Type) CreatedAt(path string) (*Type, error) {
	all, _ := t.Document.Addresses()
	i := slices.IndexFunc(all, func(a openapi.Address) bool { return a.Path == path && a.Has("post") })
	if i < 0 {
		return nil, &openapi.Error{Code: openapi.CodeReference, Place: t.Document.Name,
			Message: "there is no POST at " + path}
	}
	out := *t
	out.collection = &all[i]
	return &out, nil
}
