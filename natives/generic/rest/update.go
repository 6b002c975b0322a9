package rest

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/app-sre/prcheck/internal/jsonpointer"
	"github.com/app-sre/prcheck/natives/generic/body"
)

func lower(verb string) string { return strings.ToLower(verb) }

// update changes a resource that is there.
func (w *write) update(ctx context.Context, change *Change) error {
	w.result.Did = Updated
	way, media := w.t.Abilities.Update(change.Paths, change.Removed)
	switch {
	case way == ByApply && change.IsPart:
		return w.patch(ctx, change.Merge, mediaMerge)
	case way == ByApply:
		return w.apply(ctx, change)
	case way == ByPatch:
		return w.patch(ctx, change.Merge, media)
	}
	return w.replace(ctx, change)
}

// patch sends a merge patch.
func (w *write) patch(ctx context.Context, merge any, media string) error {
	merge = w.withoutInline(merge)
	r := w.request(http.MethodPatch, w.t.Address.URI(), media)
	r.uri = w.managed(r.uri)
	merge, err := w.lock(&r, merge)
	if err != nil {
		return err
	}
	return w.exchange(ctx, r, merge)
}

// replace sends a whole body in place of what was read. Without a lock it is read again just
// before.
func (w *write) replace(ctx context.Context, change *Change) error {
	content := w.withInline(change.Put)
	r := w.request(http.MethodPut, w.t.Address.URI(), mediaJSON)
	r.uri = w.managed(r.uri)
	if w.live.ETag == "" {
		again, err := w.Read(ctx, w.t)
		if err != nil {
			return err
		}
		if !again.Found || digest(again.Body) != digest(w.live.Body) {
			return &Error{Class: Reread, Message: "it changed since it was read"}
		}
		w.note(Note{Code: "NO_LOCK", Text: "the service has no versions: a change of somebody else at the same moment " +
			"would be lost"})
	}
	content, err := w.lock(&r, content)
	if err != nil {
		return err
	}
	return w.exchange(ctx, r, content)
}

// lock makes a request conditional on the version that was read, if there is one. It returns
// the body to send.
func (w *write) lock(r *request, content any) (any, error) {
	switch {
	case w.live.ETag == "":
		return content, nil
	case !w.Family.LocksInBody:
		r.header["If-Match"] = w.live.ETag
		return content, nil
	}
	out, err := body.Set(content, w.Family.LockAt, w.live.ETag)
	if err != nil {
		return nil, refusal(0, "the body has no place for %s", w.Family.LockAt)
	}
	return out, nil
}

// note adds a note once.
func (w *write) note(n Note) {
	if !slices.Contains(w.result.Notes, n) {
		w.result.Notes = append(w.result.Notes, n)
	}
}

// trim takes the lists of children out of a change, where the desired body says nothing about
// them: they are left as they are.
func (w *write) trim(change *Change) {
	w.kept, w.removed = nil, nil
	if change == nil || !w.live.Found {
		return
	}
	for _, pointer := range w.t.Inline {
		if _, isDesired := body.Get(change.Desired, pointer); !isDesired {
			w.kept = append(w.kept, pointer)
		}
	}
	isOurs := func(path string) bool { return !w.keeps(path) }
	trimmed := *change
	trimmed.Paths, trimmed.Removed = filter(change.Paths, isOurs), filter(change.Removed, isOurs)
	*change, w.removed = trimmed, trimmed.Removed
}

// keeps reports whether a path is in a list of children that is left as it is.
func (w *write) keeps(path string) bool {
	return slices.ContainsFunc(w.kept, func(list string) bool { return path == list || strings.HasPrefix(path, list+"/") })
}

func filter(paths []string, keep func(string) bool) []string {
	var out []string
	for _, p := range paths {
		if keep(p) {
			out = append(out, p)
		}
	}
	return out
}

// withInline puts the lists of children that are left as they are into a body: a PUT without
// them would delete the children.
func (w *write) withInline(content any) any {
	for _, pointer := range w.kept {
		live, _ := body.Get(w.live.Body, pointer)
		items, _ := live.([]any)
		now, _ := body.Get(content, pointer)
		if same, _ := now.([]any); len(same) == len(items) {
			continue // all items, without what the service fills in
		}
		if out, err := body.Set(content, pointer, live); err == nil {
			content = out
		}
	}
	return content
}

// withoutInline takes the lists of children that are left as they are out of a merge patch.
func (w *write) withoutInline(merge any) any {
	for _, pointer := range w.kept {
		merge = without(merge, jsonpointer.Split(pointer))
	}
	return merge
}

// without returns a value without the member at a path. Objects around it that become empty go
// as well.
func without(v any, path []string) any {
	object, ok := v.(map[string]any)
	if !ok || len(path) == 0 {
		return v
	}
	inner, ok := object[path[0]]
	if !ok {
		return v
	}
	out := make(map[string]any, len(object))
	for name, member := range object {
		out[name] = member
	}
	rest := without(inner, path[1:])
	if left, isObject := rest.(map[string]any); len(path) == 1 || isObject && len(left) == 0 {
		delete(out, path[0])
	} else {
		out[path[0]] = rest
	}
	return out
}
