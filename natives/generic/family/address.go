package family

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/app-sre/prcheck/natives/openapi/resources"
)

// An Address is where one resource is.
type Address struct {
	Path       string // with escapes and without the query, as a request needs it
	Collection string // the path on which POST creates it, "" if none does
	ID         string // the path without escapes
	Key        string // the id in its canonical form: two addresses of one resource have one key
	Name       string // the last part of the id
	Parent     string // the id of what it stands in, "" if that is nothing
	Root       string // the shard
	Chain      string // the key of the outermost resource around it
	Query      url.Values
}

// URI returns the path with the query.
func (a Address) URI() string { return withQuery(a.Path, a.Query) }

// CollectionURI returns the path of the collection with the query.
func (a Address) CollectionURI() string { return withQuery(a.Collection, a.Query) }

func withQuery(path string, query url.Values) string {
	if len(query) == 0 {
		return path
	}
	return path + "?" + query.Encode()
}

// A Reference says which resource is meant: by its whole id, or by the id of its parent and
// its name. The name of a singleton may be left out.
type Reference struct {
	ID           string
	Parent, Name string
}

// Why there is no address.
var (
	errBoth        = errors.New("name the resource by resourceId, or by parent and name, not by both")
	errNothing     = errors.New("name the resource: give parent and name, or resourceId")
	errCharacter   = errors.New("it has a character that no name can have")
	errStepUp      = errors.New("a step up")
	errEscaped     = errors.New("an escaped character; write the character itself")
	errEmptyPart   = errors.New("an empty part")
	errPlaceholder = errors.New("a placeholder in the place of a name")
	errTooLong     = errors.New("it is too long")
	errNoSlash     = errors.New("it does not begin with a slash")
)

const (
	maxID   = 2000 // bytes of an id
	maxName = 300  // bytes of one part
)

// Locate returns the address of a resource of a type. The error says what is wrong with the
// reference.
func (f *Family) Locate(t *resources.Type, r Reference) (Address, error) {
	template := split(t.Path)
	own := f.Parent(template)
	if r.ID != "" && (r.Parent != "" || r.Name != "") {
		return Address{}, errBoth
	}
	if r.ID == "" && isElsewhere(t) {
		return f.locateElsewhere(t, r)
	}
	parts, err := f.parts(t, template, own, r)
	if err != nil {
		return Address{}, err
	}
	values, err := f.match(t, template, parts, own)
	if err != nil {
		return Address{}, err
	}
	front := values[:len(values)-own]
	if f.Above != nil {
		front = f.Above(front)
	}
	a := Address{Path: escape(values), ID: join(values), Name: values[len(values)-1], Parent: join(front)}
	a.Key = f.Key(a.ID)
	if t.CreatesByPost() != "" && !isElsewhere(t) {
		a.Collection = escape(values[:len(values)-1])
	}
	if f.Query != nil {
		a.Query = f.Query(t)
	}
	a.Root, a.Chain = f.Root(a), f.Chain(a)
	return a, nil
}

// isElsewhere reports whether POST creates at an address that is not the one in front of the resource.
func isElsewhere(t *resources.Type) bool {
	at, path := t.CreatesByPost(), split(t.Path)
	if at == "" {
		return false
	}
	parts := split(at)
	return len(parts) != len(path)-1 || slices.ContainsFunc(path[:len(path)-1], func(part string) bool {
		i := slices.Index(path, part)
		return !isParameter(part) && !strings.EqualFold(part, parts[i]) || isParameter(part) != isParameter(parts[i])
	})
}

// locateElsewhere returns the address of a resource that POST creates elsewhere: its parent is that of the address
// which creates. The parameters in front of the name are, in their order, those of that address.
func (f *Family) locateElsewhere(t *resources.Type, r Reference) (Address, error) {
	at, template := split(t.CreatesByPost()), split(t.Path)
	if err := CheckName(r.Name); err != nil {
		return Address{}, fmt.Errorf("name %s: %w", quote(r.Name), err)
	}
	own := f.Parent(append(slices.Clone(at), r.Name)) - 1
	if isParameter(at[len(at)-1]) || own < 1 {
		return Address{}, fmt.Errorf("%s is no collection", quote(t.CreatesByPost()))
	}
	var parent []string
	if r.Parent != "" {
		var err error
		if parent, err = Split(r.Parent); err != nil {
			return Address{}, fmt.Errorf("parent %s: %w", quote(r.Parent), err)
		}
	}
	values, err := f.match(t, at, append(parent, at[len(at)-own:]...), own)
	if err != nil {
		return Address{}, fmt.Errorf("parent %s: the resource is created at %s", quote(r.Parent), t.CreatesByPost())
	}
	var given []string
	for i, part := range at {
		if isParameter(part) {
			given = append(given, values[i])
		}
	}
	path := slices.Clone(template)
	for i, part := range template[:len(template)-1] {
		if !isParameter(part) {
			continue
		}
		if len(given) == 0 {
			return Address{}, fmt.Errorf("the address %s has the parameter %s, and %s has none for it", t.Path, part,
				t.CreatesByPost())
		}
		path[i], given = given[0], given[1:]
	}
	path[len(path)-1] = r.Name
	a := Address{Path: escape(path), Collection: escape(values), ID: join(append(values, r.Name)), Name: r.Name,
		Parent: join(values[:len(values)-own])}
	a.Key = f.Key(a.ID)
	a.Root, a.Chain = f.Root(a), f.Chain(a)
	return a, nil
}

