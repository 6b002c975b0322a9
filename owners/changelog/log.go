package changelog

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/app-sre/prcheck/internal/pyjson"
)

// The documents in which a log is kept: whole, and without the oldest entries.
const (
	Document      = "bundle-diffs.json"
	SmallDocument = "minimized-bundle-diffs.json"
)

// maxSmall is how large the small document is at most, in bytes.
const maxSmall = 990 * 1024

// An Entry is a commit of the branch: what it touched.
type Entry struct {
	Commit      string   `json:"commit"`
	MergedAt    string   `json:"merged_at"`
	ChangeTypes []string `json:"change_types"`
	Error       bool     `json:"error"` // what it touched could not be found out
	Apps        []string `json:"apps"`
	Description string   `json:"description"`
}

// NewEntry returns the entry of a commit that is yet to be read.
func NewEntry(commit string, made time.Time, message string) Entry {
	return Entry{Commit: commit, MergedAt: made.Format("2006-01-02T15:04:05.000-07:00"), Description: describe(message)}
}

// describe returns the first line of a message that says what was merged.
func describe(message string) string {
	for line := range strings.Lines(message) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "Merge branch '") {
			return line
		}
	}
	return ""
}

// A Log is the entries of a branch, the newest first.
type Log struct {
	Entries []Entry `json:"items"`
}

// Read reads a log that was kept.
func Read(raw []byte) (*Log, error) {
	l := &Log{}
	if err := json.Unmarshal(raw, l); err != nil {
		return nil, fmt.Errorf("it is no change log: %w", err)
	}
	for i, e := range l.Entries {
		if e.Commit == "" {
			return nil, fmt.Errorf("it is no change log: entry %d names no commit", i)
		}
	}
	return l, nil
}

// Has reports whether a log knows a commit.
func (l *Log) Has(commit string) bool {
	return slices.ContainsFunc(l.Entries, func(e Entry) bool { return e.Commit == commit })
}

// Add adds entries, and puts all into order.
func (l *Log) Add(all ...Entry) {
	l.Entries = append(l.Entries, all...)
	slices.SortStableFunc(l.Entries, func(a, b Entry) int {
		return cmp.Or(cmp.Compare(b.MergedAt, a.MergedAt), cmp.Compare(a.Commit, b.Commit))
	})
}

// Encode returns a log as it is kept.
func (l *Log) Encode() []byte {
	items := []any{}
	for _, e := range l.Entries {
		items = append(items, e.content())
	}
	return pyjson.Sorted(map[string]any{"items": items})
}

// content returns an entry for encoding.
func (e Entry) content() any {
	return map[string]any{"commit": e.Commit, "merged_at": e.MergedAt, "error": e.Error, "description": e.Description,
		"apps": listed(e.Apps), "change_types": listed(e.ChangeTypes)}
}

// listed returns a list that is never null.
func listed(all []string) []string { return append([]string{}, all...) }

// Small returns the newest entries that fit into the small document. Five oldest ones are left out at a time.
func (l *Log) Small() *Log {
	size := len((&Log{}).Encode())
	sizes := make([]int, len(l.Entries))
	for i, e := range l.Entries {
		sizes[i] = len(pyjson.Sorted(e.content())) + len(", ")
		size += sizes[i]
	}
	n := len(sizes)
	for n > 0 && size-len(", ") >= maxSmall {
		for range min(5, n) {
			n--
			size -= sizes[n]
		}
	}
	return &Log{slices.Clone(l.Entries[:n])}
}
