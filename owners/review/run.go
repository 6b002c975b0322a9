package review

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/app-sre/prcheck/owners/approvals"
	"github.com/app-sre/prcheck/owners/coverage"
	"github.com/app-sre/prcheck/owners/decision"
)

// An Input is what one run needs.
type Input struct {
	Forge  Forge
	Keeper Keeper
	Head   string // the commit that the files are of
	Files  []*coverage.File
	// Before returns the files of a version as it was, if they are known: its base may be older, also that of the head.
	Before       func(head string) (files []*coverage.File, ok bool)
	Bots         []string
	IgnoreAuthor bool
	CountsEdits  bool // settings of base say that edited comments count, though nobody knows who edited them
	IsLimited    bool // the change also touches files outside of the bundle: it is not self-serviceable
	// Silent says which sources of members do not answer. While one is silent nothing is let through that was not before.
	Silent []string
}

// An Outcome is what was decided, and what was lost since.
type Outcome struct {
	*decision.Decision
	Lost []approvals.Loss
	// Uncounted are people whose words do not count, since somebody else edited their comments, or nobody knows who.
	Uncounted []string
	// Edited are people whose words count although nobody knows who edited their comments.
	Edited []string
	Silent []string // what is not known of members
	Pinged []string // whom the note mentions with @, since they want that: whoever was mentioned once, too
	// IsShut says that the change was not let through before, and is not while a source of members is silent.
	IsShut bool
}

// ErrMoved is the error when the server has another head than the one that was decided about. Another run decides.
var ErrMoved = errors.New("the merge request has another head by now")

// ErrSaid is the error when somebody said something while the decision was written. Another run decides.
var ErrSaid = errors.New("somebody said something about the merge request meanwhile")

// Run decides about a merge request and writes the decision. After an error nothing lets the change through.
func Run(ctx context.Context, in Input) (*Outcome, error) {
	r, err := in.Forge.Read(ctx)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("reading the merge request: %w", err), Shut(ctx, in.Forge, in.Head))
	}
	out, err := in.decide(ctx, r)
	if err == nil {
		err = in.write(ctx, r, out)
	}
	if err != nil {
		return nil, errors.Join(err, Shut(ctx, in.Forge, in.Head))
	}
	return out, nil
}

// Look decides about a merge request, and writes nothing. It returns the comments as well.
func Look(ctx context.Context, in Input) (*Outcome, []EditedComment, error) {
	r, err := in.Forge.Read(ctx)
	if err != nil {
		return nil, nil, fmt.Errorf("reading the merge request: %w", err)
	}
	in.Keeper = reading{in.Keeper}
	out, err := in.decide(ctx, r)
	return out, r.Comments, err
}

// A reading keeper keeps nothing new.
type reading struct{ Keeper }

func (reading) Save(context.Context, approvals.Book) error { return nil }

// unknown is the status of a head about which nothing could be decided.
var unknown = Status{Text: "it could not be found out who approved it"}

// shutTime is how long it may take to take away what lets a change through.
const shutTime = time.Minute

// Shut takes away what lets a change through: the labels, unless another run has approved another head, and the status
// of the head if it is still the one of the server. If the merge request cannot be read all of them go.
func Shut(ctx context.Context, f Forge, head string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutTime) // also when the job is canceled
	defer cancel()
	r, err := f.Read(ctx)
	if err != nil {
		r = Request{Head: head, Labels: decision.LettingThrough(), Status: Status{IsApproved: true}}
	}
	var writes []Write
	if labels := r.lettingThrough(); len(labels) > 0 && (r.Head == head || !r.Status.IsApproved) {
		writes = append(writes, Write{Remove: labels})
	}
	if r.Head == head && r.Status.IsApproved {
		writes = append(writes, Write{Head: head, Status: &unknown})
	}
	var errs []error
	for _, w := range writes {
		errs = append(errs, f.Write(ctx, w)) // the others are tried as well
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("taking away what lets the change through: %w", err)
	}
	return nil
}