// parts returns the parts of the id that a reference means.
func (f *Family) parts(t *resources.Type, template []string, own int, r Reference) ([]string, error) {
	if r.ID != "" {
		parts, err := Split(r.ID)
		if err != nil {
			return nil, fmt.Errorf("resourceId %s: %w", quote(r.ID), err)
		}
		return parts, nil
	}
	var parts []string
	if r.Parent != "" {
		var err error
		if parts, err = Split(r.Parent); err != nil {
			return nil, fmt.Errorf("parent %s: %w", quote(r.Parent), err)
		}
		if f.Within != nil {
			parts = f.Within(template, parts)
		}
	}
	last := template[len(template)-1]
	switch {
	case r.Name == "" && isParameter(last):
		return nil, errNothing
	case r.Name != "":
		if err := CheckName(r.Name); err != nil {
			return nil, fmt.Errorf("name %s: %w", quote(r.Name), err)
		}
		if isParameter(last) {
			last = r.Name
		} else if !strings.EqualFold(last, r.Name) {
			return nil, fmt.Errorf("name %s: the type is a singleton with the name %q", quote(r.Name), last)
		}
	}
	tail := append([]string{}, template[len(template)-own:]...)
	tail[own-1] = last
	if f.TypesInPath && own >= 2 && isParameter(tail[own-2]) { // a parameter in the place of the type
		tail[own-2] = t.Name[strings.LastIndexByte(t.Name, '/')+1:]
	}
	return append(parts, tail...), nil
}

// match returns the parts of an id, with the fixed parts as the template spells them. The
// first parameter of a template may stand for a whole id.
func (f *Family) match(t *resources.Type, template, parts []string, own int) ([]string, error) {
	extra := len(parts) - len(template)
	hasScope := isParameter(template[0])
	if extra != 0 && (!hasScope || extra < 0) {
		return nil, fmt.Errorf("%s is no address of %s: that is %s", quote(join(parts)), t.Name, t.Path)
	}
	out := append([]string{}, parts[:extra]...)
	for i, want := range template {
		part := parts[extra+i]
		isType := f.TypesInPath && own >= 2 && i == len(template)-2
		switch {
		case !isParameter(want) && !strings.EqualFold(want, part),
			isType && isParameter(want) && !strings.EqualFold(part, t.Name[strings.LastIndexByte(t.Name, '/')+1:]):
			return nil, fmt.Errorf("%s is no address of %s: that is %s", quote(join(parts)), t.Name, t.Path)
		case isParameter(part):
			return nil, fmt.Errorf("%s: %w", quote(join(parts)), errPlaceholder)
		case !isParameter(want):
			part = want
		}
		out = append(out, part)
	}
	return out, nil
}

// Split returns the parts of an id. The error says why it cannot be one.
func Split(id string) ([]string, error) {
	switch {
	case len(id) > maxID:
		return nil, errTooLong
	case !strings.HasPrefix(id, "/"):
		return nil, errNoSlash
	}
	parts := split(id)
	for _, part := range parts {
		if err := CheckName(part); err != nil {
			return nil, err
		}
	}
	return parts, nil
}

// CheckName returns why a text cannot be the name of a resource, nil if it can.
func CheckName(name string) error {
	switch {
	case name == "":
		return errEmptyPart
	case len(name) > maxName:
		return errTooLong
	case name == "." || name == "..":
		return errStepUp
	case strings.Contains(name, "%"):
		return errEscaped
	case isParameter(name):
		return errPlaceholder
	case !utf8.ValidString(name), strings.ContainsFunc(name, isForeign):
		return errCharacter
	}
	return nil
}

// isForeign says whether no name can have a character. One that cannot be seen, or that turns the
// direction of the text, would make an id look like another one.
func isForeign(r rune) bool {
	return unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp) || strings.ContainsRune(`/\?#`, r)
}

func isParameter(part string) bool {
	return len(part) > 2 && part[0] == '{' && part[len(part)-1] == '}'
}

func split(path string) []string { return strings.Split(strings.Trim(path, "/"), "/") }

func join(parts []string) string {
	if len(parts) == 0 {
		return ""
	}
	return "/" + strings.Join(parts, "/")
}

func escape(parts []string) string {
	var b strings.Builder
	for _, part := range parts {
		b.WriteByte('/')
		b.WriteString(url.PathEscape(part))
	}
	return b.String()
}

// quote quotes a text that somebody else wrote, bounded.
func quote(text string) string {
	const most = 120
	if len(text) > most {
		return fmt.Sprintf("%q…", strings.ToValidUTF8(text[:most], ""))
	}
	return fmt.Sprintf("%q", text)
}
