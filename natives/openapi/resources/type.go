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
	if !isType(a, collection) && !mayBePlain(a) {
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
