package resources

import (
	"slices"

	"github.com/app-sre/prcheck/natives/openapi"
)

// A PatchKind says what PATCH of a type can do.
type PatchKind string

// The kinds of PATCH.
const (
	PatchNone      PatchKind = "none"        // there is no PATCH
	PatchOpaque    PatchKind = "opaque"      // it takes any object, and does not say which
	PatchSameAsPut PatchKind = "same-as-put" // it takes what PUT takes
	PatchTagsOnly  PatchKind = "tags-only"   // it takes tags only
	PatchReal      PatchKind = "real"        // it takes some properties of the resource itself
	PatchOther     PatchKind = "other"       // it takes none of them
)

// envelope is the names that all resources have, whatever they are. A PATCH that takes no
// others says nothing about a resource.
var envelope = []string{"id", "name", "type", "location", "tags", "etag", "systemData"}

// IsEnvelope reports whether a name is one that all resources have.
func IsEnvelope(name string) bool { return slices.Contains(envelope, name) }

// Bodies are the schemas of what a type takes and answers. A schema is nil if there is no such
// operation, or if its body is not described: HasX tells which.
type Bodies struct {
	Get, Put, Patch, Post             *openapi.Schema
	HasGet, HasPut, HasPatch, HasPost bool
	PatchMedia                        []string // the media types of PATCH
}

// Bodies returns the schemas of a type.
func (t *Type) Bodies() (Bodies, error) {
	view := t.Document.View()
	var b Bodies
	var err error
	if o, ok := t.address.Operation("get"); ok {
		b.HasGet = true
		if b.Get, err = o.Answer(view); err != nil {
			return b, err
		}
	}
	if o, ok := t.address.Operation("put"); ok {
		b.HasPut = true
		if b.Put, _, err = o.Body(view); err != nil {
			return b, err
		}
	}
	if o, ok := t.address.Operation("patch"); ok {
		b.HasPatch = true
		if b.Patch, b.PatchMedia, err = o.Body(view); err != nil {
			return b, err
		}
	}
	if t.collection != nil {
		o, _ := t.collection.Operation("post")
		b.HasPost = true
		if b.Post, _, err = o.Body(view); err != nil {
			return b, err
		}
	}
	if t.Family == Plain {
		err = t.unwrap(&b)
	}
	return b, err
}

// PatchKind returns what PATCH can do.
func (b Bodies) PatchKind() (PatchKind, error) {
	if !b.HasPatch {
		return PatchNone, nil
	}
	isOpen, err := b.Patch.IsOpen()
	if err != nil {
		return "", err
	}
	put := b.Put
	if put == nil {
		put = b.Post
	}
	isSame, err := isSame(put, b.Patch)
	if err != nil {
		return "", err
	}
	names, err := b.Patch.Properties()
	switch {
	case err != nil:
		return "", err
	case isOpen || len(names) == 0:
		return PatchOpaque, nil
	case isSame:
		return PatchSameAsPut, nil
	case len(names) == 1 && names[0] == "tags":
		return PatchTagsOnly, nil
	}
	for _, name := range names {
		p, err := put.Property(name)
		if err != nil {
			return "", err
		}
		if p != nil && !slices.Contains(envelope, name) {
			return PatchReal, nil
		}
	}
	return PatchOther, nil
}

// isSame reports whether two schemas are one definition, or the same text.
func isSame(a, b *openapi.Schema) (bool, error) {
	if a == nil || b == nil {
		return false, nil
	}
	for _, t := range a.Targets() {
		if slices.Contains(b.Targets(), t) {
			return true, nil
		}
	}
	left, err := a.Place().Value.MarshalJSON()
	if err != nil {
		return false, err
	}
	right, err := b.Place().Value.MarshalJSON()
	return err == nil && string(left) == string(right), err
}

// Verbs returns the verbs of a type: get, put, patch, delete.
func (t *Type) Verbs() []string {
	return slices.DeleteFunc(t.address.Verbs(), func(verb string) bool { return verb == "post" })
}

// CreatesByPost returns the path of the collection on which POST creates, "" if there is
// none.
func (t *Type) CreatesByPost() string {
	if t.collection == nil {
		return ""
	}
	return t.collection.Path
}

// A Style says how an operation works that changes something.
type Style struct {
	Verb        string
	LongRunning bool   // it goes on after its answer
	FinalState  string // where its result is then, "" if that is not declared
	Locks       bool   // it takes If-Match
}

// Styles returns how PUT, PATCH and DELETE of a type work, as far as it has them.
func (t *Type) Styles() ([]Style, error) {
	var out []Style
	for _, verb := range []string{"put", "patch", "delete"} {
		o, ok := t.address.Operation(verb)
		if !ok {
			continue
		}
		lock, err := o.Header("If-Match")
		if err != nil {
			return nil, err
		}
		out = append(out, Style{
			Verb:        verb,
			LongRunning: o.Keyword("x-ms-long-running-operation").Is(),
			FinalState:  o.Keyword("x-ms-long-running-operation-options").Get("final-state-via").Text(),
			Locks:       lock.Value != nil,
		})
	}
	return out, nil
}
