package generic

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/natives/generic/body"
	"github.com/app-sre/prcheck/natives/generic/cloud"
	"github.com/app-sre/prcheck/natives/generic/family"
	"github.com/app-sre/prcheck/natives/generic/hooks"
	"github.com/app-sre/prcheck/natives/generic/rest"
	"github.com/app-sre/prcheck/natives/native"
	"github.com/app-sre/prcheck/natives/reconcile"
	"github.com/app-sre/prcheck/plan"
)

// complete returns a part whose entries have what the state and the store of secrets know.
// Before the merge of a change no secret is read: the change could name any.
func (g *generic) complete(ctx context.Context, env integration.Environment, p native.Part) (native.Part, error) {
	key, err := readKey(ctx, env.State)
	if err != nil {
		return p, err
	}
	all, err := readPending(ctx, env.State)
	if err != nil {
		return p, err
	}
	base, hasBase := p.OfBase.(*described)
	if !hasBase {
		base = describedBy(&cloud.Model{})
	}
	p.Items = slices.Clone(p.Items)
	for i := range p.Items {
		it := &p.Items[i]
		was, ok := it.Body.(*entry)
		if !ok {
			continue
		}
		e := *was
		e.key, e.pending, e.isDraft, e.now = key, all[it.Key], env.Base != nil, g.Clock.Fill().Now()
		it.Body = &e
		if e.isDraft {
			base.vouch(&e)
		}
		if it.Mistake != (reconcile.Mistake{}) || it.Delete {
			continue
		}
		if err := e.readSecrets(ctx, env); err != nil {
			it.Mistake = reconcile.Mistake{Code: codeSecret, Message: err.Error()}
		}
	}
	return p, nil
}

// A service reads the resources of one part.
type service struct {
	*generic
	client *rest.Client
	target target
	root   string

	entries map[reconcile.Key]*entry
	known   map[reconcile.Key]reconcile.Record
	owner   reconcile.Owner
	now     func() time.Time
}

// open returns the client of a part, which sends requests with a transport.
func (g *generic) open(env integration.Environment, p native.Part, transport http.RoundTripper,
	throttle *rest.Throttle) (*service, error) {
	t, err := targetOf(p)
	if err != nil {
		return nil, err
	}
	u, err := url.Parse(t.URL)
	if err != nil {
		return nil, reconcile.Config(err)
	}
	set, err := readSettings(env.Settings.Own)
	if err != nil {
		return nil, reconcile.Config(err)
	}
	s := &service{generic: g, target: t, root: p.Shard, entries: map[reconcile.Key]*entry{}, known: p.Known,
		owner: reconcile.Owner{Integration: env.Integration, Caller: p.Caller}, now: g.Clock.Fill().Now}
	for _, it := range p.Items {
		if e, isEntry := it.Body.(*entry); isEntry {
			s.entries[it.Key] = e
		}
	}
	s.client = &rest.Client{Family: g.Families(t.Family), Endpoint: u, Transport: transport, Throttle: throttle,
		Clock: g.Clock, Timeout: set.Timeout, Lag: min(set.Patience, set.Timeout),
		Classify: g.classify, Mask: env.Mask}
	if env.Base != nil { // before the merge of a change
		s.client.Patience, s.client.MaxRead = g.patienceWith(u.Host, set), set.ReadsLimit
	}
	return s, nil
}

// patienceWith returns the patience with a service, which all parts share.
func (g *generic) patienceWith(host string, set ownSettings) *rest.Patience {
	g.patienceLock.Lock()
	defer g.patienceLock.Unlock()
	if g.patience == nil {
		g.patience = map[string]*rest.Patience{}
	}
	if g.patience[host] == nil {
		g.patience[host] = &rest.Patience{Idle: set.ReadsIdle}
	}
	return g.patience[host]
}

// classify asks hooks about a failed request.
func (g *generic) classify(typeName string, status int, code, message, at string) rest.Class {
	c, err := g.Hooks.ClassifyError(context.Background(), hooks.Subject{Type: typeName},
		hooks.Failure{Status: status, Code: code, Message: message, Target: at})
	if err != nil {
		return ""
	}
	return rest.Class(c)
}

// current returns the resources of a part: each entry and each one that the state knows is read
// once.
func (g *generic) current(ctx context.Context, env integration.Environment, p native.Part) (native.Current, error) {
	t, err := targetOf(p)
	if err != nil {
		return native.Current{}, err
	}
	if env.Endpoint == nil {
		return native.Current{}, reconcile.Config(errNoEndpoint)
	}
	transport, err := env.Endpoint(ctx, t.EndpointRef)
	if err != nil {
		return native.Current{}, err
	}
	s, err := g.open(env, p, transport, g.reads)
	if err != nil {
		return native.Current{}, err
	}
	c := &collection{service: s, lists: &listing{}, out: native.Current{Unread: map[reconcile.Key]error{},
		Kept: map[reconcile.Key]string{}, Mistakes: map[reconcile.Key]reconcile.Mistake{},
		Partly: map[reconcile.Key]string{}}}
	items := map[string]*reconcile.Item{}
	for i := range p.Items {
		if it := &p.Items[i]; it.Mistake == (reconcile.Mistake{}) {
			items[string(it.Key)] = it
		}
	}
	left := map[string]reconcile.Record{}
	for k, known := range p.Known {
		if !slices.ContainsFunc(p.Items, func(it reconcile.Item) bool { return it.Key == k }) {
			left[string(k)] = known
		}
	}
	keys := append(sortedKeys(items), sortedKeys(left)...)
	if len(keys) == 0 {
		return c.out, nil
	}
	if err := c.findUnlisted(ctx, items, p.Known, env.Workers); err != nil {
		return native.Current{}, err
	}
	errs, err := reconcile.Each(ctx, keys, max(env.Workers, 1), 0, func(ctx context.Context, key string, _ int) error {
		if it := items[key]; it != nil {
			return c.read(ctx, it)
		}
		return c.readLeft(ctx, reconcile.Key(key), left[key])
	})
	if err != nil {
		return native.Current{}, err
	}
	for i, err := range errs {
		if err == nil {
			continue
		}
		if isOfTarget(err) {
			return native.Current{}, err
		}
		c.out.Unread[reconcile.Key(keys[i])] = err
	}
	c.takeAll(ctx, env, items)
	return c.out, nil
}

