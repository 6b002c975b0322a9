package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/app-sre/prcheck/bundle"
	"github.com/app-sre/prcheck/internal/objects"
	"github.com/app-sre/prcheck/source"
)

// waitForObject is how long serve waits for an object that is not there yet,
// as qontract-server does.
const waitForObject = 100 * time.Second

// A bundleSource is a place from which a bundle can be loaded: a reference, or
// an object in S3.
type bundleSource struct {
	ref   string
	place objects.Place // when ref is ""
	limit int64         // bytes
}

func (s bundleSource) name() string {
	if s.ref != "" {
		return s.ref
	}
	return s.place.String()
}

// load reads the bundle. Files with the same bytes are shared with another one.
func (s bundleSource) load(ctx context.Context, like *bundle.Bundle) (*bundle.Bundle, error) {
	if s.ref != "" {
		if info, err := os.Stat(s.ref); err == nil && info.Size() > s.limit {
			return nil, fmt.Errorf("reading bundle %q: larger than %d MiB; raise --max-bundle-mib", s.ref, s.limit>>20)
		}
		return source.Opener{}.Bundle(ctx, s.ref, like)
	}
	raw, err := objects.Reader{Wait: waitForObject, Limit: s.limit}.Read(ctx, s.place)
	if err != nil {
		return nil, err
	}
	b, err := bundle.Parse(raw, like)
	if err != nil {
		return nil, fmt.Errorf("reading bundle %s: %w", s.place, err)
	}
	return b, nil
}

// sources are where bundles come from: the first ones, and the one that a
// reload brings.
type sources struct {
	first []bundleSource
	again *bundleSource
	ttl   time.Duration
}

// reload loads the bundle anew. It shares nothing with those before, which
// would then live as long as this one.
func (s *sources) reload(ctx context.Context) (*bundle.Bundle, error) {
	if s.again == nil {
		return nil, errors.New("there is nothing to load; set LOAD_METHOD, or give --bundle")
	}
	return s.again.load(ctx, nil)
}

// readSources finds the bundles of the flags and of the environment.
func readSources(getenv func(string) string, refs []string, limit int64) (*sources, error) {
	s := &sources{}
	var err error
	if s.ttl, err = readTTL(getenv("BUNDLE_SHA_TTL")); err != nil {
		return nil, err
	}
	if s.again, err = loadMethod(getenv, limit); err != nil {
		return nil, err
	}
	switch list := getenv("INIT_BUNDLES"); {
	case len(refs) > 0:
		s.first, err = ofFlags(refs, limit)
	case list != "":
		s.first, err = initBundles(list, getenv("AWS_S3_BUCKET"), limit)
	case s.again != nil:
		s.first = []bundleSource{*s.again}
	default:
		err = errors.New("there is no bundle to serve: give --bundle, or set INIT_BUNDLES or LOAD_METHOD")
	}
	if err != nil {
		return nil, err
	}
	if s.again == nil && len(refs) > 0 {
		s.again = &s.first[len(s.first)-1]
	}
	return s, nil
}

func ofFlags(refs []string, limit int64) ([]bundleSource, error) {
	var out []bundleSource
	for _, ref := range refs {
		rest, isObject := strings.CutPrefix(ref, "s3://")
		if !isObject {
			out = append(out, bundleSource{ref: ref, limit: limit})
			continue
		}
		bucket, key, _ := strings.Cut(rest, "/")
		if bucket == "" || key == "" {
			return nil, fmt.Errorf("--bundle %q: give s3://BUCKET/KEY", ref)
		}
		out = append(out, bundleSource{place: objects.Place{Bucket: bucket, Key: key}, limit: limit})
	}
	return out, nil
}

// initBundles reads INIT_BUNDLES, a list with commas between.
func initBundles(list, bucket string, limit int64) ([]bundleSource, error) {
	var out []bundleSource
	for item := range strings.SplitSeq(list, ",") {
		scheme, at, _ := strings.Cut(item, "://")
		switch {
		case at == "" || scheme != "fs" && scheme != "s3":
			return nil, fmt.Errorf("INIT_BUNDLES: %q is neither fs://PATH nor s3://KEY", item)
		case scheme == "fs":
			out = append(out, bundleSource{ref: at, limit: limit})
		case bucket == "":
			return nil, fmt.Errorf("INIT_BUNDLES: %q needs AWS_S3_BUCKET", item)
		default:
			out = append(out, bundleSource{place: objects.Place{Bucket: bucket, Key: at}, limit: limit})
		}
	}
	return out, nil
}

// loadMethod reads LOAD_METHOD and what belongs to it; nil when it is not set.
func loadMethod(getenv func(string) string, limit int64) (*bundleSource, error) {
	switch method := getenv("LOAD_METHOD"); method {
	case "":
		return nil, nil //nolint:nilnil // nothing is configured, and that is fine
	case "fs":
		if getenv("DATAFILES_FILE") == "" {
			return nil, errors.New("LOAD_METHOD=fs needs DATAFILES_FILE, the path of the bundle")
		}
		return &bundleSource{ref: getenv("DATAFILES_FILE"), limit: limit}, nil
	case "s3":
		place := objects.Place{Bucket: getenv("AWS_S3_BUCKET"), Key: getenv("AWS_S3_KEY")}
		if place.Bucket == "" || place.Key == "" {
			return nil, errors.New("LOAD_METHOD=s3 needs AWS_S3_BUCKET and AWS_S3_KEY")
		}
		return &bundleSource{place: place, limit: limit}, nil
	default:
		return nil, fmt.Errorf("LOAD_METHOD: %q is neither fs nor s3", method)
	}
}

// readTTL reads BUNDLE_SHA_TTL; 0 stands for the default.
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
