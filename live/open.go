package live

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/app-sre/prcheck/bundle"
)

// Bundles are both bundles of a change as far as a server tells them, and what
// answers over them.
type Bundles struct {
	Base, Head         *bundle.Bundle
	BaseSide, HeadSide *Side
	Datafiles          int // how many were asked for one by one

	listed map[bundle.Schema]bool
}

// Lists tells whether some root field lists datafiles of a schema on either
// side. Of other schemas only those are known that changed or that a reference
// leads to.
func (b *Bundles) Lists(s bundle.Schema) bool { return b.listed[s] }

// The places of base and head in pairs.
const (
	base = iota
	head
)

// A loader brings together what a server tells of two bundles.
type loader struct {
	client *Client
	sha    [2]string
	sides  [2]*Side

	commit    [2]commitInfo
	types     [2]*types
	datafiles map[bundle.Path]*pair
	resources map[bundle.Path]*pair
	changed   map[bundle.Path]bool // resources in the diff
	synthetic map[fieldName]synthetic
	roots     map[string][2]bundle.Schema // by root field
	asked     int

	seen  map[string]bool       // types whose back references were looked for
	open  [2]map[fieldName]bool // fields of which it is not known whether they are some
	vague map[string]bool       // types with such fields
}

// A pair is a file of both bundles, each as JSON, nil where it is not, and
// decoded once it was looked at.
type pair struct {
	raw    [2]json.RawMessage
	object [2]*bundle.Object
}

// A commitInfo is what the server says about the commit of a bundle.
type commitInfo struct {
	Commit    string `json:"commit"`
	Timestamp string `json:"timestamp"`
}

// Open reads both bundles of a change from the server that has them. The error
// says when the server does not know one of them.
func Open(ctx context.Context, from, to Ref, opts Options) (*Bundles, error) {
	if from.Server != to.Server {
		return nil, fmt.Errorf("base is on %s and head on %s: one server must have both bundles, since changes come from its /diff; load both there", from.Server, to.Server)
	}
	client := NewClient(from.Server, opts)
	l := &loader{
		client: client, sha: [2]string{from.SHA256, to.SHA256},
		sides:     [2]*Side{{client: client, sha: from.SHA256}, {client: client, sha: to.SHA256}},
		datafiles: map[bundle.Path]*pair{}, resources: map[bundle.Path]*pair{}, changed: map[bundle.Path]bool{},
		synthetic: map[fieldName]synthetic{}, roots: map[string][2]bundle.Schema{},
		seen: map[string]bool{}, open: [2]map[fieldName]bool{{}, {}}, vague: map[string]bool{},
	}
	for _, step := range []func(context.Context) error{
		l.commits, l.diff, l.introspect, l.list, l.chase, l.infer, l.listResources, l.backrefs, l.chase,
	} {
		if err := step(ctx); err != nil {
			return nil, err
		}
	}
	return l.assemble()
}

// both does something for each side at the same time.
func both(do func(side int) error) error {
	var g errgroup.Group
	for side := range 2 {
		g.Go(func() error { return do(side) })
	}
	return g.Wait()
}

// commits asks for the commits, which also shows that the server has the
// bundles.
func (l *loader) commits(ctx context.Context) error {
	return both(func(side int) error {
		path := "/git-commit-info/" + l.sha[side]
		raw, err := l.client.get(ctx, path)
		if err != nil {
			return l.client.unknown(ctx, err, l.sha[side])
		}
		if err := json.Unmarshal(raw, &l.commit[side]); err != nil {
			return l.client.garbled(path, err)
		}
		return nil
	})
}

// garbled is the error of an answer that cannot be read.
func (c *Client) garbled(path string, err error) error {
	return fmt.Errorf("asking %s%s: the answer is not what a qontract-server gives: %w", c.server, path, err)
}

// explain says what it means that a bundle is not there.
func (c *Client) explain(err error, sha string) error {
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

// An UnknownBundleError says that the server does not have a bundle.
type UnknownBundleError struct {
	Server, SHA256 string
	Known          []string // the sha256 of those that it has, if it told
}

func (e *UnknownBundleError) Error() string {
	text := fmt.Sprintf("%s does not have bundle %s: it has expired there or was never loaded; let the server load it again", e.Server, e.SHA256)
	if len(e.Known) > 0 {
		text += ", or take one that it has: " + strings.Join(e.Known, ", ")
	}
	return text
}

// maxKnown bounds how many bundles an error names.
const maxKnown = 10

// unknown is explain that asks the server which bundles it has.
func (c *Client) unknown(ctx context.Context, err error, sha string) error {
	err = c.explain(err, sha)
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
	missing.Known = known[:min(len(known), maxKnown)]
	return missing
}
