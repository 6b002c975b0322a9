package rounds

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/app-sre/prcheck/internal/git"
	"github.com/app-sre/prcheck/state"
)

// A BundleName names the data of a round.
type BundleName struct {
	SHA256    string `json:"sha256"`
	Commit    string `json:"commit,omitempty"`
	Timestamp string `json:"timestamp,omitempty"` // seconds since 1970
}

// time returns when the commit of the bundle was made. It reports whether that is known.
func (b BundleName) time() (int64, bool) {
	seconds, err := strconv.ParseInt(b.Timestamp, 10, 64)
	return seconds, err == nil && seconds > 0
}

// String names the bundle in a message.
func (b BundleName) String() string {
	text := git.Short(b.SHA256)
	if seconds, known := b.time(); known {
		text += " of " + time.Unix(seconds, 0).UTC().Format(time.RFC3339)
	}
	return text
}

// lastBundle is the key of the document that names the bundle of the last round.
const lastBundle = "bundle/last.json"

// A seen document names the newest bundle of all rounds so far.
type seen struct {
	Version string     `json:"version"`
	Bundle  BundleName `json:"bundle"`
}

var seenKind = state.Kind[seen]{Version: "1", Limit: 10_000}

// A calendar refuses bundles that are older than the one of the last round.
type calendar struct {
	last    BundleName
	isOlder bool // an older bundle is allowed
}

// check returns an error if a bundle is older than the last one. The store is that of the
// integration, nil if nothing is remembered. It is only written to if the round writes.
func (c *calendar) check(ctx context.Context, b BundleName, s state.Store, writes bool) (warning, err error) {
	if s != nil && !writes {
		doc, err := seenKind.Read(ctx, s, lastBundle)
		switch {
		case err == nil:
			err = c.accept(b, doc.Bundle)
		case errors.Is(err, state.ErrNotFound), errors.Is(err, state.ErrUntrusted):
			err = nil // a document that does not count is as good as missing
		default:
			err = fmt.Errorf("reading from the state which bundle was the last: %w", err)
		}
		if err != nil {
			return nil, err
		}
	}
	if err := c.accept(b, c.last); err != nil {
		return nil, err
	}
	_, isDated := b.time()
	if s != nil && writes {
		var refused error
		warning, err = seenKind.Update(ctx, s, lastBundle, func(doc *seen) {
			if refused = c.accept(b, doc.Bundle); refused == nil && isDated {
				doc.Bundle = b
			}
			doc.Version = seenKind.Version
		})
		switch {
		case errors.Is(err, state.ErrReadOnly):
			return warning, fmt.Errorf("remembering the bundle in the state: %w: name the keys that sign it in state.keys of "+
				"the settings and the private key in PRCHECK_STATE_KEY, or let the settings trust its bucket", err)
		case err != nil:
			return warning, fmt.Errorf("remembering the bundle in the state: %w", err)
		case refused != nil:
			return warning, refused
		}
	}
	if isDated {
		c.last = b
	}
	return warning, nil
}

// accept returns an error if a bundle is older than another one. If the time of one of them is
// not known, it cannot tell, and there is no error.
func (c *calendar) accept(b, last BundleName) error {
	now, known := b.time()
	before, wasKnown := last.time()
	if c.isOlder || !known || !wasKnown || now >= before {
		return nil
	}
	return fmt.Errorf("the bundle %v is older than that of the last run, %v: wait for a newer one, or allow it once "+
		"with --allow-older", b, last)
}
