package rest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/app-sre/prcheck/internal/jsonpointer"
	"github.com/app-sre/prcheck/internal/retry"
	"github.com/app-sre/prcheck/natives/generic/body"
	"github.com/app-sre/prcheck/natives/generic/operation"
)

// conflicts is how often a write begins again because somebody else was faster.
const conflicts = 3

// Write brings a resource in line with what a planner wants: it reads the resource, asks the
// planner, creates or updates, waits for the operation, and reads back. An operation that goes
// on when the time is over is [ErrPending], with the operation in the result.
func (c *Client) Write(ctx context.Context, t Target, p Planner, m Memory) (Result, error) {
	unlock, err := c.chains.lock(ctx, t.Address.Chain)
	if err != nil {
		return Result{}, err
	}
	defer unlock()
	w := &write{Client: c, t: t, p: p, m: m, result: Result{Did: Nothing}}
	err = w.untilDone(ctx, w.once)
	return w.result, err
}

// once reads the resource, and brings it in line.
func (w *write) once(ctx context.Context) error {
	live, err := w.locate(ctx, &w.t)
	if err == nil && live != nil {
		w.live = *live
	} else if err == nil {
		w.live, err = w.Read(ctx, w.t)
	}
	if err != nil {
		return err
	}
	if err := w.calm(ctx); err != nil {
		return err
	}
	change, err := w.p.Plan(ctx, w.live)
	if err != nil {
		return err
	}
	if w.trim(change); change == nil || w.live.Found && len(change.Paths) == 0 {
		w.result.Live = w.live
		return nil
	}
	w.before = w.live
	if err := w.send(ctx, change); err != nil {
		return err
	}
	return w.verify(ctx)
}

// untilDone repeats the work on a resource, from a fresh reading, when somebody else was faster
// and when it is not known whether the service carried out a request.
func (w *write) untilDone(ctx context.Context, once func(context.Context) error) error {
	races, doubts := 0, 0
	for {
		err := once(ctx)
		var e *Error
		switch {
		case err == nil, w.answered, !errors.As(err, &e):
			return err
		case e.Class == Reread, e.Class == Gone && w.live.Found:
			if races++; races > conflicts {
				return &Error{Class: Reread,
					Message: fmt.Sprintf("somebody else changed it %d times in between; the next run tries again", races)}
			}
		case e.isDoubtful:
			if doubts++; doubts >= w.attempts() {
				return retry.Tried(err, doubts)
			}
			if err := w.Clock.Fill().Sleep(ctx, w.pause(doubts, e.After)); err != nil {
				return err
			}
		default:
			return err
		}
	}
}

// A write is the work on one resource.
type write struct {
	*Client
	t        Target
	p        Planner
	m        Memory
	live     Live     // as it was read last
	before   Live     // as it was before it was changed
	intended bool     // the memory knows that it is created
	answered bool     // the service accepted a request
	removed  []string // pointers of what the change removes
	kept     []string // pointers of lists of children that the desired body leaves out
	result   Result
}

// calm waits for an operation on the resource that nobody knows of: it was begun by a process
// that was killed before it could store it, or by somebody else.
func (w *write) calm(ctx context.Context) error {
	if !w.Family.HasOperations || !w.live.Found {
		return nil
	}
	first := operation.Answer{Status: http.StatusOK, Body: w.live.Body}
	if _, goesOn := operation.Decide(http.MethodPut, first); !goesOn {
		return nil
	}
	if err := w.follow(ctx, http.MethodPut, first); err != nil {
		var e *Error
		if !errors.As(err, &e) || e.Class == Retry {
			return err
		}
		// It failed, and this write may mend it.
	}
	var err error
	w.live, err = w.Read(ctx, w.t)
	return err
}

// send creates or updates the resource, and waits for the operation.
func (w *write) send(ctx context.Context, change *Change) error {
	if !w.live.Found {
		return w.create(ctx, change)
	}
	return w.update(ctx, change)
}

