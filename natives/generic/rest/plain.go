package rest

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/app-sre/prcheck/natives/generic/body"
	"github.com/app-sre/prcheck/natives/generic/operation"
	"github.com/app-sre/prcheck/natives/generic/plain"
)

const mediaForm = "application/x-www-form-urlencoded"

// A Place is where a resource is whose id the service gives.
type Place struct {
	Path       string // "" if it is not there
	Collection string // the path on which POST creates it
	Front      string // the path in front of its id
	Live       *Live  // as it was read to find it, nil if it was not
}

// locate finds the place of a resource whose id the service gives, and makes its target one with a known address.
func (c *Client) locate(ctx context.Context, t *Target) (*Live, error) {
	if t.Find == nil {
		return nil, nil
	}
	at, err := t.Find(ctx)
	if err != nil {
		return nil, err
	}
	if t.Address.Collection = at.Collection; at.Path == "" {
		t.Address.Path = at.Front + "/" + url.PathEscape(t.Address.Name)
		return &Live{}, nil
	}
	t.Address.Path, t.Find = at.Path, nil
	return at.Live, nil
}

// ListPlain reads all items of a collection of a plain API, page by page. A page that cannot be read is an error.
func (c *Client) ListPlain(ctx context.Context, t Target, path string) ([]any, error) {
	l := plain.Lister{Habits: t.Plain}
	uri := c.path(path)
	for range maxPages {
		a, err := c.send(ctx, c.question(t, uri))
		if err != nil {
			return nil, err
		}
		next, err := l.Add(a.Body, a.Header)
		switch {
		case err != nil:
			return nil, refusal(a.Status, "%s", c.text(err.Error()))
		case next == nil:
			return l.Items, nil
		}
		was := uri
		if uri, err = c.nextPage(c.path(path), next); err != nil {
			return nil, err
		}
		if uri == was {
			return nil, refusal(a.Status, "the next page of the collection is the same page")
		}
	}
	return nil, refusal(0, "the collection has more than %d pages", maxPages)
}

// nextPage returns the address of the next page of a list: a query that is added to its path, or a whole address.
func (c *Client) nextPage(path string, next *url.URL) (string, error) {
	if next.Path == "" && next.Host == "" {
		return path + "?" + next.RawQuery, nil
	}
	u, err := c.address(next.String())
	if err != nil {
		return "", err
	}
	return u.RequestURI(), nil
}

// updatePlain changes a resource of a plain API: by its actions, then by its update.
func (w *write) updatePlain(ctx context.Context, change *Change) error {
	requests, err := w.t.Plain.Requests(change.Paths, change.Put)
	if err != nil {
		return &Error{Class: Fatal, Code: "CREATE_ONLY", Message: err.Error()}
	}
	for _, q := range requests {
		if q.Verb == http.MethodPut && q.Action == nil && w.live.ETag == "" {
			if err := w.isUnchanged(ctx); err != nil {
				return err
			}
		}
		r := w.request(q.Verb, w.t.Address.URI(), mediaOf(q.IsForm))
		if q.Action != nil {
			if err := w.act(ctx, r, q); err != nil {
				return err
			}
			continue
		}
		if w.live.ETag != "" {
			r.header["If-Match"] = w.live.ETag
		}
		r.isOnce = q.Verb == http.MethodPost
		if err := w.exchange(ctx, r, q.Body); err != nil {
			return err
		}
	}
	return nil
}

func mediaOf(isForm bool) string {
	if isForm {
		return mediaForm
	}
	return mediaJSON
}

// isUnchanged returns an error if a resource without versions is not as it was read. Actions of this write change it.
func (w *write) isUnchanged(ctx context.Context) error {
	again, err := w.Read(ctx, w.t)
	if err != nil {
		return err
	}
	if !again.Found || digest(again.Body) != digest(w.live.Body) {
		return &Error{Class: Reread, Message: "it changed since it was read"}
	}
	w.note(Note{Code: "NO_LOCK", Text: "the service has no versions: a change of somebody else at the same moment " +
		"would be lost"})
	return nil
}

