package resources

import (
	"cmp"
	"slices"
	"strings"

	"github.com/app-sre/prcheck/natives/openapi"
)

// A Type is a resource type at one address.
type Type struct {
	Family      *Habits
	Name        string // without the version
	Version     string // of Azure, "" elsewhere
	Path        string
	Parent      string // the name of the parent, "" if it is in no document
	IsSingleton bool
	Joins       []string // the parts that are read beside the resource, sorted
	Document    *openapi.Document

	address    openapi.Address
	collection *openapi.Address // with POST
	shape      shape
}

// ID returns the name with the version.
func (t *Type) ID() string {
	if t.Version == "" {
		return t.Name
	}
	return t.Name + "@" + t.Version
}

// Kind returns the name that objects of a type of Kubernetes have in kind, "" for others.
func (t *Type) Kind() string {
	o, _ := t.address.Operation("get")
	return o.Keyword("x-kubernetes-group-version-kind").Get("kind").Text()
}

// An Index is the types of some specifications.
type Index struct {
	types    []*Type // sorted by name, version and path
	mistakes []error
}

// NewIndex finds the types of specifications. Documents that are no specifications are left
// out.
func NewIndex(documents []*openapi.Document) *Index {
	x := &Index{}
	for _, d := range documents {
		if d.Version() != "" {
			x.add(d)
		}
	}
	slices.SortStableFunc(x.types, func(a, b *Type) int {
		return cmp.Or(strings.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name)),
			strings.Compare(a.Version, b.Version), strings.Compare(a.Path, b.Path),
			strings.Compare(a.Document.Name, b.Document.Name))
	})
	x.setParents()
	return x
}

// Mistakes returns why some addresses could not be read. No type is made of them.
func (x *Index) Mistakes() []error { return x.mistakes }

func (x *Index) add(d *openapi.Document) {
	addresses, mistakes := d.Addresses()
	x.mistakes = append(x.mistakes, mistakes...)
	byPath := map[string]openapi.Address{}
	below := map[string][]openapi.Address{}
	for _, a := range addresses {
		path := normal(a.Path)
		byPath[path] = a
		prefix := path[:strings.LastIndexByte(path, '/')]
		below[prefix] = append(below[prefix], a)
	}
	isKubernetes := isKubernetes(d, addresses)
	for _, a := range addresses {
		types, err := typesAt(a, isKubernetes, collectionOf(a, byPath), below[normal(a.Path)])
		if err != nil {
			x.mistakes = append(x.mistakes, err)
			continue
		}
		x.types = append(x.types, types...)
	}
}

// typesAt returns the types of an address, which gets its collection and the addresses that
// have one more part.
func typesAt(a openapi.Address, isKubernetes bool, collection *openapi.Address,
	below []openapi.Address) ([]*Type, error) {
	if !isType(a, collection) && (!mayBePlain(a) || isCollection(below)) {
		return nil, nil
	}
	choices, err := a.Choices()
	if err != nil {
		return nil, err
	}
	var out []*Type
	for _, s := range (Template{Path: a.Path, Choices: choices, IsKubernetes: isKubernetes}).shapes() {
		if s.family != Plain && !isType(a, collection) {
			continue
		}
		t := &Type{Family: s.family, Name: s.name, Path: a.Path, IsSingleton: s.isSingleton,
			Document: a.Place().Document, address: a, collection: collection, shape: s}
		if s.family == ARM {
			t.Version = t.Document.Root.Get("info").Get("version").Text()
		}
		if t.Joins, err = joinsOf(t, below); err != nil {
			return nil, err
		}
		out = append(out, t)
	}
	return out, nil
}

// normal returns a path in lower case and without the names of parameters.
func normal(path string) string {
	parts := strings.Split(path, "/")
	for i, part := range parts {
		if isParameter(part) {
			parts[i] = "{}"
		}
	}
	return strings.ToLower(strings.Join(parts, "/"))
}

// isKubernetes reports whether a specification is one of Kubernetes.
func isKubernetes(d *openapi.Document, addresses []openapi.Address) bool {
	if d.Root.Get("info").Get("title").Text() == "Kubernetes" {
		return true
	}
	for _, a := range addresses {
		if o, ok := a.Operation("get"); ok && o.Keyword("x-kubernetes-group-version-kind") != nil {
			return true
		}
	}
	return false
}

// collectionOf returns the address in front of an address if POST there creates, else nil.
func collectionOf(a openapi.Address, byPath map[string]openapi.Address) *openapi.Address {
	i := strings.LastIndexByte(a.Path, '/')
	if i <= 0 || !isParameter(a.Path[i+1:]) {
		return nil
	}
	if c, ok := byPath[normal(a.Path[:i])]; ok && c.Has("post") {
		return &c
	}
	return nil
}

// mayBePlain reports whether an address is that of a type if it is of the family plain: it can be read and changed.
func mayBePlain(a openapi.Address) bool {
	return a.Has("get") && (a.Has("patch") || a.Has("post") && a.Has("delete"))
}

// isCollection reports whether an address with these below it is that of a collection: items have a name behind it.
func isCollection(below []openapi.Address) bool {
	return slices.ContainsFunc(below, func(a openapi.Address) bool {
		return isParameter(a.Path[strings.LastIndexByte(a.Path, '/')+1:]) && a.Has("get")
	})
}

func isType(a openapi.Address, collection *openapi.Address) bool {
	return a.Has("get") && (a.Has("put") || a.Has("delete") && collection != nil)
}

// joinsOf returns the fixed parts behind the address of a type from which something can only
// be read, and no list. It gets the addresses that have one more part than the type.
func joinsOf(t *Type, below []openapi.Address) ([]string, error) {
	var out []string
	for _, a := range below {
		part := a.Path[strings.LastIndexByte(a.Path, '/')+1:]
		o, ok := a.Operation("get")
		switch {
		case !ok || isParameter(part):
			continue
		case t.Family.IsJoin != nil:
			if t.Family.IsJoin(part) {
				out = append(out, part)
			}
			continue
		case a.Has("put"), a.Has("delete"), o.Keyword("x-ms-pageable") != nil:
			continue
		}
		isOther, err := answersOther(o)
		if err != nil {
			return nil, err
		}
		if !isOther {
			out = append(out, part)
		}
	}
	return out, nil
}

// answersOther reports whether an operation answers something else than a part of a resource:
// a list, by itself or as value, or what a question in its query is about.
func answersOther(o openapi.Operation) (bool, error) {
	if asks, err := o.Asks("api-version"); err != nil || asks {
		return asks, err
	}
	answer, err := o.Answer(o.Place().Document.View())
	if err != nil || answer == nil {
		return false, err
	}
	value, err := answer.Property("value")
	if err != nil {
		return false, err
	}
	for _, s := range []*openapi.Schema{answer, value} {
		items, err := s.ItemsOf()
		if err != nil || items != nil {
			return items != nil, err
		}
	}
	return false, nil
}

// setParents finds the parent of each type in the whole index.
func (x *Index) setParents() {
	known := map[string]string{}
	for _, t := range x.types {
		known[t.shape.key()] = t.Name
	}
	for _, t := range x.types {
		t.Parent = t.shape.parent(func(key string) string { return known[key] })
	}
}

// Types returns all types, sorted by name and version.
func (x *Index) Types() []*Type { return x.types }

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
