package source

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/app-sre/prcheck/bundle"
	"github.com/app-sre/prcheck/bundle/bundler"
	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/internal/cli"
	"github.com/app-sre/prcheck/internal/objects"
	"github.com/app-sre/prcheck/live"
)

// maxObject is the size in bytes up to which a bundle is read from a bucket.
const maxObject = 4 << 30

// ErrLive is that a bundle of a live server is of no use where tasks run.
var ErrLive = cli.Usage(errors.New("a live server cannot be used here, since tasks are served from whole bundles: plan with it, then get the two bundle files and give them with --base and --head; the plan's sha256 holds them to be the same"))

// An Opener opens bundles by reference: a bundle file, git:REV[@DIR] and
// dir:PATH of a checkout, s3://BUCKET/KEY.
type Opener struct {
	Settings *integration.Settings // say where the parts of a checkout are; nil: as Settings("") has them
	Root     string                // of the checkout when the settings are those of a revision: what they name inside it is read from each revision; "" otherwise
	Cache    string                // folder that remembers what was bundled; "": none
}

// In returns an opener with the cache of the user.
func In(env cli.Env) Opener { return Opener{Cache: CacheFolder(env.Getenv)} }

// Bundle opens a bundle. When like is not nil, files with the same bytes are
// shared with it. All errors are of the user's making.
func (o Opener) Bundle(ctx context.Context, ref string, like *bundle.Bundle) (*bundle.Bundle, error) {
	return o.parsed(ctx, ref, func(raw []byte) (*bundle.Bundle, error) { return bundle.Parse(raw, like) })
}

// parsed reads a reference and lets parse make a bundle of it.
func (o Opener) parsed(ctx context.Context, ref string, parse func([]byte) (*bundle.Bundle, error)) (*bundle.Bundle, error) {
	raw, err := o.Bytes(ctx, ref)
	if err != nil {
		return nil, err
	}
	b, err := parse(raw)
	if err != nil {
		return nil, cli.Invalid(fmt.Errorf("reading bundle %q: %w", ref, err))
	}
	return b, nil
}

// Bytes reads the file that the bundle of a reference is, or would be.
func (o Opener) Bytes(ctx context.Context, ref string) ([]byte, error) {
	switch {
	case IsCheckout(ref):
		return o.checkout(ctx, ref)
	case live.Is(ref):
		return nil, ErrLive
	}
	raw, err := read(ctx, ref)
	if err != nil {
		return nil, cli.Invalid(fmt.Errorf("reading bundle %q: %w", ref, err))
	}
	return raw, nil
}

// IsObject tells whether a reference is one to an object in a bucket.
func IsObject(ref string) bool { return strings.HasPrefix(ref, "s3://") }

// read reads the whole of a file or an object.
func read(ctx context.Context, ref string) ([]byte, error) {
	if IsObject(ref) {
		at, err := placeOf(ref)
		if err != nil {
			return nil, err
		}
		return objects.Reader{Limit: maxObject}.Read(ctx, at)
	}
	raw, err := bundle.ReadFile(ref)
	var at *os.PathError
	if errors.As(err, &at) {
		err = at.Err
	}
	return raw, err
}

// Pair opens both bundles of a change.
func (o Opener) Pair(ctx context.Context, base, head string) (*bundle.Bundle, *bundle.Bundle, error) {
	if err := required(base, head); err != nil {
		return nil, nil, err
	}
	// Head is read while base is opened, and parsed when it can share with it.
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var reading sync.WaitGroup
	var raw []byte
	var failed error
	reading.Go(func() { raw, failed = o.Bytes(ctx, head) })
	b, err := o.Bundle(ctx, base, nil)
	if err != nil {
		cancel()
		if in := (bundler.Problem{}); errors.As(err, &in) { // its files have the names of those of head
			err = fmt.Errorf("base: %w", err)
		}
	}
	reading.Wait()
	if err == nil {
		err = failed
	}
	if err != nil {
		return nil, nil, err
	}
	h, err := bundle.Parse(raw, b)
	if err != nil {
		return nil, nil, cli.Invalid(fmt.Errorf("reading bundle %q: %w", head, err))
	}
	return b, h, nil
}

func required(base, head string) error {
	for _, side := range []struct{ flag, ref string }{{"base", base}, {"head", head}} {
		if side.ref == "" {
			return cli.Usage(fmt.Errorf("--%s is required: the bundle of that side", side.flag))
		}
	}
	return nil
}

// Name is what a plan calls a reference: the path as it was given, but of an
// absolute path only its last part, since plans name no machine.
func Name(ref string) string {
	switch {
	case IsCheckout(ref):
		return checkoutName(ref)
	case IsObject(ref):
		return ref
	case filepath.IsAbs(ref):
		return filepath.Base(ref)
	}
	return filepath.ToSlash(filepath.Clean(ref))
}
