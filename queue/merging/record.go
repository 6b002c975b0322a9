package merging

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/app-sre/prcheck/queue"
	"github.com/app-sre/prcheck/state"
)

// ErrFenced is the error when another loop owns the branch by now.
var ErrFenced = errors.New("another loop owns the branch by now")

// A CallKind is a call that changes something at the forge.
type CallKind string

// The calls.
const (
	CallRebase  CallKind = "rebase"
	CallPublish CallKind = "publish"
	CallMerge   CallKind = "merge"
)

// An Intent is a call that is about to be made, or was made.
type Intent struct {
	Call   CallKind     `json:"call"`
	Number int          `json:"number"`
	Proven queue.Proven `json:"proven"`
}

// A MergedTree is what a merge of the queue made of the branch.
type MergedTree struct {
	Number int    `json:"number"`
	Commit string `json:"commit"`
	Tree   string `json:"tree"`
}

// maxMerged bounds how many merges a record has.
const maxMerged = 200

// A Record is what is remembered of a branch.
type Record struct {
	Version string       `json:"version"`
	Branch  string       `json:"branch"` // with its project
	Fence   int          `json:"fence"`  // of the owner; grows with each
	Holder  string       `json:"holder"` // the owner, by a random name: a record that was lost begins anew
	Base    string       `json:"base"`   // commit of the branch as the owner saw it last; "" is never
	Intent  *Intent      `json:"intent,omitempty"`
	Merged  []MergedTree `json:"merged,omitempty"` // the newest last
}

var kind = state.Kind[Record]{Version: "merge-queue/v1", Limit: 1 << 20, Valid: func(r *Record) error {
	switch {
	case r.Fence < 1 || r.Branch == "" || r.Holder == "":
		return errors.New("a member is missing")
	case r.Intent != nil && (r.Intent.Number < 1 || r.Intent.Proven.Head == "" || r.Intent.Proven.Tree == ""):
		return errors.New("its intent is incomplete")
	}
	return nil
}}

// An Owner owns a branch: its record has its fencing number. A record that is damaged or newer belongs to nobody until
// a person looks at it.
type Owner struct {
	store  state.Store
	key    string
	record Record
}

// Own takes a branch with a greater fencing number than all before. The caller holds the lease of the branch.
func Own(ctx context.Context, s state.Store, branch string) (*Owner, error) {
	holder := strings.ToLower(rand.Text())
	o := &Owner{store: s, key: "merge-queue/" + state.Name(branch) + ".json"}
	err := s.Update(ctx, o.key, func(old []byte) ([]byte, error) {
		o.record = Record{Version: kind.Version, Branch: branch}
		if old != nil {
			was, err := kind.Decode(old)
			if err != nil {
				return nil, err
			}
			o.record = *was
		}
		if o.record.Branch != branch {
			return nil, fmt.Errorf("it is the record of %q", o.record.Branch)
		}
		o.record.Fence, o.record.Holder = o.record.Fence+1, holder
		return json.Marshal(o.record)
	})
	if err != nil {
		return nil, fmt.Errorf("taking the branch %s: %w", branch, err)
	}
	return o, nil
}

// Record returns what is remembered.
func (o *Owner) Record() Record {
	r := o.record
	r.Merged = slices.Clone(r.Merged)
	return r
}

// Write changes the record. The error is [ErrFenced] if another loop owns the branch by now: nothing was changed then.
func (o *Owner) Write(ctx context.Context, change func(*Record)) error {
	next := o.Record()
	change(&next)
	if n := len(next.Merged); n > maxMerged {
		next.Merged = next.Merged[n-maxMerged:]
	}
	next.Fence, next.Holder = o.record.Fence, o.record.Holder
	err := o.store.Update(ctx, o.key, func(old []byte) ([]byte, error) {
		if old == nil {
			return nil, errors.New("it is gone")
		}
		was, err := kind.Decode(old)
		switch {
		case err != nil:
			return nil, err
		case was.Fence != next.Fence || was.Holder != next.Holder:
			return nil, ErrFenced
		}
		return json.Marshal(next)
	})
	if err != nil {
		return fmt.Errorf("writing the record of %s: %w", o.record.Branch, err)
	}
	o.record = next
	return nil
}
