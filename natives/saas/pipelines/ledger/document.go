package ledger

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/app-sre/prcheck/natives/saas/pipelines/decide"
	"github.com/app-sre/prcheck/state"
)

// version is the version of documents that this program writes and reads.
const version = "saas/v1"

// Folder has the documents.
const Folder = "saas/v1"

// maxDocument is the size of the largest document in bytes.
const maxDocument = 32 << 20

// A Document is what is remembered of a saas file.
type Document struct {
	Version    string `json:"version"`
	Generation int    `json:"generation"` // grows with each write; 0 was never written
	Writer     string `json:"writer"`     // of this generation
	File       string `json:"file"`       // name of the saas file
	// Targets are what is applied, by uid.
	Targets map[string]decide.Applied `json:"targets"`
	Cells   map[string]Cell           `json:"cells"` // by environment
	Gone    map[string]time.Time      `json:"gone"`  // targets that the data no longer have, since when
}

// A Cell is what is remembered of the runs of one environment.
type Cell struct {
	Intent *decide.Intent  `json:"intent,omitempty"`
	Next   string          `json:"next,omitempty"`
	Failed *decide.Failure `json:"failed,omitempty"`
}

// Key returns the key of the document of a saas file.
func Key(file string) string { return Folder + "/" + state.Name(file) }

// New returns the document of a saas file of which nothing is remembered.
func New(file string) *Document {
	return &Document{Version: version, File: file, Targets: map[string]decide.Applied{}, Cells: map[string]Cell{},
		Gone: map[string]time.Time{}}
}

// kind reads documents.
var kind = state.Kind[Document]{Version: version, Limit: maxDocument, Valid: valid}

// valid returns what is wrong with a document.
func valid(d *Document) error {
	if d.Generation < 1 || d.File == "" || d.Targets == nil || d.Cells == nil || d.Gone == nil {
		return errors.New("a member is missing")
	}
	for uid, t := range d.Targets {
		if uid == "" || t.Key == "" || t.Values == nil {
			return fmt.Errorf("the target %.60q is incomplete", uid)
		}
	}
	for env, c := range d.Cells {
		if env == "" || c.Intent == nil && c.Failed == nil {
			return fmt.Errorf("the cell %.60q is empty", env)
		}
		if it := c.Intent; it != nil &&
			(it.ID == "" || it.Run == "" || it.Phase != decide.Pending && it.Phase != decide.Running ||
				it.Holds.Fingerprint() != it.Fingerprint) {
			return fmt.Errorf("the intent of the cell %.60q is incomplete, or its fingerprint is wrong", env)
		}
		if f := c.Failed; f != nil && (f.ID == "" || f.Fingerprint == "" || f.Runs < 1 || len(f.Own) == 0 ||
			len(f.Holds) == 0) {
			return fmt.Errorf("the failure of the cell %.60q is incomplete", env)
		}
	}
	return nil
}

// Memory returns what is remembered of a cell.
func (d *Document) Memory(env string, uids []string) decide.Memory {
	c := d.Cells[env]
	m := decide.Memory{Targets: map[string]decide.Applied{}, Intent: c.Intent, Next: c.Next, Failed: c.Failed}
	for _, uid := range uids {
		if t, ok := d.Targets[uid]; ok {
			m.Targets[uid] = t
		}
	}
	return m
}

// With returns the document with what is remembered of a cell now.
func (d *Document) With(env string, m decide.Memory) *Document {
	out := *d
	out.Targets, out.Cells = maps.Clone(d.Targets), maps.Clone(d.Cells)
	maps.Copy(out.Targets, m.Targets)
	out.Cells[env] = Cell{Intent: m.Intent, Next: m.Next, Failed: m.Failed}
	if m.Intent == nil && m.Failed == nil {
		delete(out.Cells, env)
	}
	return &out
}

// WithoutGone returns the document without the targets and the cells that are gone for long. The
// data have the named targets and environments.
func (d *Document) WithoutGone(named, environments map[string]bool, now time.Time) *Document {
	known := map[string]bool{}
	for uid := range d.Targets {
		known[uid] = true
	}
	forget, gone := decide.Forget(known, named, d.Gone, now)
	out := *d
	out.Gone, out.Targets, out.Cells = gone, maps.Clone(d.Targets), maps.Clone(d.Cells)
	maps.DeleteFunc(out.Targets, func(uid string, _ decide.Applied) bool { return forget[uid] })
	maps.DeleteFunc(out.Cells, func(env string, c Cell) bool { return !environments[env] && c.isOld(now) })
	return &out
}

// isOld reports whether nothing happened in a cell for long.
func (c Cell) isOld(now time.Time) bool {
	last := time.Time{}
	if c.Intent != nil {
		last = c.Intent.Since
	}
	if c.Failed != nil && c.Failed.Since.After(last) {
		last = c.Failed.Since
	}
	return now.Sub(last) >= decide.KeepGone
}

// IsEmpty reports whether nothing is remembered.
func (d *Document) IsEmpty() bool { return len(d.Targets) == 0 && len(d.Cells) == 0 }

// Same reports whether two documents remember the same.
func (d *Document) Same(other *Document) bool {
	a, b := *d, *other
	a.Generation, b.Generation, a.Writer, b.Writer = 0, 0, "", ""
	x, errX := json.Marshal(a)
	y, errY := json.Marshal(b)
	return errX == nil && errY == nil && string(x) == string(y)
}

// Environments returns the environments with runs or failures, sorted.
func (d *Document) Environments() []string { return slices.Sorted(maps.Keys(d.Cells)) }

// RunName returns the name of the run of an intent: the name of the cell in lower case, cut to 48
// bytes and without hyphens at its end, a hyphen, and 7 digits of the id.
func RunName(cell, id string) string {
	file, env, _ := strings.Cut(cell, "/")
	name := strings.ToLower(file + "-" + env)
	return strings.TrimRight(name[:min(len(name), 48)], "-") + "-" + id[:min(len(id), 7)]
}
