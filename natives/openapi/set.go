package openapi

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/app-sre/prcheck/internal/phrase"
)

// The codes of errors. They are a part of the contract with users.
const (
	CodeLoad      = "SPEC_LOAD"       // a document cannot be read, or is no specification
	CodeReference = "SPEC_REF"        // a reference leads nowhere, or where it must not
	CodeType      = "TYPE_UNKNOWN"    // no such resource type
	CodeVersion   = "VERSION_UNKNOWN" // the resource type has no such version
)

// An Error is a mistake in a specification.
type Error struct {
	Code    string
	Place   string // "file" or "file#pointer"
	Message string
	Err     error // the cause, or nil
}

func (e *Error) Error() string {
	return fmt.Sprintf("%s %s: %s", e.Code, phrase.Cut(e.Place, maxQuoted), e.Message)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// CodeOf returns the code of an error about a specification, [CodeLoad] if it has none.
func CodeOf(err error) string {
	if wrong := (*Error)(nil); errors.As(err, &wrong) {
		return wrong.Code
	}
	return CodeLoad
}

// MessageOf returns what an error about a specification says, without the code that it begins
// with: findings have it beside the message.
func MessageOf(err error) string { return strings.TrimPrefix(err.Error(), CodeOf(err)+" ") }

// Limits bound what a set reads. A limit that is 0 has its default.
type Limits struct {
	File   int64 // bytes of one document
	Total  int64 // bytes of all documents
	Values int   // values of one document
	Depth  int   // levels of one document
}

func (l Limits) withDefaults() Limits {
	if l.File <= 0 {
		l.File = 16 << 20
	}
	if l.Total <= 0 {
		l.Total = 256 << 20
	}
	if l.Values <= 0 {
		l.Values = 1 << 20
	}
	if l.Depth <= 0 {
		l.Depth = 256
	}
	return l
}

// A Reader returns the bytes of a document, at most limit and one more of them. The name is a
// slash-separated path without ".." and without a slash in front.
type Reader func(name string, limit int64) ([]byte, error)

// A Set is a set of documents that may refer to each other.
type Set struct {
	read   Reader
	limits Limits
	total  int64
	opened map[string]opened
}

type opened struct {
	document *Document
	err      error
}

// NewSet returns a set whose documents a reader gives.
func NewSet(read Reader, limits Limits) *Set {
	return &Set{read: read, limits: limits.withDefaults(), opened: map[string]opened{}}
}

// A Document is a JSON or YAML document: a specification, or a part of one.
type Document struct {
	Name string
	Root *Value
	set  *Set
	view *View
	refs []string // names of the documents that it refers to, once they were looked for
	seen bool     // whether they were
}

// Document returns a document by its name. It reads each document once.
func (s *Set) Document(name string) (*Document, error) {
	o, ok := s.opened[name]
	if !ok {
		o.document, o.err = s.open(name)
		s.opened[name] = o
	}
	return o.document, o.err
}

func (s *Set) open(name string) (*Document, error) {
	wrong := func(err error, format string, args ...any) error {
		return &Error{Code: CodeLoad, Place: name, Message: fmt.Sprintf(format, args...), Err: err}
	}
	if !fs.ValidPath(name) || name == "." {
		return nil, wrong(nil, "this is not the name of a file in the folder of the specifications")
	}
	limit := min(s.limits.File, s.limits.Total-s.total)
	raw, err := s.read(name, limit)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, wrong(err, "there is no such file")
	case err != nil:
		return nil, wrong(err, "%v", err)
	case int64(len(raw)) > limit && limit < s.limits.File:
		return nil, wrong(nil, "all specifications together are larger than %d MiB", s.limits.Total>>20)
	case int64(len(raw)) > limit:
		return nil, wrong(nil, "it is larger than %d MiB", s.limits.File>>20)
	}
	s.total += int64(len(raw))
	var root *Value
	if IsYAML(name) {
		root, err = parseYAML(raw, s.limits)
	} else {
		root, _, err = parse(raw, s.limits)
	}
	if err != nil {
		return nil, wrong(err, "%v", err)
	}
	return &Document{Name: name, Root: root, set: s}, nil
}

// Version returns the version of OpenAPI that a document says it is written in, such as
// "3.1.0", and "" if it is not a specification: then it may hold parts that others refer to.
func (d *Document) Version() string {
	if !d.Root.Get("paths").IsObject() {
		return ""
	}
	if v := d.Root.Get("swagger").Text(); v != "" {
		return v
	}
	return d.Root.Get("openapi").Text()
}

// Place returns the place of a value in a document.
func (d *Document) Place(v *Value) Place { return Place{Document: d, Value: v} }

// A Place is a value in a document.
type Place struct {
	Document *Document
	Value    *Value
}

// String returns the name of the document and the JSON pointer, as "file#/pointer".
func (p Place) String() string {
	if p.Document == nil {
		return ""
	}
	return p.Document.Name + "#" + p.Value.Pointer()
}

// maxChain is how many references may follow each other.
const maxChain = 64

// Follow returns the place to which the reference at a place leads, over all references in
// between. A place without $ref is returned as it is.
func (p Place) Follow() (Place, error) {
	start := p
	for range maxChain {
		ref := p.Value.Get("$ref")
		if ref == nil || ref.Kind != String {
			return p, nil
		}
		next, err := p.resolve(ref.text)
		if err != nil {
			return Place{}, err
		}
		p = next
	}
	return Place{}, start.wrong("its references lead in a circle, or there are more than %d in a row", maxChain)
}

func (p Place) wrong(format string, args ...any) error {
	return &Error{Code: CodeReference, Place: p.String(), Message: fmt.Sprintf(format, args...)}
}

