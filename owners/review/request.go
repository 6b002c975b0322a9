package review

import (
	"context"
	"slices"
	"time"

	"github.com/app-sre/prcheck/owners/approvals"
	"github.com/app-sre/prcheck/owners/decision"
)

// A Request is a merge request as its server has it.
type Request struct {
	Head     string
	Author   string
	Labels   []string
	Comments []EditedComment // the description among them, as the author's
	Versions []approvals.Version
	Note     string // the own note, "" if there is none
	Status   Status // of the head
}

// An EditedComment is a text with its edits.
type EditedComment struct {
	By        string
	Body      string
	WrittenAt time.Time
	EditedAt  time.Time // zero if it was not edited
	EditedBy  string    // "" if the server does not tell
}

// A Status is what stands on a commit. It is what a queue should ask for: labels are for people.
type Status struct {
	IsApproved bool
	Text       string
}

// A Forge is the server of a merge request.
type Forge interface {
	Read(ctx context.Context) (Request, error)
	Write(ctx context.Context, w Write) error
}

// A Write is one write to a server. Exactly one of its parts is there.
type Write struct {
	Add, Remove []string // labels
	Head        string   // the commit that gets the status
	Status      *Status
	Note        *string
}

// A Keeper keeps the entries of a merge request between runs.
type Keeper interface {
	Load(ctx context.Context) (approvals.Book, error)
	Save(ctx context.Context, b approvals.Book) error
}

// words returns the words of comments. A comment that was edited counts from the edit, and not at all if somebody else
// edited it. If nobody knows who edited it, only the words count that keep a change back, unless edits count.
func (r Request) words(countsEdits bool) []decision.Word {
	var known, unknown []decision.Comment
	for _, c := range r.Comments {
		of := decision.Comment{By: c.By, Body: c.Body, At: c.WrittenAt}
		isEdited := c.EditedAt.After(c.WrittenAt)
		if isEdited {
			of.At = c.EditedAt
		}
		switch {
		case !isEdited || c.EditedBy == c.By || c.EditedBy == "" && countsEdits:
			known = append(known, of)
		case c.EditedBy == "":
			unknown = append(unknown, of)
		}
	}
	out := append(decision.Words(known), slices.DeleteFunc(decision.Words(unknown), isGiving)...)
	slices.SortStableFunc(out, func(a, b decision.Word) int { return a.At.Compare(b.At) })
	return out
}

// isGiving reports whether a word may let a change through.
func isGiving(w decision.Word) bool {
	return w.Command != decision.Hold && w.Command != decision.CancelApprove
}

// edited returns whose comments let a change through and were edited by nobody knows whom, sorted.
func (r Request) edited() []string {
	var out []string
	for _, c := range r.Comments {
		if c.EditedAt.After(c.WrittenAt) && c.EditedBy == "" &&
			slices.ContainsFunc(decision.Words([]decision.Comment{{Body: c.Body}}), isGiving) {
			out = append(out, c.By)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// lettingThrough returns the labels of a request that let it through.
func (r Request) lettingThrough() []string {
	return slices.DeleteFunc(slices.Clone(r.Labels), func(label string) bool { return !decision.LetsThrough(label) })
}
