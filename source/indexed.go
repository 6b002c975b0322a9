package source

import (
	"context"

	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/qontract/bundler"
)

// indexed returns the bundle of a commit from the cache, when its index is there too. Then the
// files of the bundle are read when they are used.
func (o Opener) indexed(ctx context.Context, ref string, in bundler.Input, key string) (*bundle.Bundle, bool) {
	cache := openCache(o.Cache)
	index, ok := cache.Recall(indexKey(key))
	if !ok {
		return nil, false
	}
	stored, ok := cache.Stored(key)
	if !ok {
		return nil, false
	}
	b, err := bundle.OpenIndexed(stored, stored.Size, index, func() (*bundle.Bundle, error) {
		f, err := o.checkout(context.WithoutCancel(ctx), in, key)
		if err != nil {
			return nil, err
		}
		return f.parse(ref, nil)
	})
	if err != nil || b.SHA256() != stored.SHA256 {
		return nil, false
	}
	return b, true
}

// keepIndex remembers the index of a bundle, which must not share files with another.
func (o Opener) keepIndex(f bundleFile, b *bundle.Bundle) {
	if f.key == "" || f.raw == nil || o.Cache == "" {
		return
	}
	if index, ok := b.Index(f.raw); ok {
		openCache(o.Cache).Remember(indexKey(f.key), index)
	}
}

// indexKey returns the key of the cache for the index of a bundle.
func indexKey(key string) string { return "index-" + key }
