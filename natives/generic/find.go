package generic

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"sync"

	"github.com/app-sre/prcheck/natives/generic/family"
	"github.com/app-sre/prcheck/natives/generic/plain"
	"github.com/app-sre/prcheck/natives/generic/rest"
	"github.com/app-sre/prcheck/natives/reconcile"
	"github.com/app-sre/prcheck/plan"
)

// Resources of plain APIs get their ids from the service. Such a resource is found by the id that the state has, else
// by its natural key in the list of its collection. What a list does not show is not there; a list that is not read
// to its end shows nothing.

// A listing is the items of collections that were read already. It is shared by what is read at once.
type listing struct {
	mu    sync.Mutex
	items map[string]*listed // by collection
}

// A listed is the items of one collection. They are read once.
type listed struct {
	once  sync.Once
	items []any
	err   error
}

// of returns the items of a collection.
func (l *listing) of(collection string, read func() ([]any, error)) ([]any, error) {
	l.mu.Lock()
	if l.items == nil {
		l.items = map[string]*listed{}
	}
	one := l.items[collection]
	if one == nil {
		one = &listed{}
		l.items[collection] = one
	}
	l.mu.Unlock()
	one.once.Do(func() { one.items, one.err = read() })
	return one.items, one.err
}

// finder returns what finds the resource of an entry, nil if its address is known. Without a listing the collection is
// read each time.
func (s *service) finder(e *entry, l *listing) func(context.Context) (rest.Place, error) {
	if !e.of.IsSought && s.above(e) == nil {
		return nil
	}
	return func(ctx context.Context) (rest.Place, error) { return s.find(ctx, e, l) }
}

// above returns the entry around an entry whose id is not known before it is found, nil if there is none.
func (s *service) above(e *entry) *entry {
	around := s.entries[e.of.Around]
	if around == nil || !around.of.IsSought && s.above(around) == nil {
		return nil
	}
	return around
}

// find finds a resource.
func (s *service) find(ctx context.Context, e *entry, l *listing) (rest.Place, error) {
	path, collection := e.of.Address.Path, e.of.Address.Collection
	if around := s.above(e); around != nil {
		at, err := s.find(ctx, around, l)
		if err != nil || at.Path == "" {
			return rest.Place{}, err
		}
		path, collection = moved(path, around, at.Path), moved(collection, around, at.Path)
	}
	out := rest.Place{Collection: collection, Front: path[:strings.LastIndexByte(path, '/')]}
	if !e.of.IsSought {
		out.Path = path
		e.at.set(out.Path)
		return out, nil
	}
	for _, known := range s.knownPaths(e) {
		live, err := s.client.Read(ctx, s.targetAt(e, known))
		if err != nil {
			return rest.Place{}, err
		}
		if live.Found {
			out.Path, out.Live = known, &live
			e.at.set(out.Path)
			return out, nil
		}
	}
	id, err := s.search(ctx, e, collection, l)
	if err != nil || id == "" {
		e.at.set("")
		return out, err
	}
	out.Path = out.Front + "/" + url.PathEscape(id)
	live, err := s.client.Read(ctx, s.targetAt(e, out.Path))
	switch {
	case err != nil:
		return rest.Place{}, err
	case !live.Found:
		return rest.Place{Collection: collection, Front: out.Front}, nil
	}
	out.Live = &live
	e.at.set(out.Path)
	return out, nil
}

// moved returns a path with the address of what it stands in.
func moved(path string, around *entry, to string) string {
	if below, isBelow := strings.CutPrefix(path, around.of.Address.Path+"/"); isBelow {
		return to + "/" + below
	}
	return path
}

// A foundAt is the path at which a resource was found, "" if it was not. What stands in the resource looks for it as
// well, at the same time.
type foundAt struct {
	mu   sync.Mutex
	path string
}

func (f *foundAt) get() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.path
}

func (f *foundAt) set(path string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.path = path
}

// knownPaths returns where a resource was: where this run found it, else where the state has it.
func (s *service) knownPaths(e *entry) []string {
	if path := e.at.get(); path != "" {
		return []string{path}
	}
	was, _, ok := recordOf(s.known[e.of.Key])
	if !ok || was.URI == "" || was.URI == e.of.Address.URI() {
		return nil
	}
	return []string{was.URI}
}

// search returns the id of the resource that has the natural key of an entry, "" if none has.
func (s *service) search(ctx context.Context, e *entry, collection string, l *listing) (string, error) {
	read := func() ([]any, error) { return s.client.ListPlain(ctx, s.targetAt(e, collection), collection) }
	var items []any
	var err error
	if l != nil {
		items, err = l.of(collection, read)
	} else {
		items, err = read()
	}
	if err != nil {
		return "", err
	}
	one, err := e.of.Plain.Choose(e.of.Plain.Matches(items, e.desired), s.owner.Mark(), e.pending.Intended)
	if err != nil || one == nil {
		return "", err
	}
	id := e.of.Plain.Identity(one)
	if id == "" || id == "." || id == ".." {
		return "", &rest.Error{Class: rest.Fatal, Code: string(plain.CodeDescription),
			Message: fmt.Sprintf("an item of the collection has no usable %s", e.of.Plain.ID)}
	}
	return id, nil
}

// targetAt returns the resource of an entry at an address.
func (s *service) targetAt(e *entry, path string) rest.Target {
	a := e.of.Address
	a.Path, a.Query = path, nil
	return rest.Target{Address: a, Type: e.of.TypeID(), Plain: e.of.Plain}
}

// address returns where a resource is, as far as it is known.
func (e *entry) address() family.Address {
	a := e.of.Address
	if path := e.at.get(); path != "" {
		a.Path = path
	}
	return a
}

// judge notes why a resource of a plain API is left as it is: another one has its key, or its creation may go on.
func (c *collection) judge(e *entry, it *reconcile.Item, thing *reconcile.Thing) {
	known, isKnown := c.known[it.Key]
	was, _, _ := recordOf(known)
	switch {
	case e.of.Plain == nil || it.Delete && thing == nil:
	case thing == nil && e.of.Plain.GivesID && !e.of.IsSought && it.Policy != reconcile.Observe:
		c.out.Mistakes[it.Key] = reconcile.Mistake{Code: codeAbsent,
			Message: "the service gives the id, and there is no resource with this one: correct it, or name the resource by name"}
	case !e.of.IsSought:
	case thing == nil && e.pending.Intended && c.now().Sub(e.pending.Since) < c.client.Lag:
		c.out.Unread[it.Key] = reconcile.Transient(fmt.Errorf("it was about to be created at %s, and nobody knows whether it "+
			"was; it is not created again before the service shows what it took (patience: %s)",
			e.pending.Since.Format("15:04:05"), c.client.Lag))
	case thing != nil && isKnown && was.URI != e.address().Path && thing.Mark != c.owner.Mark() && it.Claim == "":
		c.out.Mistakes[it.Key] = reconcile.Mistake{Code: reconcile.CodeNotAdopted,
			Message: "the resource of the state is gone, and another one has its natural key; " + it.HowToAdopt}
	}
}

// mistakeOfSearch returns the mistake of an entry whose natural key several resources have.
func mistakeOfSearch(err error) (reconcile.Mistake, bool) {
	several, isAmbiguous := errors.AsType[*plain.AmbiguousError](err)
	if !isAmbiguous {
		return reconcile.Mistake{}, false
	}
	return reconcile.Mistake{Code: plan.FindingCode(plain.CodeAmbiguous), Message: several.Error()}, true
}
