package generic

import (
	"context"
	"strings"
	"sync"

	"github.com/app-sre/prcheck/natives/generic/body"
	"github.com/app-sre/prcheck/natives/generic/hooks"
	"github.com/app-sre/prcheck/natives/generic/rest"
	"github.com/app-sre/prcheck/natives/reconcile"
)

// manyNew is from how many new entries of one collection on the collection is listed, instead of
// asking for each entry.
const manyNew = 20

// A presence says whether a resource is there, as far as it is known.
type presence int32

const (
	unknown  presence = iota
	unlisted          // the list of its collection does not have it
	absent            // a read did not find it
)

// findUnlisted notes the entries that the list of their collection does not have, where many
// entries of a collection are new. Such an entry is not read by itself: it is read right before
// it is created, since a list may be old. A collection that cannot be listed says nothing.
func (c *collection) findUnlisted(ctx context.Context, items map[string]*reconcile.Item,
	known map[reconcile.Key]reconcile.Record, workers int,
) error {
	entries := map[string][]*entry{} // by collection
	for _, key := range sortedKeys(items) {
		e, ok := items[key].Body.(*entry)
		if _, isKnown := known[items[key].Key]; !ok || isKnown || e.pending.Intended || e.pending.Operation != nil ||
			c.unvouched(e) != "" {
			continue
		}
		if path := e.of.Address.Path; e.family.PutCreates {
			collection := path[:strings.LastIndexByte(path, '/')]
			entries[collection] = append(entries[collection], e)
		}
	}
	for collection, of := range entries {
		if len(of) < manyNew {
			delete(entries, collection)
		}
	}
	if len(entries) == 0 {
		return nil
	}
	var mu sync.Mutex
	list := func(ctx context.Context, collection string, _ int) error {
		first := entries[collection][0].of
		all, err := c.client.List(ctx, rest.Target{Address: first.Address, Type: first.TypeID()}, collection)
		if err != nil {
			return nil //nolint:nilerr // each of its entries is asked for, and tells what is wrong
		}
		listed := map[string]bool{}
		for _, item := range all {
			id, _ := body.Get(item, "/id")
			text, isText := id.(string)
			if !isText {
				return nil // it says nothing about ids
			}
			listed[c.client.Family.Key(text)] = true
		}
		mu.Lock()
		defer mu.Unlock()
		for _, e := range entries[collection] {
			if !listed[e.of.Address.Key] {
				e.presence = unlisted
			}
		}
		return nil
	}
	_, err := reconcile.Each(ctx, sortedKeys(entries), max(workers, 1), 0, list)
	return err
}

// look reads the resource of an entry, nil if it is not there. Then it says whether it may be
// created.
func (s *service) look(ctx context.Context, e *entry, key reconcile.Key, l *listing) (*reconcile.Thing, hooks.Ready,
	error) {
	t := rest.Target{Address: e.of.Address, Type: e.of.TypeID(), Plain: e.of.Plain, Find: s.finder(e, l)}
	var live rest.Live
	if e.presence != unlisted {
		var err error
		if live, err = s.client.Read(ctx, t); err != nil {
			return nil, hooks.Ready{}, err
		}
	}
	if !live.Found {
		ready, err := s.Hooks.PreReconcile(ctx, s.hooked(e, nil))
		return nil, ready, err
	}
	thing, err := s.thing(ctx, e, key, live)
	return thing, hooks.Ready{}, err
}
