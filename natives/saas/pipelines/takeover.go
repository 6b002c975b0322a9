package pipelines

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/natives/saas"
	"github.com/app-sre/prcheck/natives/saas/pipelines/decide"
	"github.com/app-sre/prcheck/natives/saas/pipelines/ledger"
)

// quietTime is for how long the four integrations must not have written before what they remember
// is taken over. Two programs that start runs would start them twice.
const quietTime = time.Hour

// A takeover reads what the four integrations of qontract-reconcile remember.
type takeover struct {
	bucket  integration.BucketReader
	now     time.Time
	targets map[string][]*saas.Target // by name of the saas file

	once  sync.Once
	known map[string]bool // keys of objects that are there
	err   error
}

// signals are what the four integrations remember.
var signals = []saas.Signal{saas.SignalConfig, saas.SignalCommit, saas.SignalUpstream, saas.SignalImages}

// list lists the objects of the four integrations once, and refuses if one was written lately.
func (t *takeover) list(ctx context.Context) error {
	lister, ok := t.bucket.(integration.BucketLister)
	if !ok {
		return errors.New("the bucket does not tell when objects were written")
	}
	t.known = map[string]bool{}
	for _, s := range signals {
		entries, err := lister.Entries(ctx, s.Folder()+"/")
		if err != nil {
			return err
		}
		for _, e := range entries {
			t.known[e.Key] = true
			if age := t.now.Sub(e.Written); age < quietTime {
				return fmt.Errorf("another program wrote %q at %s: stop the four trigger integrations, and wait for an hour", e.Key,
					e.Written.UTC().Format(time.RFC3339))
			}
		}
	}
	return nil
}

// begin returns a document with what the four integrations remember of its targets.
func (t *takeover) begin(ctx context.Context, doc *ledger.Document) (*ledger.Document, error) {
	if t.once.Do(func() { t.err = t.list(ctx) }); t.err != nil {
		return nil, t.err
	}
	out := ledger.New(doc.File)
	for _, target := range t.targets[doc.File] {
		a, err := t.target(ctx, target)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", target.Label(), err)
		}
		if a != nil {
			out.Targets[target.UID()] = *a
		}
	}
	return out, nil
}

// target returns what is remembered of a target, nil if it was never deployed.
func (t *takeover) target(ctx context.Context, of *saas.Target) (*decide.Applied, error) {
	out := &decide.Applied{Key: of.StateKey(saas.SignalConfig), Values: decide.Values{}, TakenOver: true}
	for _, s := range signals {
		key := of.StateKey(s)
		if key == "" || !t.known[s.Folder()+"/"+key] {
			continue
		}
		raw, _, err := t.bucket.Get(ctx, s.Folder()+"/"+key)
		if errors.Is(err, integration.ErrNotThere) {
			continue
		}
		if err == nil {
			err = remember(out, s, raw)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", key, err)
		}
	}
	if out.Values[decide.Config] == "" {
		return nil, nil
	}
	return out, nil
}

// errForm says that an object is not one of the four integrations.
var errForm = errors.New("it is not what the trigger integrations write")

// remember adds an object of one of the four integrations.
func remember(out *decide.Applied, s saas.Signal, raw []byte) error {
	switch s {
	case saas.SignalConfig:
		var content map[string]any
		numbers := json.NewDecoder(bytes.NewReader(raw))
		numbers.UseNumber() // a number keeps its text in the hash
		if err := numbers.Decode(&content); err != nil || content == nil {
			return errForm
		}
		compact, err := json.Marshal(json.RawMessage(raw))
		if err != nil {
			return errForm
		}
		out.Values[decide.Config], out.Config = saas.ConfigHash(content), compact
	case saas.SignalUpstream:
		var build struct {
			Number *int `json:"number"`
		}
		if err := json.Unmarshal(raw, &build); err != nil || build.Number == nil {
			return errForm
		}
		out.Values[decide.Upstream] = strconv.Itoa(*build.Number)
	default:
		var text string
		if err := json.Unmarshal(raw, &text); err != nil || text == "" {
			return errForm
		}
		kind := decide.Commit
		if s == saas.SignalImages {
			kind = decide.Image
		}
		out.Values[kind] = text
	}
	return nil
}
