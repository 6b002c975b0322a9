package cloud

import (
	"fmt"
	"maps"

	"github.com/app-sre/prcheck/natives/generic/body"
	"github.com/app-sre/prcheck/natives/generic/family"
	"github.com/app-sre/prcheck/natives/openapi"
	"github.com/app-sre/prcheck/natives/openapi/resources"
)

// setHabits gives a resource of a plain API the habits of its type, and its body the name of the entry: the member that
// tells it from others, or its id, if the data choose it.
func (r *Resource) setHabits(t *resources.Type, ref family.Reference) {
	h, err := r.API.specs.Plain(t)
	if err != nil {
		r.fail(codeOf(err), "/type", openapi.MessageOf(err))
		return
	}
	r.Plain = h
	switch {
	case r.Delete && !h.Deletes:
		r.fail(CodeFamily, "/delete", "the API has no DELETE for resources of this type")
	case ref.ID != "":
		return
	case h.GivesID && len(h.Key) == 1:
		r.IsSought = true
		r.setName(h.Key[0], ref.Name)
	case h.GivesID:
		r.IsSought = true
		for _, name := range h.Key {
			if v, has := body.Get(r.Body, "/"+name); !has || v == nil {
				r.fail(CodeRequired, "/body/"+name, fmt.Sprintf("the body needs %q, which tells the resource from others", name))
			}
		}
	case t.CreatesByPost() != "" && ref.Name != "":
		r.setName(h.ID, ref.Name)
	}
}

// setName gives a member of the body the name of the entry.
func (r *Resource) setName(member, name string) {
	object, isObject := r.Body.(map[string]any)
	if !isObject {
		return
	}
	if v, has := object[member]; has && v != name {
		r.fail(CodeImmutableID, "/body/"+member, fmt.Sprintf("the resource is known by its %s, which is the name of the entry: "+
			"leave it out of the body, or write the same", member))
		return
	}
	object = maps.Clone(object)
	object[member] = name
	r.Body = object
}
