package dependence

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/app-sre/prcheck/state"
)

// A Beyond lists on what of a bundle answers depend, except for the datafiles of allowed
// schemas.
type Beyond struct {
	Schemas   []string `json:"schemas,omitempty"`   // schemas of datafiles that are not allowed
	Missing   []string `json:"missing,omitempty"`   // paths without a datafile to which references lead
	Resources []string `json:"resources,omitempty"` // paths of resources that were asked for
	Lists     bool     `json:"lists,omitempty"`     // lists of resources were asked for
	Backrefs  bool     `json:"backrefs,omitempty"`  // the backrefs of resources were read
	Anything  bool     `json:"anything,omitempty"`  // there is more than can be remembered
	// Files are the files of the repository that were read, by their paths; that of a folder that
	// was listed has a slash at its end.
	Files []string `json:"files,omitempty"`
	// AllFiles tells that more files were read than can be remembered.
	AllFiles bool `json:"all_files,omitempty"`
}

// The bounds of the lists of a Beyond.
const (
	maxNames = 1000
	maxFiles = 5000
)

// With returns what both list.
func (b Beyond) With(more Beyond) Beyond {
	out := Beyond{
		Schemas: union(b.Schemas, more.Schemas), Missing: union(b.Missing, more.Missing),
		Resources: union(b.Resources, more.Resources), Files: union(b.Files, more.Files),
		Lists: b.Lists || more.Lists, Backrefs: b.Backrefs || more.Backrefs, Anything: b.Anything || more.Anything,
		AllFiles: b.AllFiles || more.AllFiles,
	}
	if len(out.Files) > maxFiles {
		out.Files, out.AllFiles = out.Files[:maxFiles], true
	}
	for _, list := range []*[]string{&out.Schemas, &out.Missing, &out.Resources} {
		if len(*list) > maxNames {
			*list, out.Anything = (*list)[:maxNames], true
		}
	}
	return out
}

// union returns the items of both lists, sorted, each once.
func union(a, b []string) []string {
	out := slices.Concat(a, b)
	slices.Sort(out)
	return slices.Compact(out)
}

// A Run is one run of a task.
type Run struct {
	Task        string // its id in the plan
	Integration string
	Command     string // of the task
	Passed      bool
	At          time.Time
	Beyond      Beyond
	Read        string // the files that it read
}

// Version is the version of the document.
const Version = "1"

// The bounds of the document.
const (
	maxDocument = 16 << 20
	maxCommands = 8 // of an integration
)

// Folder is the folder of the state for dependences. It must never be collected, since
// integrations would be skipped by their schemas again.
const Folder = "dependence"

const key = Folder + "/all.json"

// A document holds all that is remembered. It is one, because a planner needs it whole.
type document struct {
	Version      string               `json:"version"`
	Integrations map[string][]command `json:"integrations"`
}

// A command is what is known of an integration that is started in one way.
type command struct {
	Command string    `json:"command"`
	Passed  bool      `json:"passed"`         // a run of it passed
	At      time.Time `json:"at"`             // of the last run
	Read    string    `json:"read,omitempty"` // by the last run that passed
	Beyond
}

var kind = state.Kind[document]{Version: Version, Limit: maxDocument}

// A Store remembers dependences between runs. Several processes may use one at once.
type Store struct{ in state.Store }

// NewStore returns a store that keeps dependences in a state.
func NewStore(in state.Store) Store { return Store{in} }

// Add remembers runs. What was known before stays known.
func (s Store) Add(ctx context.Context, runs []Run) error {
	if len(runs) == 0 {
		return nil
	}
	warning, err := kind.Update(ctx, s.in, key, func(doc *document) {
		doc.Version = Version
		if doc.Integrations == nil {
			doc.Integrations = map[string][]command{}
		}
		for _, r := range runs {
			doc.Integrations[r.Integration] = add(doc.Integrations[r.Integration], r)
		}
	})
	if err = errors.Join(warning, err); err != nil {
		return fmt.Errorf("remembering what answers depend on: %w", err)
	}
	return nil
}

// add adds a run to what is known of an integration. The commands that ran last are kept.
func add(known []command, r Run) []command {
	at := r.At.UTC().Truncate(time.Second)
	now := command{Command: r.Command, Passed: r.Passed, At: at, Beyond: r.Beyond}
	if r.Passed {
		now.Read = r.Read
	}
	if i := slices.IndexFunc(known, func(c command) bool { return c.Command == r.Command }); i >= 0 {
		if !r.Passed {
			now.Passed, now.Read = known[i].Passed, known[i].Read
		}
		now.Beyond = known[i].With(r.Beyond)
		known = slices.Delete(known, i, i+1)
	}
	known = append([]command{now}, known...)
	return known[:min(len(known), maxCommands)]
}

// A Snapshot is all that was remembered at one time. The zero value knows nothing.
type Snapshot struct {
	integrations map[string][]command
	same         func(integration, read string) bool
}

// In returns the snapshot as it is seen in the files of a side: a run that passed counts only if
// the files that it read, which its name tells, are the same there.
func (s Snapshot) In(same func(integration, read string) bool) Snapshot {
	s.same = same
	return s
}

// Snapshot reads all that is remembered. If it cannot be read, nothing is known, and the
// error says why.
func (s Store) Snapshot(ctx context.Context) (Snapshot, error) {
	doc, err := kind.Read(ctx, s.in, key)
	switch {
	case errors.Is(err, state.ErrNotFound):
		return Snapshot{}, nil
	case err != nil:
		return Snapshot{}, fmt.Errorf("what answers depend on is not known: %w", err)
	}
	return Snapshot{integrations: doc.Integrations}, nil
}

// Beyond returns on what the answers of an integration depend, whatever command it had.
func (s Snapshot) Beyond(integration string) Beyond {
	var out Beyond
	for _, c := range s.integrations[integration] {
		out = out.With(c.Beyond)
	}
	return out
}

// Passed reports whether a run of an integration with this command passed.
func (s Snapshot) Passed(integration, digest string) bool {
	return slices.ContainsFunc(s.integrations[integration], func(c command) bool {
		return c.Command == digest && c.Passed && (s.same == nil || s.same(integration, c.Read))
	})
}
