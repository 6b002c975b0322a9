package files

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/app-sre/prcheck/state"
)

// An ID names what is known of the files that a run read: a list ("read:…"), all files of the
// repository by their digest ("all:…"), or those that the settings declare and no others
// ("declared"). "" is nothing.
type ID string

// Declared says that the settings name the files that a task may use, so that their digest is a
// part of its command.
const Declared ID = "declared"

// All returns the id for a task that counts as having read all files with a digest.
func All(digest string) ID { return ID("all:" + digest) }

// IsRecorded reports whether the files were recorded.
func (id ID) IsRecorded() bool { return strings.HasPrefix(string(id), "read:") }

// AllDigest returns the digest of all files, and whether all files count.
func (id ID) AllDigest() (digest string, ok bool) { return strings.CutPrefix(string(id), "all:") }

// Version is the version of the documents.
const Version = "1"

// folder is the folder of the state for lists.
const folder = "files"

// A document is a list in the state.
type document struct {
	Version string `json:"version"`
	ID      ID     `json:"id"`
	Reads   List   `json:"reads"`
}

var kind = state.Kind[document]{Version: Version, Valid: func(d *document) error {
	if d.Reads.ID() != d.ID {
		return errors.New("its digest is wrong, so it was edited or damaged")
	}
	return nil
}}

// A Store keeps lists between runs. Several processes may use one at once.
type Store struct{ in state.Store }

// NewStore returns a store that keeps lists in a state.
func NewStore(in state.Store) Store { return Store{in} }

func key(integration string, id ID) string {
	return folder + "/" + state.Name(integration) + "/" + state.Name(string(id)) + ".json"
}

// Save writes a list, and returns its id.
func (s Store) Save(ctx context.Context, integration string, l List) (ID, error) {
	if l == nil {
		l = List{}
	}
	doc := document{Version, l.ID(), l}
	raw, err := json.Marshal(doc)
	if err == nil {
		err = s.in.Write(ctx, key(integration, doc.ID), raw)
	}
	if err != nil {
		return "", fmt.Errorf("remembering what %q read: %w", integration, err)
	}
	return doc.ID, nil
}

// Load returns the list of an id. The error says why there is none that counts.
func (s Store) Load(ctx context.Context, integration string, id ID) (List, error) {
	doc, err := kind.Read(ctx, s.in, key(integration, id))
	if err != nil {
		return nil, err
	}
	if doc.ID != id {
		return nil, state.ErrCorrupt
	}
	return doc.Reads, nil
}
