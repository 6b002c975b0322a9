package sources

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/app-sre/prcheck/internal/cli"
	"github.com/app-sre/prcheck/internal/objects"
	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/qontract/server"
	"github.com/app-sre/prcheck/source"
)

// waitForObject is how long loading waits for an object that does not exist yet, as
// qontract-server does.
const waitForObject = 100 * time.Second

// A place is where a bundle can be loaded from: a reference, or an object in S3.
type place struct {
	ref    string
	object objects.Place // when ref is ""
	limit  int64         // bytes
}

// name returns the place as messages name it.
func (p place) name() string {
	if p.ref != "" {
		return p.ref
	}
	return p.object.String()
}

// load reads the bundle. Files with the same bytes are shared with the bundle like.
func (p place) load(ctx context.Context, like *bundle.Bundle) (*bundle.Bundle, error) {
	if p.ref != "" {
		if info, err := os.Stat(p.ref); err == nil && info.Size() > p.limit {
			return nil, fmt.Errorf("reading bundle %q: larger than %d MiB; raise --max-bundle-mib", p.ref, p.limit>>20)
		}
		return source.Opener{}.Bundle(ctx, p.ref, like)
	}
	raw, err := objects.Reader{Wait: waitForObject, Limit: p.limit}.Read(ctx, p.object)
	if err != nil {
		return nil, err
	}
	b, err := bundle.Parse(raw, like)
	if err != nil {
		return nil, fmt.Errorf("reading bundle %s: %w", p.object, err)
	}
	return b, nil
}

// Sources are the places that a server loads bundles from.
type Sources struct {
	// TTL is how long a bundle is kept that is not the latest and that nobody asks; 0 stands
	// for the server's default.
	TTL time.Duration

	first  []place // loaded at the start; the last one is the latest bundle
	reload *place  // loaded again by a reload; nil: nothing
}

// Fill loads the first bundles into a server. Later bundles share with the first what they
// have in common.
func (s *Sources) Fill(ctx context.Context, hub *server.Hub) error {
	var first *bundle.Bundle
	for _, from := range s.first {
		b, err := from.load(ctx, first)
		if err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			return cli.Invalid(err)
		}
		if first == nil {
			first = b
		}
		if err := hub.Add(b); err != nil {
			return cli.Invalid(fmt.Errorf("bundle %q: %w", from.name(), err))
		}
	}
	return nil
}

// Reload loads the latest bundle anew. It shares nothing with the bundles before, which would
// then live as long as this one.
func (s *Sources) Reload(ctx context.Context) (*bundle.Bundle, error) {
	if s.reload == nil {
		return nil, errors.New("there is nothing to load; set LOAD_METHOD, or give --bundle")
	}
	return s.reload.load(ctx, nil)
}

// Read finds the bundles that the user names by references, or else those of the environment.
// A bundle is loaded up to limit bytes.
func Read(getenv func(string) string, refs []string, limit int64) (*Sources, error) {
	s := &Sources{}
	var err error
	if s.TTL, err = readTTL(getenv("BUNDLE_SHA_TTL")); err != nil {
		return nil, err
	}
	if s.reload, err = loadMethod(getenv, limit); err != nil {
		return nil, err
	}
	switch list := getenv("INIT_BUNDLES"); {
	case len(refs) > 0:
		s.first, err = flagPlaces(refs, limit)
	case list != "":
		s.first, err = initBundles(list, getenv("AWS_S3_BUCKET"), limit)
	case s.reload != nil:
		s.first = []place{*s.reload}
	default:
		err = errors.New("there is no bundle to serve: give --bundle, or set INIT_BUNDLES or LOAD_METHOD")
	}
	if err != nil {
		return nil, err
	}
	if s.reload == nil && len(refs) > 0 {
		s.reload = &s.first[len(s.first)-1]
	}
	return s, nil
}

// flagPlaces reads the references of the flag --bundle.
func flagPlaces(refs []string, limit int64) ([]place, error) {
	var out []place
	for _, ref := range refs {
		rest, isObject := strings.CutPrefix(ref, "s3://")
		if !isObject {
			out = append(out, place{ref: ref, limit: limit})
			continue
		}
		bucket, key, _ := strings.Cut(rest, "/")
		if bucket == "" || key == "" {
			return nil, fmt.Errorf("--bundle %q: give s3://BUCKET/KEY", ref)
		}
		out = append(out, place{object: objects.Place{Bucket: bucket, Key: key}, limit: limit})
	}
	return out, nil
}

// initBundles reads INIT_BUNDLES, a list of addresses with commas between.
func initBundles(list, bucket string, limit int64) ([]place, error) {
	var out []place
	for item := range strings.SplitSeq(list, ",") {
		scheme, at, _ := strings.Cut(item, "://")
		switch {
		case at == "" || scheme != "fs" && scheme != "s3":
			return nil, fmt.Errorf("INIT_BUNDLES: %q is neither fs://PATH nor s3://KEY", item)
		case scheme == "fs":
			out = append(out, place{ref: at, limit: limit})
		case bucket == "":
			return nil, fmt.Errorf("INIT_BUNDLES: %q needs AWS_S3_BUCKET", item)
		default:
			out = append(out, place{object: objects.Place{Bucket: bucket, Key: at}, limit: limit})
		}
	}
	return out, nil
}

// loadMethod reads LOAD_METHOD and the variables that belong to it; nil when it is not set.
func loadMethod(getenv func(string) string, limit int64) (*place, error) {
	switch method := getenv("LOAD_METHOD"); method {
	case "":
		return nil, nil //nolint:nilnil // nothing is configured, and that is fine
	case "fs":
		if getenv("DATAFILES_FILE") == "" {
			return nil, errors.New("LOAD_METHOD=fs needs DATAFILES_FILE, the path of the bundle")
		}
		return &place{ref: getenv("DATAFILES_FILE"), limit: limit}, nil
	case "s3":
		object := objects.Place{Bucket: getenv("AWS_S3_BUCKET"), Key: getenv("AWS_S3_KEY")}
		if object.Bucket == "" || object.Key == "" {
			return nil, errors.New("LOAD_METHOD=s3 needs AWS_S3_BUCKET and AWS_S3_KEY")
		}
		return &place{object: object, limit: limit}, nil
	default:
		return nil, fmt.Errorf("LOAD_METHOD: %q is neither fs nor s3", method)
	}
}

// readTTL reads BUNDLE_SHA_TTL, a number of milliseconds; 0 when it is not set.
func readTTL(text string) (time.Duration, error) {
	if text == "" {
		return 0, nil
	}
	ms, err := strconv.ParseFloat(text, 64)
	if err != nil || ms < 0 || ms > 1e12 {
		return 0, fmt.Errorf("BUNDLE_SHA_TTL: %q is no number of milliseconds", text)
	}
	return time.Duration(ms * float64(time.Millisecond)), nil
}
