package ledger

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"
)

// Version is the version of books that this program writes and reads.
const Version = "saas-ledger/v1"

// Limits of a book.
const (
	MaxRuns    = 50       // that stand in full
	MaxEntries = 40       // beside those that stand
	MaxFolded  = 120      // commits of which the time alone is known
	MaxBook    = 32 << 10 // bytes
)

// A Book is what is remembered of a target. Books are values: methods return changed copies.
type Book struct {
	Version    string `json:"version"`
	Generation int    `json:"generation"` // grows with each write; 0 was never written
	Writer     string `json:"writer"`     // of this generation
	UID        string `json:"uid"`
	Target     string `json:"target"` // its name for people
	// Line is the commits of the runs in their order, oldest first, as far as a loop saw it.
	Line []string `json:"line,omitempty"`
	Runs []Run    `json:"runs,omitempty"` // oldest first
	// Folded are commits that ran well before the first of the runs, and Last the one that ran last before it.
	Folded map[string]Fold `json:"folded,omitempty"`
	Last   string          `json:"last,omitempty"`
	// Entries are what people and loops said, oldest first.
	Entries []Entry `json:"entries,omitempty"`
	// Heard is the highest number of a merge request whose end was noted.
	Heard int `json:"heard,omitempty"`
}

// A Result says how a run ended.
type Result string

// The results. Nobody knows is the zero value.
const (
	Ended  Result = ""       // nobody knows whether it ended well
	Good   Result = "ok"     // it ended well
	Failed Result = "failed" // it failed
)

// A Run is the end of a run of a target.
type Run struct {
	Commit string    `json:"commit"`
	At     time.Time `json:"at"`
	Result Result    `json:"result,omitempty"`
	Config string    `json:"config,omitempty"` // hash of what it was deployed with
	Why    string    `json:"why,omitempty"`    // it failed
	// Check is the verification of what the run deployed; nil if there is none.
	Check *Check `json:"check,omitempty"`
}

// A Fold is what is left of old runs of a commit.
type Fold struct {
	Seconds int64 `json:"s"`
	Bad     Bad   `json:"bad,omitempty"`
}

// New returns the book of a target of which nothing is remembered.
func New(uid, target string) *Book { return &Book{Version: Version, UID: uid, Target: target} }

// Parse reads a book strictly.
func Parse(raw []byte) (*Book, error) {
	var b Book
	if len(raw) > 2*MaxBook {
		return nil, fmt.Errorf("it has more than %d bytes", 2*MaxBook)
	}
	var head struct {
		Version string `json:"version"`
	}
	if err := json.Unmarshal(raw, &head); err != nil {
		return nil, err
	}
	if head.Version != Version {
		return nil, fmt.Errorf("it has the version %.40q, and this program knows %q", head.Version, Version)
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(&b); err != nil {
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("something follows the document")
	}
	return &b, b.valid()
}

// valid returns what is wrong with a book.
func (b *Book) valid() error {
	if b.Generation < 1 || b.UID == "" || b.Writer == "" {
		return errors.New("a member is missing")
	}
	last := time.Time{}
	for _, r := range b.Runs {
		if r.Commit == "" || r.At.IsZero() || r.At.Before(last) {
			return fmt.Errorf("the run of %.12q is incomplete, or not in the order of time", r.Commit)
		}
		if !slices.Contains([]Result{Ended, Good, Failed}, r.Result) {
			return fmt.Errorf("the run of %.12s ended in a way that nobody knows: %.20q", r.Commit, r.Result)
		}
		last = r.At
	}
	for _, e := range b.Entries {
		if !e.Verb.known() || e.At.IsZero() {
			return fmt.Errorf("an entry is incomplete, or has a word that nobody knows: %.20q", e.Verb)
		}
	}
	return nil
}

// clone returns a copy that shares nothing which is changed.
func (b *Book) clone() *Book {
	out := *b
	out.Line, out.Runs, out.Entries = slices.Clone(b.Line), slices.Clone(b.Runs), slices.Clone(b.Entries)
	out.Folded = maps.Clone(b.Folded)
	return &out
}

// Same reports whether two books say the same, whoever wrote them.
func (b *Book) Same(o *Book) bool {
	x, y := *b, *o
	x.Generation, x.Writer, y.Generation, y.Writer = 0, "", 0, ""
	rawX, errX := json.Marshal(x)
	rawY, errY := json.Marshal(y)
	return errX == nil && errY == nil && bytes.Equal(rawX, rawY)
}

// Ran reports whether the target ran a commit well at any time. A run that is being verified does not count yet.
func (b *Book) Ran(commit string) bool {
	if b == nil {
		return false
	}
	if _, ok := b.Folded[commit]; ok {
		return true
	}
	return slices.ContainsFunc(b.Runs, func(r Run) bool { return r.Commit == commit && r.well() })
}

// Newest returns the commit that ran last, "" if none did.
func (b *Book) Newest() string {
	if b == nil || len(b.Runs) == 0 {
		return ""
	}
	return b.Runs[len(b.Runs)-1].Commit
}