// decide enters new words, and decides by those that hold.
func (in Input) decide(ctx context.Context, r Request) (*Outcome, error) {
	if r.Head != in.Head {
		return nil, ErrMoved
	}
	book, err := in.Keeper.Load(ctx)
	if err != nil {
		return nil, fmt.Errorf("reading what was approved: %w", err)
	}
	words := r.words(in.CountsEdits)
	n := len(book.Entries)
	for _, w := range words {
		in.enter(&book, w, r.Versions)
	}
	if len(book.Entries) > n {
		if err := in.Keeper.Save(ctx, book); err != nil {
			return nil, fmt.Errorf("keeping what was approved: %w", err)
		}
	}
	d := decision.Decide(in.Files, decision.Input{Author: r.Author, Bots: in.Bots, Words: words,
		IgnoreAuthor: in.IgnoreAuthor, Holds: book.Holds})
	if err := errors.Join(d.Unknown...); err != nil {
		return nil, err
	}
	_, lost := book.Compare(in.Files)
	out := &Outcome{Decision: d, Lost: lost, Silent: in.Silent}
	out.IsShut = len(in.Silent) > 0 && !slices.ContainsFunc(r.Labels, decision.IsApproval)
	out.Pinged = out.pinged(r)
	byOthers, byUnknown := r.edited()
	if out.Uncounted = byOthers; in.CountsEdits {
		out.Edited = byUnknown
	} else {
		out.Uncounted = append(out.Uncounted, byUnknown...)
		slices.Sort(out.Uncounted)
		out.Uncounted = slices.Compact(out.Uncounted)
	}
	return out, nil
}

// enter adds the entries of a word that is about a known version, the first time that it is seen. A word right after a
// push is only about what the version before has as well.
func (in Input) enter(b *approvals.Book, w decision.Word, versions []approvals.Version) {
	v, isSure, ok := approvals.About(w, versions)
	if !ok || b.Knows(w) {
		return
	}
	files, isKnown := in.of(v.Head)
	if !isKnown {
		return
	}
	if isSure {
		b.Enter(w, v, files, nil)
		return
	}
	before, isKnown := in.of(previous(v, versions))
	if !isKnown || before == nil {
		return
	}
	b.Enter(w, v, files, before)
}

// of returns the files of a version.
func (in Input) of(head string) ([]*coverage.File, bool) {
	if head != "" && in.Before != nil {
		if files, ok := in.Before(head); ok {
			return files, true
		}
	}
	return in.Files, head == in.Head
}

// previous returns the head of the version before one, "" if there is none.
func previous(v approvals.Version, versions []approvals.Version) string {
	head := ""
	for _, other := range slices.SortedFunc(slices.Values(versions), func(a, b approvals.Version) int {
		return a.PushedAt.Compare(b.PushedAt)
	}) {
		if other == v {
			break
		}
		head = other.Head
	}
	return head
}

// write writes what differs from what the server shows: labels that are no longer true go first, those that let the
// change through come last.
func (in Input) write(ctx context.Context, r Request, out *Outcome) error {
	labels := out.WithLabels(r.Labels, in.IsLimited)
	if len(in.Silent) > 0 {
		labels = out.withoutUntrue(r.Labels, labels)
	}
	var writes []Write
	if gone := without(r.Labels, labels); len(gone) > 0 {
		writes = append(writes, Write{Remove: gone})
	}
	if status := out.status(in.IsLimited); status != r.Status {
		writes = append(writes, Write{Head: in.Head, Status: &status})
	}
	if note := Note(out, in.IsLimited); note != r.Note {
		writes = append(writes, Write{Note: &note})
	}
	if come := without(labels, r.Labels); len(come) > 0 {
		writes = append(writes, Write{Add: come})
	}
	for _, w := range writes {
		if err := in.stillAt(ctx, r); err != nil {
			return err
		}
		if err := in.Forge.Write(ctx, w); err != nil {
			return fmt.Errorf("writing the decision: %w", err)
		}
	}
	return in.stillAt(ctx, r)
}

// withoutUntrue returns the labels of a request without those that let it through and are not among the decided ones.
// The others stay as they are while a source of members is silent.
func (o *Outcome) withoutUntrue(current, decided []string) []string {
	return slices.DeleteFunc(slices.Clone(current), func(label string) bool {
		return decision.LetsThrough(label) && !slices.Contains(decided, label)
	})
}

// stillAt returns an error if the server has another head by now, or other words.
func (in Input) stillAt(ctx context.Context, decided Request) error {
	r, err := in.Forge.Read(ctx)
	if err != nil {
		return fmt.Errorf("reading the head again: %w", err)
	}
	switch {
	case r.Head != in.Head:
		return ErrMoved
	case !slices.Equal(r.words(in.CountsEdits), decided.words(in.CountsEdits)):
		return ErrSaid
	}
	return nil
}

func without(all, other []string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(label string) bool { return slices.Contains(other, label) })
}