// isOfTarget reports whether an error is about the endpoint, and not about one resource.
func isOfTarget(err error) bool {
	var e *rest.Error
	return !errors.As(err, &e) || e.Status == 0 && e.Code == "" || e.Status == http.StatusUnauthorized
}

// A collection takes what is read.
type collection struct {
	*service
	lists *listing
	mu    sync.Mutex
	out   native.Current
}

// read reads the resource of an entry.
func (c *collection) read(ctx context.Context, it *reconcile.Item) error {
	e, ok := it.Body.(*entry)
	if !ok {
		return fmt.Errorf("the item %q has a body of type %T", it.Key, it.Body)
	}
	if why := c.unvouched(e); why != "" {
		c.leaveUnasked(it.Key, why)
		return nil
	}
	thing, ready, err := c.look(ctx, e, it.Key, c.lists)
	if m, isAmbiguous := mistakeOfSearch(err); isAmbiguous {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.out.Mistakes[it.Key] = m
		return nil
	}
	if err != nil {
		return err
	}
	if thing == nil {
		e.presence = absent
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.judge(e, it, thing)
	switch {
	case thing != nil:
		c.out.Things = append(c.out.Things, *thing)
		if is, _ := thing.Body.(found); e.isWithheld(is.live.Body) {
			c.out.Partly[it.Key] = whyPlaces
		}
	case !it.Delete && it.Policy != reconcile.Observe && e.of.Adopt == "required":
		c.out.Mistakes[it.Key] = reconcile.Mistake{Code: codeAbsent,
			Message: "adopt is required, and there is no such resource: correct the name, or say adopt: if-exists"}
	}
	if thing == nil && !it.Delete {
		switch {
		case ready.Decision == hooks.Block:
			c.out.Mistakes[it.Key] = reconcile.Mistake{Code: plan.FindingCode(ready.Code), Message: ready.Reason}
		case ready.Decision == hooks.Postpone && len(ready.First) == 0: // or a run makes these calls
			c.out.Kept[it.Key] = ready.Reason
		}
	}
	return nil
}

// hooked returns what hooks are told, with what they can read.
func (s *service) hooked(e *entry, live any) hooks.Subject {
	x := e.forHooks(nil, live)
	x.Read = func(ctx context.Context, path string) (hooks.Answer, error) {
		at, query, _ := strings.Cut(path, "?")
		values, err := url.ParseQuery(query)
		if err != nil {
			return hooks.Answer{}, err
		}
		live, err := s.client.Read(ctx,
			rest.Target{Type: e.of.TypeID(), Address: family.Address{Path: at, ID: at, Root: e.of.Address.Root, Query: values}})
		switch {
		case err != nil:
			return hooks.Answer{}, err
		case !live.Found:
			return hooks.Answer{Status: http.StatusNotFound}, nil
		}
		return hooks.Answer{Status: http.StatusOK, Body: live.Body}, nil
	}
	return x
}

// thing returns a resource as it was read. One that we were about to create is ours.
func (s *service) thing(ctx context.Context, e *entry, key reconcile.Key, live rest.Live) (*reconcile.Thing, error) {
	var err error
	if live.Body, err = s.Hooks.PostRead(ctx, s.hooked(e, live.Body)); err != nil {
		return nil, err
	}
	is := found{live: live}
	if is.leaves, err = s.Hooks.Compare(ctx, s.hooked(e, live.Body)); err != nil {
		return nil, err
	}
	thing := &reconcile.Thing{Key: key, Body: is, Parent: e.of.Around, Needs: e.of.Needs, Version: live.ETag}
	thing.Mark = s.markOf(e, live.Body)
	thing.Unmarkable = !e.canMark()
	if thing.Unmarkable && e.of.IsSought && e.pending.Intended { // the state is the only memory
		thing.Mark = s.owner.Mark()
	}
	thing.SoftDeleted = isGoing(live.Body)
	return thing, nil
}

// isGoing reports whether a resource is being deleted.
func isGoing(live any) bool {
	if at, _ := body.Get(live, "/metadata/deletionTimestamp"); at != nil {
		return true
	}
	now, _ := body.Get(live, "/properties/provisioningState")
	text, _ := now.(string)
	return strings.EqualFold(text, "Deleting")
}

// readLeft reads a resource that no entry names any more.
func (c *collection) readLeft(ctx context.Context, key reconcile.Key, known reconcile.Record) error {
	was, _, ok := recordOf(known)
	if !ok {
		return nil
	}
	at, query, _ := strings.Cut(was.URI, "?")
	values, err := url.ParseQuery(query)
	if err != nil {
		return err
	}
	live, err := c.client.Read(ctx,
		rest.Target{Type: was.Type, Address: family.Address{Path: at, ID: was.ID, Root: c.root, Query: values}})
	if err != nil || !live.Found {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if was.Envelope != "" {
		if inner, has := body.Get(live.Body, "/"+was.Envelope); has {
			live.Body = inner
		}
	}
	c.out.Things = append(c.out.Things, reconcile.Thing{Key: key, Body: found{live: live},
		Mark: markOf(c.client.Family, live.Body), Version: live.ETag})
	return nil
}
