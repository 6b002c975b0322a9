package main

import (
	"context"
	"path"
	"regexp"
	"strings"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/natives/rounds"
	"github.com/app-sre/prcheck/natives/saas/saastest"
)

// A recorder hands out the bucket with the records of promotions in place of one of S3.
type recorder struct {
	rounds.Systems
	wire *wire
}

// BucketReader implements [rounds.Systems].
func (r recorder) BucketReader(_ context.Context, place string) (integration.BucketReader, error) {
	return records{r.wire, place}, nil
}

// BucketWriter implements [rounds.Systems].
func (r recorder) BucketWriter(_ context.Context, place string) (integration.BucketWriter, error) {
	return records{r.wire, place}, nil
}

// records is a bucket in which all publishers ran the two commits of main with success.
type records struct {
	wire  *wire
	place string
}

// Put implements [integration.BucketWriter]. What is written is not kept: nothing in a round reads it again.
func (r records) Put(_ context.Context, key string, raw []byte, version string) (string, error) {
	r.wire.note("bucket %s put %s at %q: %s", r.place, key, version,
		writerName.ReplaceAll(clocks.ReplaceAll(raw, []byte("TIME")), []byte("WRITER")))
	return "2", nil
}

// writerName matches the name that a writer of the ledger makes up.
var writerName = regexp.MustCompile(`"writer":"[A-Z0-9]+"`)

// Remove implements [integration.BucketWriter].
func (r records) Remove(_ context.Context, key, version string) error {
	r.wire.note("bucket %s remove %s at %q", r.place, key, version)
	return nil
}

// Get implements [integration.BucketReader].
func (r records) Get(_ context.Context, key string) ([]byte, string, error) {
	r.wire.note("bucket %s get %s", r.place, key)
	if commit := path.Base(key); isRecord(key) && (commit == mainSha || commit == saastest.Sha) {
		return []byte(`{"success": true, "target_config_hash": "0123456789abcdef", "saas_file": "shop", "check_in": "2026-01-02 03:04:05.000000+00:00", "has_succeeded_once": true}`), "1", nil
	}
	return nil, "", integration.ErrNotThere
}

// Keys implements [integration.BucketReader].
func (r records) Keys(_ context.Context, prefix string) ([]string, error) {
	r.wire.note("bucket %s list %s", r.place, prefix)
	if !isRecord(prefix) {
		return nil, nil
	}
	at := strings.TrimSuffix(prefix, "/") + "/"
	return []string{at + saastest.Sha, at + mainSha}, nil
}

// isRecord reports whether a key is below the folder of records.
func isRecord(key string) bool {
	return strings.HasPrefix(key, "state/openshift-saas-deploy/promotions_v2/")
}
