package live

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// badAnswer returns the error for an answer that cannot be parsed.
func (c *Client) badAnswer(path string, err error) error {
	return fmt.Errorf("asking %s%s: the answer is not what a qontract-server gives: %w", c.server, path, err)
}

// explainNotFound returns an UnknownBundleError if err means that the server does not have a
// bundle, and err otherwise.
func (c *Client) explainNotFound(err error, sha string) error {
	var status *StatusError
	if !errors.As(err, &status) || status.Status != http.StatusNotFound {
		return err
	}
	gone := strings.Contains(status.Text, "Bundle "+sha) || strings.Contains(status.Text, "/graphqlsha/"+sha)
	if !gone {
		return err
	}
	return &UnknownBundleError{Server: c.server, SHA256: sha}
}

// An UnknownBundleError reports that a server does not have a bundle.
type UnknownBundleError struct {
	Server, SHA256 string
	Known          []string // sha256 of bundles that the server has, as far as it shows them
}

// Error returns a message that says what to do.
func (e *UnknownBundleError) Error() string {
	text := fmt.Sprintf("%s does not have bundle %s: it has expired there or was never loaded; let the server load "+
		"it again", e.Server, e.SHA256)
	if len(e.Known) > 0 {
		text += ", or take one that it has: " + strings.Join(e.Known, ", ")
	}
	return text
}

// maxKnownBundles is the largest number of bundles in an UnknownBundleError.
const maxKnownBundles = 10

// explainUnknownBundle does the same as explainNotFound, and adds the bundles that the server
// has to an UnknownBundleError.
func (c *Client) explainUnknownBundle(ctx context.Context, err error, sha string) error {
	err = c.explainNotFound(err, sha)
	var missing *UnknownBundleError
	if !errors.As(err, &missing) {
		return err
	}
	raw, failure := c.get(ctx, "/cache")
	var cache struct{ Bundles []string }
	if failure != nil || json.Unmarshal(raw, &cache) != nil {
		return err
	}
	known := slices.DeleteFunc(cache.Bundles, func(s string) bool { return !sha256Form.MatchString(s) })
	missing.Known = known[:min(len(known), maxKnownBundles)]
	return missing
}
