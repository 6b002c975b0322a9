package live

import (
	"context"
	"encoding/json"
	"fmt"

	"golang.org/x/sync/errgroup"

	"github.com/app-sre/prcheck/qontract/bundle"
)

// Bundles are both bundles of a change, as far as a server shows them, and the sides that
// answer queries over them.
type Bundles struct {
	Base, Head         *bundle.Bundle
	BaseSide, HeadSide *BundleClient
	RequestedDatafiles int // number of datafiles that were requested one by one

	listed map[bundle.SchemaPath]bool
}

// ListsSchema reports whether a root field lists the datafiles of a schema on either side. Of
// another schema only those datafiles are known that changed or to which a reference leads.
func (b *Bundles) ListsSchema(s bundle.SchemaPath) bool { return b.listed[s] }

// The indices of base and head in arrays of two.
const (
	base = iota
	head
)

// A loader reads the data of two bundles from a server.
type loader struct {
	client *Client
	sha    [2]string
	sides  [2]*BundleClient

	commit             [2]commitInfo
	types              [2]*typeSet
	datafiles          map[bundle.Path]*filePair // nil for a datafile that neither side has
	resources          map[bundle.Path]*filePair
	changed            map[bundle.Path]bool // resources that differ
	synthetic          map[fieldName]synthetic
	roots              map[string][2]bundle.SchemaPath // schema of the listed datafiles, by root field
	requestedDatafiles int

	inferred   map[string]bool       // types whose back references were looked for
	undecided  [2]map[fieldName]bool // fields that may or may not be back references
	vagueTypes map[string]bool       // types with undecided fields
}

// A filePair is a file on both sides.
type filePair struct {
	raw    [2]json.RawMessage // nil if the side does not have the file
	object [2]*bundle.Object  // nil until datafileObject has decoded it
}

// A commitInfo is the answer of the server about the commit of a bundle.
type commitInfo struct {
	Commit    string `json:"commit"`
	Timestamp string `json:"timestamp"`
}

// Open reads both bundles of a change from their server. The error is an
// [UnknownBundleError] if the server does not have one of them.
func Open(ctx context.Context, from, to Ref, opts Access) (*Bundles, error) {
	if from.Server != to.Server {
		return nil, fmt.Errorf("base is on %s and head on %s: one server must have both bundles, since changes come from "+
			"its /diff; load both there", from.Server, to.Server)
	}
	client := NewClient(from.Server, opts)
	l := &loader{
		client: client, sha: [2]string{from.SHA256, to.SHA256},
		sides:     [2]*BundleClient{{client: client, sha: from.SHA256}, {client: client, sha: to.SHA256}},
		datafiles: map[bundle.Path]*filePair{}, resources: map[bundle.Path]*filePair{}, changed: map[bundle.Path]bool{},
		synthetic: map[fieldName]synthetic{}, roots: map[string][2]bundle.SchemaPath{},
		inferred: map[string]bool{}, undecided: [2]map[fieldName]bool{{}, {}}, vagueTypes: map[string]bool{},
	}
	for _, step := range []func(context.Context) error{
		l.readCommits, l.readDiff, l.introspect, l.listDatafiles, l.followReferences, l.inferBackReferences, l.listResources,
		l.fetchReferringFiles, l.followReferences,
	} {
		if err := step(ctx); err != nil {
			return nil, err
		}
	}
	return l.assemble()
}

// forBothSides calls do for both sides at the same time.
func forBothSides(do func(side int) error) error {
	var g errgroup.Group
	for side := range 2 {
		g.Go(func() error { return do(side) })
	}
	return g.Wait()
}

// readCommits reads the commits of both bundles. This fails if the server does not have the
// bundles.
func (l *loader) readCommits(ctx context.Context) error {
	return forBothSides(func(side int) error {
		path := "/git-commit-info/" + l.sha[side]
		raw, err := l.client.get(ctx, path)
		if err != nil {
			return l.client.explainUnknownBundle(ctx, err, l.sha[side])
		}
		if err := json.Unmarshal(raw, &l.commit[side]); err != nil {
			return l.client.badAnswer(path, err)
		}
		return nil
	})
}
