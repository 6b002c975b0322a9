package source

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/app-sre/prcheck/internal/cli"
	"github.com/app-sre/prcheck/internal/objects"
	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/qontract/live"
	"github.com/app-sre/prcheck/settings"
)

// maxObject is the size in bytes up to which a bundle is read from a bucket.
const maxObject = 4 << 30

// ErrLive says that a bundle of a live server cannot be used where tasks run.
var ErrLive = cli.Usage(errors.New("a live server cannot be used here, since tasks are served from whole bundles: " +
	"plan with it, then get the two bundle files and give them with --base and --head; the plan's sha256 holds them to " +
	"be the same"))

// An Opener opens bundles by reference. The zero value remembers nothing.
type Opener struct {
	// Settings say where the parts of a checkout are; nil: as ReadSettings("") has them.
	Settings *settings.Settings
	// Root is the folder of the repository when the settings are those of a revision: a
	// part that they name by a path inside of it is read from each revision. "": it is the
	// folder of the checkout that is opened.
	Root string
	// Cache is the folder that remembers what was bundled; "": nothing is remembered.
	Cache string
	// Authorization is the Authorization header for live servers.
	Authorization string
	// Note is called with each line that a user should know; nil drops the lines.
	Note func(line string)
}

// authorization is the environment variable with the Authorization header for live servers.
const authorization = "PRCHECK_AUTHORIZATION"

// In returns the opener of a user: with the cache and the authorization of the environment,
// and notes on stderr.
func In(env cli.Env) Opener {
	o := Opener{Cache: CacheFolder(env.Getenv), Note: func(line string) { _, _ = fmt.Fprintln(env.Stderr, "note: "+line) }}
	if env.Getenv != nil {
		o.Authorization = env.Getenv(authorization)
	}
	return o
}

// With returns an opener that looks for the parts of a checkout where these settings say.
func (o Opener) With(s OpenedSettings) Opener {
	o.Settings, o.Root = s.Settings, s.Root()
	return o
}

// Bundle opens a bundle. When like is not nil, files with the same bytes are shared with it.
// All errors are of the user's making.
func (o Opener) Bundle(ctx context.Context, ref string, like *bundle.Bundle) (*bundle.Bundle, error) {
	read, err := o.read(ctx, ref)
	if err != nil {
		return nil, err
	}
	return read.parse(ref, like)
}

// Unchecked opens a bundle for validation, which may hold datafiles without $schema. All
// errors are of the user's making.
func (o Opener) Unchecked(ctx context.Context, ref string, like *bundle.Bundle) (*bundle.Bundle, error) {
	raw, err := o.Bytes(ctx, ref)
	if err != nil {
		return nil, err
	}
	b, err := bundle.ParseUnchecked(raw, like)
	return b, unreadable(ref, err)
}

// UncheckedPair opens both bundles of a change for validation; base is nil when its reference
// is "".
func (o Opener) UncheckedPair(ctx context.Context, base, head string) (b, h *bundle.Bundle, err error) {
	if base != "" {
		if b, err = o.Unchecked(ctx, base, nil); err != nil {
			return nil, nil, err
		}
	}
	h, err = o.Unchecked(ctx, head, b)
	return b, h, err
}

// A bundleFile is the bytes of a bundle.
type bundleFile struct {
	raw        []byte
	sum        string         // their sha256, "" when nobody has computed it
	key        string         // under which the cache has the bytes, or ""
	contents   string         // a hash of the files of head; "" when it is not known
	difference []byte         // from base, in place of the bytes; see [bundle.Bundle.Difference]
	indexed    *bundle.Bundle // in place of the bytes; see [bundle.OpenIndexed]
}

// parse makes a bundle of the bytes.
func (f bundleFile) parse(ref string, like *bundle.Bundle) (b *bundle.Bundle, err error) {
	if f.indexed != nil {
		return f.indexed, nil
	}
	if f.sum == "" {
		b, err = bundle.Parse(f.raw, like)
	} else {
		b, err = bundle.ParseWithSHA256(f.raw, f.sum, like)
	}
	return b, unreadable(ref, err)
}

// unreadable says of which bundle an error is.
func unreadable(ref string, err error) error {
	if err == nil {
		return nil
	}
	return cli.Invalid(fmt.Errorf("reading bundle %q: %w", ref, err))
}

// Bytes returns the bundle file of a reference. It makes the bundle of a checkout.
func (o Opener) Bytes(ctx context.Context, ref string) ([]byte, error) {
	f, err := o.read(ctx, ref)
	return f.raw, err
}

// read returns the bundle file of a reference. It makes the bundle of a checkout.
func (o Opener) read(ctx context.Context, ref string) (f bundleFile, err error) {
	switch {
	case IsCheckout(ref):
		in, key, err := o.locate(ctx, ref)
		if err != nil {
			return f, err
		}
		return o.checkout(ctx, in, key)
	case live.IsRef(ref):
		return f, ErrLive
	}
	f.raw, err = read(ctx, ref)
	return f, unreadable(ref, err)
}

// IsObject reports whether a reference is one to an object in a bucket.
func IsObject(ref string) bool { return strings.HasPrefix(ref, "s3://") }

// read reads a whole file or object.
func read(ctx context.Context, ref string) ([]byte, error) {
	if IsObject(ref) {
		at, err := parseObject(ref)
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

func required(base, head string) error {
	for _, side := range []struct{ flag, ref string }{{"base", base}, {"head", head}} {
		if side.ref == "" {
			return cli.Usage(fmt.Errorf("--%s is required: the bundle of that side", side.flag))
		}
	}
	return nil
}

// Name returns what a plan calls a reference: the path as it was given, but of an absolute
// path only its last part, since a plan names nothing of the machine that made it.
func Name(ref string) string {
	server, err := live.ParseRef(ref)
	switch {
	case err == nil:
		return server.String()
	case IsCheckout(ref):
		return checkoutName(ref)
	case IsObject(ref):
		return ref
	case filepath.IsAbs(ref):
		return filepath.Base(ref)
	}
	return filepath.ToSlash(filepath.Clean(ref))
}