// act sends the request of an action, and waits until the action ends.
func (w *write) act(ctx context.Context, r request, q plain.Request) error {
	r.uri = w.path(w.below(q.Path))
	r.isOnce = true
	if err := w.fill(ctx, &r, q.Body); err != nil {
		return err
	}
	a, err := w.Client.send(ctx, r)
	if err != nil {
		return err
	}
	w.answered = true
	if o := w.began(a, q.Action); o != nil {
		ending := w.follower(w.t, w.m).Follow(ctx, o)
		switch ending.Outcome {
		case operation.Failed:
			e := w.failed(ending, w.t.Type)
			w.reclassify(e, w.t.Type)
			return e
		case operation.Pending:
			w.result.Operation = o
			return pending(ctx, ending.Err)
		}
	}
	w.live, err = w.Read(ctx, w.t)
	return err
}

// below returns the path of an action of the resource: what stands behind the address of the type stands behind the
// resource.
func (w *write) below(path string) string {
	own := strings.Count(w.t.Plain.Path, "/")
	parts := strings.Split(path, "/")
	return w.t.Address.Path + "/" + strings.Join(parts[min(own+1, len(parts)):], "/")
}

// began returns the action that an answer says to go on, nil if it says nothing or that all is done.
func (w *write) began(a operation.Answer, of *plain.Action) *operation.Operation {
	object, _ := member(a.Body, of.Shape.Envelope).(map[string]any)
	id, hasID := body.Get(object, "/id")
	if object == nil || !hasID || of.Shape.Poll == "" {
		return nil
	}
	parts := strings.Split(of.Shape.Poll, "/")
	last := len(parts) - 1
	parts[last] = url.PathEscape(strings.Trim(body.Canonical(id), `"`))
	path := strings.Join(parts, "/")
	if strings.Contains(path, "{") { // it is below the resource
		own := strings.Count(w.t.Plain.Path, "/")
		path = w.t.Address.Path + "/" + strings.Join(parts[min(own+1, last):], "/")
	}
	return &operation.Operation{Verb: http.MethodPost, Resource: w.path(w.t.Address.URI()), Kind: operation.Status,
		Address: w.path(path), Began: w.Clock.Fill().Now().UTC(), Wait: 1}
}

// fill puts a body into a request, in the form that its media type has.
func (w *write) fill(ctx context.Context, r *request, content any) error {
	content, err := w.p.Mutate(ctx, Sending{Method: r.method, Path: r.uri, Media: r.media, Body: content,
		Removed: w.removed, Live: w.live})
	if err != nil {
		return err
	}
	if r.media == mediaForm {
		r.body = plain.Form(content)
		return nil
	}
	r.body, err = encode(content)
	return err
}

// placePlain notes the address of a new resource by the id that the service gave it.
func (w *write) placePlain(a operation.Answer) error {
	id := w.t.Plain.Identity(w.t.Plain.Unwrap(a.Body))
	if !w.t.Plain.GivesID {
		return nil
	}
	if id == "" || strings.ContainsAny(id, "/?#%\x00") || id == "." || id == ".." {
		return &Error{Class: Retry, Status: a.Status,
			Message: fmt.Sprintf("the service created it, and its answer has no usable %s: the next run looks for it", w.t.Plain.ID)}
	}
	w.t.Address.Path = w.t.Address.Path[:strings.LastIndexByte(w.t.Address.Path, '/')+1] + url.PathEscape(id)
	w.t.Find = nil
	w.result.Path = w.t.Address.Path
	return nil
}

// IsRefusal reports whether the service certainly did not carry out a request.
func (e *Error) IsRefusal() bool {
	return e.isUnheard && !e.isDoubtful || e.Status >= 400 && e.Status < 500 && e.Status != http.StatusRequestTimeout
}

// Ask sends the POST of an action that only reads, below the address of a resource, and returns what it answers.
func (c *Client) Ask(ctx context.Context, t Target, action string) (Live, error) {
	path, query, hasQuery := strings.Cut(t.Address.URI(), "?")
	path += "/" + url.PathEscape(action)
	if hasQuery {
		path += "?" + query
	}
	a, err := c.send(ctx, request{method: http.MethodPost, uri: c.path(path), root: t.Address.Root, about: t.Type})
	if err != nil {
		return Live{}, err
	}
	return c.live(a)
}
