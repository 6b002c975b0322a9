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

// words returns the words of comments. A comment that its author edited counts from the edit. Of one that somebody else
// edited, or nobody knows who, only the words count that keep a change back; unless edits of nobody knows whom count.
func (r Request) words(countsEdits bool) []decision.Word {
	var own, others []decision.Comment
	for _, c := range r.Comments {
		of := decision.Comment{By: c.By, Body: c.Body, At: c.WrittenAt}
		isEdited := c.EditedAt.After(c.WrittenAt)
		if isEdited {
			of.At = c.EditedAt
		}
		switch {
		case !isEdited || c.EditedBy == c.By || c.EditedBy == "" && countsEdits:
			own = append(own, of)
		default:
			others = append(others, of)
		}
	}
	out := append(decision.Words(own), slices.DeleteFunc(decision.Words(others), isGiving)...)
	slices.SortStableFunc(out, func(a, b decision.Word) int { return a.At.Compare(b.At) })
	return out
}

// isGiving reports whether a word may let a change through.
func isGiving(w decision.Word) bool {
	return w.Command != decision.Hold && w.Command != decision.CancelApprove
}

// edited returns whose comments would let a change through and were edited: by somebody else, and by nobody knows whom.
func (r Request) edited() (byOthers, byUnknown []string) {
	for _, c := range r.Comments {
		switch {
		case !c.EditedAt.After(c.WrittenAt) || c.EditedBy == c.By ||
			!slices.ContainsFunc(decision.Words([]decision.Comment{{Body: c.Body}}), isGiving):
		case c.EditedBy == "":
			byUnknown = append(byUnknown, c.By)
		default:
			byOthers = append(byOthers, c.By)
		}
	}
	slices.Sort(byOthers)
	slices.Sort(byUnknown)
	return slices.Compact(byOthers), slices.Compact(byUnknown)
}

// lettingThrough returns the labels of a request that let it through.
func (r Request) lettingThrough() []string {
	return slices.DeleteFunc(slices.Clone(r.Labels), func(label string) bool { return !decision.LetsThrough(label) })
}
