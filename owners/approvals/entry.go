package approvals

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"time"

	"github.com/app-sre/prcheck/owners/content"
	"github.com/app-sre/prcheck/owners/coverage"
	"github.com/app-sre/prcheck/owners/decision"
	"github.com/app-sre/prcheck/owners/difference"
	"github.com/app-sre/prcheck/qontract/jsonpath"
)

// A Subject is what an approval is about: a place with its content on both sides.
type Subject struct {
	Kind  content.Kind `json:"kind"`
	File  string       `json:"file"`
	Place string       `json:"place"` // list items by their identity: l.{a}.v
	Base  string       `json:"base"`  // digest of the value in base
	Head  string       `json:"head"`  // digest of the value in head
}

// An Entry is a word that was turned into what it is about.
type Entry struct {
	Subject
	Person  string           `json:"person"`
	Command decision.Command `json:"command"`
	At      time.Time        `json:"at"`              // of the word
	Version string           `json:"version"`         // the commit about which it was said
	Could   bool             `json:"could,omitempty"` // the person could approve the place then
}

// Of returns the subject of a place.
func Of(f *coverage.File, p *coverage.CoveredPlace) Subject {
	s := Subject{Kind: f.Kind, File: f.Path, Place: "_text_", Base: digest(p.Kind, f.OldSum),
		Head: digest(p.Kind, f.NewSum)}
	switch p.Kind {
	case difference.Text:
		return s
	case difference.Removed:
		s.Place = named(p.Base, f.Old)
	default:
		s.Place = named(p.Head, f.New)
		if from := named(p.Base, f.Old); p.Kind != difference.Added && from != s.Place {
			s.Place += " from " + from
		}
	}
	s.Base, s.Head = digest(p.Kind, text(p.Kind, p.Old)), digest(p.Kind, text(p.Kind, p.New))
	return s
}

// text returns what counts of a value: of a list that is reordered the order, else all of it.
func text(kind difference.Kind, v any) string {
	list, isList := v.([]any)
	if kind != difference.Reordered || !isList {
		return difference.Canonical(v)
	}
	var order []any
	for _, item := range list {
		id := difference.Identity(item)
		if id == "" {
			id = "item " + difference.Canonical(item)
		}
		order = append(order, id)
	}
	return difference.Canonical(order)
}

// digest returns the digest of a value; the kind keeps null and a value that is not there apart.
func digest(kind difference.Kind, text string) string {
	sum := sha256.Sum256([]byte(kind.String() + " " + text))
	return hex.EncodeToString(sum[:])
}

// named writes a place with the identity of list items in the place of their positions.
func named(at jsonpath.Location, document any) string {
	if len(at) == 0 {
		return "$"
	}
	out := ""
	for i, step := range at {
		if i > 0 {
			out += "."
		}
		item, _ := at[:i+1].At(document)
		if id := difference.Identity(item); step.IsItem && id != "" {
			_, id, _ = strings.Cut(id, " ")
			out += "{" + id + "}"
			continue
		}
		out += step.String()
	}
	return out
}
