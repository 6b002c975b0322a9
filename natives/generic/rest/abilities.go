package rest

import (
	"fmt"
	"mime"
	"slices"
	"strings"
	"sync"

	"github.com/app-sre/prcheck/internal/jsonpointer"
	"github.com/app-sre/prcheck/natives/generic/family"
	"github.com/app-sre/prcheck/natives/openapi/classes"
	"github.com/app-sre/prcheck/natives/openapi/resources"
)

// Abilities say what requests a type takes.
type Abilities struct {
	Verbs      []string // get, put, patch, delete
	HasPost    bool     // POST on the collection creates
	PutCreates bool     // PUT creates what is not there
	// Applies says that what is not there is created by server-side apply, too: so its fields
	// have one manager from the first day.
	Applies    bool
	PatchKind  resources.PatchKind
	PatchMedia []string // the media types of PATCH
	// PatchTakes reports whether PATCH takes a property, by its JSON pointer; nil is never.
	PatchTakes func(pointer string) bool
	// NullIsValue reports whether null is a value of a property in what PATCH takes, so that PATCH cannot
	// say that the property goes; nil is never.
	NullIsValue func(pointer string) bool
	// PatchMerges says that an override allows PATCH with merge patches.
	PatchMerges bool
	// FinalState is where a verb, in lower case, declares the result of a long-running operation.
	FinalState map[string]string
}

// A Way is how a resource is created or updated.
type Way string

// The ways.
const (
	ByPut     Way = "PUT"     // a whole body that creates
	ByPost    Way = "POST"    // a whole body on the collection
	ByApply   Way = "APPLY"   // server-side apply
	ByPatch   Way = "PATCH"   // a merge patch
	ByReplace Way = "GET+PUT" // a whole body in place of what was read
)

// The media types of requests.
const (
	mediaJSON  = "application/json"
	mediaMerge = "application/merge-patch+json"
	mediaApply = "application/apply-patch+yaml"
)

// Create returns how a resource is created that is not there, and the media type of its body.
func (a Abilities) Create() (Way, string) {
	if a.Applies {
		return ByApply, mediaApply
	}
	if a.HasPost && (!a.PutCreates || !slices.Contains(a.Verbs, "put")) {
		return ByPost, mediaJSON
	}
	return ByPut, mediaJSON
}

// Update returns how properties are changed, and the media type of the body. The paths are
// JSON pointers; the removed ones are those of what goes.
func (a Abilities) Update(paths, removed []string) (Way, string) {
	switch {
	case a.declares(mediaApply):
		return ByApply, mediaApply
	case a.declares(mediaMerge):
		return ByPatch, mediaMerge
	case a.NullIsValue != nil && slices.ContainsFunc(removed, a.NullIsValue):
		return ByReplace, mediaJSON
	case a.PatchMerges:
		return ByPatch, mediaJSON
	case a.PatchKind != resources.PatchReal && a.PatchKind != resources.PatchTagsOnly:
		return ByReplace, mediaJSON
	case a.PatchTakes == nil || slices.ContainsFunc(paths, func(p string) bool { return !a.PatchTakes(p) }):
		return ByReplace, mediaJSON
	}
	return ByPatch, mediaJSON
}

// declares reports whether PATCH declares a media type.
func (a Abilities) declares(media string) bool {
	return slices.ContainsFunc(a.PatchMedia, func(declared string) bool {
		name, _, err := mime.ParseMediaType(declared)
		return err == nil && name == media
	})
}

// AbilitiesOf returns what a type takes. The classifier must not be used elsewhere at the same
// time as PatchTakes without the lock, which may be nil.
func AbilitiesOf(f *family.Family, t *resources.Type, c *classes.Classifier, lock sync.Locker) (Abilities, error) {
	bodies, err := t.Bodies()
	if err != nil {
		return Abilities{}, fmt.Errorf("reading what %s takes: %w", t.ID(), err)
	}
	kind, err := bodies.PatchKind()
	if err != nil {
		return Abilities{}, fmt.Errorf("reading what PATCH of %s takes: %w", t.ID(), err)
	}
	styles, err := t.Styles()
	if err != nil {
		return Abilities{}, fmt.Errorf("reading the verbs of %s: %w", t.ID(), err)
	}
	if lock == nil {
		lock = new(sync.Mutex)
	}
	a := Abilities{Verbs: t.Verbs(), HasPost: t.CreatesByPost() != "", PutCreates: f.PutCreates, PatchKind: kind,
		PatchMedia: bodies.PatchMedia, PatchMerges: c.Patch() != nil, FinalState: map[string]string{},
		PatchTakes: func(pointer string) bool {
			lock.Lock()
			defer lock.Unlock()
			return patchTakes(c, pointer)
		}}
	a.NullIsValue = func(pointer string) bool {
		lock.Lock()
		defer lock.Unlock()
		p, err := c.Explain(pointer)
		return err == nil && p.NullInPatch
	}
	a.Applies = f.NoVersion != "" && a.declares(mediaApply)
	for _, s := range styles {
		a.FinalState[s.Verb] = s.FinalState
	}
	return a, nil
}

// patchTakes reports whether the body of PATCH has a property. Of a path into a list or map the
// part counts that the specification knows.
func patchTakes(c *classes.Classifier, pointer string) bool {
	known := ""
	isTaken := false
	for _, key := range jsonpointer.Split(pointer) {
		p, err := c.Explain(jsonpointer.Append(known, key))
		if err != nil {
			break
		}
		known, isTaken = p.Pattern, p.Patched == classes.Present
		if !isTaken {
			return false
		}
	}
	return isTaken
}

// Inlines returns the JSON pointers of the lists in the body of a type whose items are
// resources of their own, such as the subnets of a network: a child type has their name.
func Inlines(t *resources.Type, types []*resources.Type, c *classes.Classifier) []string {
	var out []string
	for _, child := range types {
		if !strings.EqualFold(child.Parent, t.Name) {
			continue
		}
		name := child.Name[strings.LastIndexByte(child.Name, '/')+1:]
		for _, pointer := range []string{"/properties/" + jsonpointer.Escape(name), "/" + jsonpointer.Escape(name)} {
			p, err := c.Explain(pointer)
			if err == nil && p.Type == "array" && p.ReadOnly == nil && !slices.Contains(out, p.Pattern) {
				out = append(out, p.Pattern)
			}
		}
	}
	slices.Sort(out)
	return out
}
