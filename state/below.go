package state

import (
	"context"
	"strings"
)

// Natives is the folder with what native integrations remember. Nothing in it is collected,
// and a signature counts there however old it is: what an integration made must not be
// forgotten only because nothing changed for some weeks.
const Natives = "native"

// ForNative returns the documents of one native integration.
func ForNative(s Store, name string) Store { return Below(s, Natives+"/"+Name(name)) }

// Below returns the documents below a folder as a store of their own, whose keys do not have
// the folder. Documents elsewhere cannot be read, listed or written through it.
func Below(s Store, folder string) Store { return below{s, folder + "/"} }

// ReadOnly returns a store that refuses to write, with [ErrReadOnly].
func ReadOnly(s Store) Store { return readOnly{s} }

// A below is a store of the documents below a folder.
type below struct {
	store  Store
	prefix string // the folder with a slash at the end
}

// Read implements [Store].
func (b below) Read(ctx context.Context, key string) ([]byte, error) {
	if err := checkKey(key); err != nil {
		return nil, err
	}
	return b.store.Read(ctx, b.prefix+key)
}

// Write implements [Store].
func (b below) Write(ctx context.Context, key string, raw []byte) error {
	if err := checkKey(key); err != nil {
		return err
	}
	return b.store.Write(ctx, b.prefix+key, raw)
}

// Update implements [Store].
func (b below) Update(ctx context.Context, key string, change func(old []byte) ([]byte, error)) error {
	if err := checkKey(key); err != nil {
		return err
	}
	return b.store.Update(ctx, b.prefix+key, change)
}

// Remove implements [Store].
func (b below) Remove(ctx context.Context, key string) error {
	if err := checkKey(key); err != nil {
		return err
	}
	return b.store.Remove(ctx, b.prefix+key)
}

// List implements [Store].
func (b below) List(ctx context.Context, folder string) ([]Entry, error) {
	if err := checkFolder(folder); err != nil {
		return nil, err
	}
	list, err := b.store.List(ctx, strings.TrimSuffix(b.prefix+folder, "/"))
	var out []Entry
	for _, e := range list {
		if key, ok := strings.CutPrefix(e.Key, b.prefix); ok {
			e.Key = key
			out = append(out, e)
		}
	}
	return out, err
}

// Discard implements [Store].
func (b below) Discard(ctx context.Context, e Entry) error {
	if err := checkKey(e.Key); err != nil {
		return err
	}
	e.Key = b.prefix + e.Key
	return b.store.Discard(ctx, e)
}
