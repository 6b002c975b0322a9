package source

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"sync"

	"github.com/app-sre/prcheck/internal/cli"
	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/qontract/bundler"
	"github.com/app-sre/prcheck/qontract/live"
)

// Pair opens both bundles of a change. They share what they have in common.
func (o Opener) Pair(ctx context.Context, base, head string) (*bundle.Bundle, *bundle.Bundle, error) {
	if live.IsRef(base) || live.IsRef(head) {
		both, err := o.Live(ctx, base, head)
		if err != nil {
			return nil, nil, err
		}
		return both.Base, both.Head, nil
	}
	if err := required(base, head); err != nil {
		return nil, nil, err
	}
	// Base is read first: what is remembered of its files then helps to make the bundle of head.
	// Head is read while base is parsed, and parsed afterwards, so that it can share with base.
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	baseFile, err := o.readBase(ctx, base)
	if err != nil {
		return nil, nil, ofBase(err)
	}
	var reading sync.WaitGroup
	var headFile bundleFile
	var failed error
	reading.Go(func() { headFile, failed = o.readHead(ctx, head, baseFile) })
	b, err := baseFile.parse(base, nil)
	if err != nil {
		cancel()
	}
	reading.Wait()
	if err == nil {
		err = failed
	}
	if err != nil {
		return nil, nil, err
	}
	h, err := o.parseHead(ctx, head, headFile, b, baseFile)
	if err != nil {
		return nil, nil, err
	}
	o.keepIndex(baseFile, b)
	return b, h, nil
}

// readBase is like read, but reads only an index of the bundle if the cache has both.
func (o Opener) readBase(ctx context.Context, ref string) (bundleFile, error) {
	if o.Cache == "" || !IsCheckout(ref) {
		return o.read(ctx, ref)
	}
	in, key, err := o.locate(ctx, ref)
	if err != nil {
		return bundleFile{}, err
	}
	if b, ok := o.indexed(ctx, ref, in, key); ok {
		return bundleFile{key: key, indexed: b}, nil
	}
	return o.checkout(ctx, in, key)
}

// ofBase says that problems of files are those of base, since its files are named like those
// of head.
func ofBase(err error) error {
	if in := (bundler.Problem{}); errors.As(err, &in) {
		return fmt.Errorf("base: %w", err)
	}
	return err
}

// readHead is like read. The files of a working tree are pinned. When the cache has the
// difference of head from base, nothing else of head is read.
func (o Opener) readHead(ctx context.Context, ref string, base bundleFile) (bundleFile, error) {
	if base.key == "" || o.Cache == "" || !IsCheckout(ref) {
		return o.read(ctx, ref)
	}
	in, err := o.input(ctx, ref)
	if err != nil {
		return bundleFile{}, err
	}
	pinned, contents, err := bundler.Pin(ctx, in)
	if err != nil {
		return bundleFile{}, cli.Invalid(fmt.Errorf("reference %q: %w", ref, err))
	}
	cache := openCache(o.Cache)
	if raw, ok := cache.Recall(differenceKey(base.key, contents)); ok && contents != "" {
		return bundleFile{contents: contents, difference: raw}, nil
	}
	if raw, sum, ok := cache.Bundle(contents); ok {
		return bundleFile{raw: raw, sum: sum, key: contents, contents: contents}, nil
	}
	f, err := o.checkout(ctx, pinned, "")
	if errors.Is(err, bundler.ErrChanged) {
		return o.checkout(ctx, in, "")
	}
	if err == nil && holds(ctx, pinned, contents) {
		f.contents = contents
	}
	return f, err
}

// parseHead makes the bundle of head, which shares with base. It remembers their difference, or
// the whole bundle if they differ too much.
func (o Opener) parseHead(ctx context.Context, ref string, f bundleFile, base *bundle.Bundle,
	baseFile bundleFile) (*bundle.Bundle, error) {
	if f.difference != nil {
		if b, err := base.WithDifference(f.difference); err == nil {
			return b, nil
		}
		var err error
		if f, err = o.read(ctx, ref); err != nil {
			return nil, err
		}
	}
	b, err := f.parse(ref, base)
	if err == nil && baseFile.key != "" && f.contents != "" && o.Cache != "" {
		if raw, ok := base.Difference(b); ok {
			openCache(o.Cache).Remember(differenceKey(baseFile.key, f.contents), raw)
		} else if f.key == "" {
			openCache(o.Cache).KeepBundle(f.contents, f.raw)
		}
	}
	return b, err
}

// differenceKey returns the key of the cache for the difference of two bundles.
func differenceKey(base, head string) string {
	return fmt.Sprintf("difference-%x", sha256.Sum256([]byte(base+" "+head)))
}