// create creates the resource, unless it is there by now.
func (w *write) create(ctx context.Context, change *Change) error {
	if !w.intended {
		if err := w.m.Intend(ctx); err != nil {
			return fmt.Errorf("storing that it is created: %w", err)
		}
		w.intended = true
	}
	way, media := w.t.Abilities.Create()
	r := w.request(http.MethodPut, w.t.Address.URI(), media)
	content := change.Desired
	switch way {
	case ByApply:
		var err error
		if content, err = body.Set(body.Clone(body.WithoutNulls(content)), w.Family.LockAt, w.Family.NoVersion); err != nil {
			return refusal(0, "the body has no place for %s", w.Family.LockAt)
		}
		r.method, r.uri = http.MethodPatch, w.managed(r.uri)
	case ByPost:
		r.method, r.uri = http.MethodPost, w.path(w.t.Address.CollectionURI())
		r.uri, r.isOnce = w.managed(r.uri), true
		if w.t.Plain != nil {
			content, r.media = w.t.Plain.Creation(content), mediaOf(w.t.Plain.CreatesForm)
		}
	default:
		r.header["If-None-Match"] = "*"
	}
	w.result.Did = Created
	err := w.exchange(ctx, r, content)
	var e *Error
	isKnown := w.t.Plain == nil || !w.t.Plain.GivesID // else somebody else has the name
	if errors.As(err, &e) && way != ByPut && e.Status == http.StatusConflict && !w.answered && isKnown {
		e.Class = Reread // it may be there by now
	}
	if errors.As(err, &e) && e.Class == Gone && !w.answered { // what it stands in is not there
		e.Class, e.isDoubtful = Retry, true
	}
	return err
}

// managed adds the name of the field manager to an address.
func (w *write) managed(uri string) string {
	if w.Family.FieldManager == "" {
		return uri
	}
	return withParameter(uri, "fieldManager", w.Family.FieldManager)
}

func withParameter(uri, name, value string) string {
	u, err := url.Parse(uri)
	if err != nil {
		return uri // it is refused when it is sent
	}
	query := u.Query()
	query.Set(name, value)
	u.RawQuery = query.Encode()
	return u.String()
}

func (w *write) request(method, uri, media string) request {
	return request{method: method, uri: w.path(uri), media: media, header: map[string]string{}, root: w.t.Address.Root,
		about: w.t.Type}
}

// exchange sends a body, and waits until it is carried out.
func (w *write) exchange(ctx context.Context, r request, content any) error {
	if err := w.fill(ctx, &r, content); err != nil {
		return err
	}
	a, err := w.Client.send(ctx, r)
	if err != nil {
		return err
	}
	w.answered = true
	if w.Trial {
		w.live, err = w.Client.live(a)
		return err
	}
	if w.t.Plain != nil && !w.live.Found {
		if err := w.placePlain(a); err != nil {
			return err
		}
	} else if r.method == http.MethodPost {
		w.place(a)
	}
	return w.follow(ctx, r.method, a)
}

// place notes where a service put a new resource, if that is another place than its address.
func (w *write) place(a operation.Answer) {
	location := a.Header.Get("Location")
	if a.Status != http.StatusCreated || location == "" || w.Family.HasOperations {
		return
	}
	if u, err := operation.Resolve(w.Endpoint, location); err == nil && u.EscapedPath() != w.path(w.t.Address.Path) {
		w.result.Path = u.EscapedPath()
		w.t.Address.Path = u.EscapedPath()[len(w.path("")):]
	}
}

// digest identifies a body.
func digest(v any) string { return body.Digest(v) }

func lower(verb string) string { return strings.ToLower(verb) }

// update changes a resource that is there.
func (w *write) update(ctx context.Context, change *Change) error {
	w.result.Did = Updated
	if w.t.Plain != nil {
		return w.updatePlain(ctx, change)
	}
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
