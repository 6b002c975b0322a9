package rest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"

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
	var err error
	if w.live, err = w.Read(ctx, w.t); err != nil {
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
	default:
		r.header["If-None-Match"] = "*"
	}
	w.result.Did = Created
	err := w.exchange(ctx, r, content)
	var e *Error
	if errors.As(err, &e) && way != ByPut && e.Status == http.StatusConflict && !w.answered {
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
	content, err := w.p.Mutate(ctx, Sending{Method: r.method, Path: r.uri, Media: r.media, Body: content,
		Removed: w.removed, Live: w.live})
	if err != nil {
		return err
	}
	if r.body, err = encode(content); err != nil {
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
	if r.method == http.MethodPost {
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
