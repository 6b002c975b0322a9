package generic

import (
	"cmp"
	"maps"
	"slices"

	"github.com/app-sre/prcheck/internal/jsonpointer"
	"github.com/app-sre/prcheck/natives/generic/body"
	"github.com/app-sre/prcheck/natives/generic/cloud"
	"github.com/app-sre/prcheck/natives/generic/family"
	"github.com/app-sre/prcheck/natives/openapi/resources"
	"github.com/app-sre/prcheck/natives/reconcile"
)

// marksOf returns the tags or annotations that make a mark in a family.
func marksOf(f *family.Family, m reconcile.Mark) (map[string]string, error) {
	if f.Marks == family.Kubernetes.Marks {
		return m.Annotations(), nil
	}
	return m.Tags()
}

// markOf returns the mark of a resource.
func markOf(f *family.Family, live any) reconcile.Mark {
	if f.Marks == "" {
		return reconcile.Mark{}
	}
	texts := map[string]string{}
	v, _ := body.Get(live, f.Marks)
	object, _ := v.(map[string]any)
	for name, value := range object {
		if text, isText := value.(string); isText {
			texts[name] = text
		}
	}
	if f.Marks == family.Kubernetes.Marks {
		return reconcile.MarkOfAnnotations(texts)
	}
	return reconcile.MarkOfTags(texts)
}

// markOf returns the mark of the resource of an entry.
func (s *service) markOf(e *entry, live any) reconcile.Mark {
	if e.of.Plain != nil {
		return e.of.Plain.Marks.Of(live)
	}
	return markOf(s.client.Family, live)
}

// canMark reports whether the resource of an entry can have a mark.
func (e *entry) canMark() bool {
	if e.of.Plain != nil {
		return e.of.Plain.Marks.Member != ""
	}
	return canMark(e.family, e.of.API.Specs(), e.of.Of)
}

// canMark reports whether resources of a type can have a mark.
func canMark(f *family.Family, specs *cloud.Specs, of *resources.Type) bool {
	return f.Marks != "" && specs.Has(of, f.Marks)
}

// marked returns a desired body with a mark. live is the resource as it is, nil if it is not there.
func (e *entry) marked(desired, live any, m reconcile.Mark) (any, error) {
	switch {
	case !e.canMark():
		return desired, nil
	case e.of.Plain != nil:
		return e.of.Plain.Marks.Put(desired, live, m)
	}
	texts, err := marksOf(e.family, m)
	if err != nil {
		return nil, err
	}
	out := body.Clone(desired)
	if v, _ := body.Get(out, e.family.Marks); v == nil {
		if out, err = body.Set(out, e.family.Marks, map[string]any{}); err != nil {
			return nil, err
		}
	}
	for _, name := range sortedKeys(texts) {
		if out, err = body.Set(out, jsonpointer.Append(e.family.Marks, name), texts[name]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }
