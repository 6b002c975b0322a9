package promotion

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/app-sre/prcheck/integration"
)

// timelines is the folder of the timelines of publishers, beside that of qontract-reconcile.
const timelines = "state/prcheck-saas-deploy/runs/"

// Limits of a timeline: runs, and bytes of its object.
const (
	maxRuns     = 500
	maxTimeline = 256 << 10
)

// A Run says since when a publisher ran a commit.
type Run struct {
	Commit string    `json:"commit"`
	At     time.Time `json:"at"`
}

// A timeline is the runs of a publisher of a channel, oldest first, each of another commit than
// the one before. It exists because a record has one time alone: when a publisher goes back to a
// commit that it ran before, the record gets the new time, and nobody could tell any more when
// the commit before it ended.
type timeline struct {
	Version int   `json:"version"`
	Runs    []Run `json:"runs"`
}

// timelineKey returns the key of the timeline of a place.
func timelineKey(at RecordPlace) (string, error) {
	key, err := Key(at, "x")
	if err != nil {
		return "", err
	}
	return timelines + strings.TrimSuffix(strings.TrimPrefix(key, Root), "/x"), nil
}

// readTimeline returns the timeline of a place with its version, an empty one if there is none.
func readTimeline(ctx context.Context, bucket integration.BucketReader, at RecordPlace) (timeline, string, error) {
	none := timeline{Version: 1}
	key, err := timelineKey(at)
	if err != nil {
		return none, "", err
	}
	raw, version, err := bucket.Get(ctx, key)
	switch {
	case errors.Is(err, integration.ErrNotThere):
		return none, "", nil
	case err != nil:
		return none, "", fmt.Errorf("reading the timeline of %s in the channel %s: %w", at.UID, at.Channel, err)
	}
	out, err := parseTimeline(raw)
	if err != nil {
		return none, "", fmt.Errorf("reading the timeline of %s in the channel %s: %w", at.UID, at.Channel, err)
	}
	return out, version, nil
}

// parseTimeline reads the object of a timeline.
func parseTimeline(raw []byte) (timeline, error) {
	var out timeline
	if len(raw) > maxTimeline {
		return out, fmt.Errorf("it has more than %d bytes", maxTimeline)
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(&out); err != nil {
		return out, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return out, errors.New("something follows the document")
	}
	if out.Version != 1 {
		return out, fmt.Errorf("it has version %d, and this program knows version 1", out.Version)
	}
	return out, nil
}

// noteRun adds a run to the timeline of a place, unless the commit is the one that runs, and
// reports whether another commit ran since the commit began to.
func noteRun(ctx context.Context, bucket integration.BucketWriter, at RecordPlace, commit string,
	now time.Time) (replaced bool, err error) {
	key, err := timelineKey(at)
	if err != nil {
		return false, err
	}
	for range maxTries {
		is, version, err := readTimeline(ctx, bucket, at)
		if err != nil {
			return false, err
		}
		n := len(is.Runs)
		if n > 0 && is.Runs[n-1].Commit == commit {
			return false, nil
		}
		is.Runs = append(is.Runs, Run{commit, now.UTC().Truncate(time.Microsecond)})
		is.Runs = is.Runs[max(0, len(is.Runs)-maxRuns):]
		raw, err := json.Marshal(is)
		if err != nil {
			return false, err
		}
		_, err = bucket.Put(ctx, key, raw, version)
		if !errors.Is(err, integration.ErrChanged) {
			return n > 0, err
		}
	}
	return false, fmt.Errorf("writing the timeline: %w", integration.ErrChanged)
}
