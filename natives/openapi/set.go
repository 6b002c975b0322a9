package openapi

import (
	"errors"
	"fmt"
	"github.com/app-sre/prcheck/internal/phrase"
	"io/fs"
	"net/url"
	"path"
	"strings"
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