// resolve returns the place that a reference names.
func (p Place) resolve(ref string) (Place, error) {
	file, fragment, _ := strings.Cut(ref, "#")
	d := p.Document
	if file != "" {
		name, err := d.resolveName(file)
		if err != nil {
			return Place{}, p.wrong("the reference %q %v", phrase.Cut(ref, maxQuoted), err)
		}
		if d, err = d.set.Document(name); err != nil {
			return Place{}, p.wrong("the reference %q leads to a document that cannot be read: %v", phrase.Cut(ref, maxQuoted),
				err)
		}
	}
	pointer, err := url.PathUnescape(fragment)
	if err != nil {
		return Place{}, p.wrong("the reference %q has a broken escape", phrase.Cut(ref, maxQuoted))
	}
	v := d.Root.At(pointer)
	if v == nil {
		return Place{}, p.wrong("the reference %q leads to nothing", phrase.Cut(ref, maxQuoted))
	}
	return Place{Document: d, Value: v}, nil
}

var (
	errForeign = errors.New("leads to another host, from where nothing is read")
	errLeaves  = errors.New("leaves the folder of the specifications")
	errEscape  = errors.New("has a broken escape")
)

// resolveName returns the name of a document that a document refers to. A name with a slash
// in front begins in the folder of the specifications.
func (d *Document) resolveName(file string) (string, error) {
	name, err := url.PathUnescape(file)
	if err != nil {
		return "", errEscape
	}
	if strings.HasPrefix(name, "//") || strings.Contains(name, "://") || strings.HasPrefix(name, "file:") {
		return "", errForeign
	}
	if strings.HasPrefix(name, "/") {
		name = path.Clean(name)[1:]
	} else {
		name = path.Join(path.Dir(d.Name), name)
	}
	if !fs.ValidPath(name) || name == "." || strings.ContainsAny(name, "\\\x00") {
		return "", errLeaves
	}
	return name, nil
}

// A View gives the schemas of one specification. Variants of a discriminator are looked for
// in the specification and in all documents that it leads to.
type View struct {
	document *Document
	schemas  map[*Value]*Schema
	variants map[*Value][]Place // schemas that name another one in their allOf, by that one
	parts    int                // see maxParts
}

// View returns the view of a specification.
func (d *Document) View() *View {
	if d.view == nil {
		d.view = &View{document: d, schemas: map[*Value]*Schema{}}
	}
	return d.view
}

// Schema returns the schema at a place, nil if there is nothing.
func (v *View) Schema(p Place) *Schema {
	if p.Value == nil {
		return nil
	}
	s, ok := v.schemas[p.Value]
	if !ok {
		s = &Schema{view: v, places: []Place{p}}
		v.schemas[p.Value] = s
	}
	return s
}

// merged returns the schema that several places describe together.
func (v *View) merged(places []Place) *Schema {
	if len(places) == 1 {
		return v.Schema(places[0])
	}
	return &Schema{view: v, places: places}
}

// derived returns the schemas that name a schema in their allOf, directly or over others.
func (v *View) derived(base *Value) []Place {
	if v.variants == nil {
		v.variants = map[*Value][]Place{}
		for _, d := range v.document.closure() {
			d.addDerived(v.variants)
		}
	}
	out := slices.Clone(v.variants[base])
	for i := 0; i < len(out); i++ { // out grows
		for _, p := range v.variants[out[i].Value] {
			if p.Value != base && !slices.Contains(out, p) {
				out = append(out, p)
			}
		}
	}
	slices.SortFunc(out, func(a, b Place) int { return cmp.Compare(a.Name(), b.Name()) })
	return out
}

// addDerived adds the named schemas of a document that have references in their allOf.
func (d *Document) addDerived(to map[*Value][]Place) {
	for _, folder := range []string{"/definitions", "/components/schemas"} {
		for _, v := range d.Root.At(folder).Items() {
			for _, part := range v.Get("allOf").Items() {
				if part.Get("$ref") == nil {
					continue
				}
				// A reference that leads nowhere is told where the schema is used.
				if base, err := d.Place(part).Follow(); err == nil {
					to[base.Value] = append(to[base.Value], d.Place(v))
				}
			}
		}
	}
}

// closure returns a document and all that it leads to. Those that cannot be read are left
// out: who follows the reference is told.
func (d *Document) closure() []*Document {
	out := []*Document{d}
	for i := 0; i < len(out); i++ { // out grows
		for _, name := range out[i].References() {
			if next, err := d.set.Document(name); err == nil && !slices.Contains(out, next) {
				out = append(out, next)
			}
		}
	}
	return out
}

// References returns the names of the documents to which the schemas, parameters and
// operations of a document refer, sorted.
func (d *Document) References() []string {
	if !d.seen {
		d.seen = true
		found := map[string]bool{}
		d.find(d.Root, found)
		for name := range found {
			d.refs = append(d.refs, name)
		}
		slices.Sort(d.refs)
	}
	return d.refs
}

func (d *Document) find(v *Value, found map[string]bool) {
	for i, item := range v.Items() {
		if v.Kind == Object {
			switch v.names[i] {
			case "x-ms-examples", "example", "examples", "default", "enum":
				continue
			case "$ref":
				file, _, _ := strings.Cut(item.Text(), "#")
				if name, err := d.resolveName(file); err == nil && file != "" {
					found[name] = true
				}
				continue
			}
		}
		if item.Kind >= Array {
			d.find(item, found)
		}
	}
}

// Name returns the last part of a place's pointer: the name of a definition.
func (p Place) Name() string {
	v := p.Value
	if v == nil || v.parent == nil || v.parent.Kind != Object {
		return ""
	}
	for i, item := range v.parent.items {
		if item == v {
			return v.parent.names[i]
		}
	}
	return ""
}
