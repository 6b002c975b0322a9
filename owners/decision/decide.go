package decision

import (
	"slices"

	"github.com/app-sre/prcheck/owners/coverage"
	"github.com/app-sre/prcheck/owners/rules"
)

// An Input is what a decision is made of, beside the coverage.
type Input struct {
	Author string
	Bots   []string // whose places need no word, as those of an author who owns them alone
	Words  []Word   // in the order of time
	// IgnoreAuthor says that the author's own word approves nothing.
	IgnoreAuthor bool
	// Holds reports whether a word still holds for a place: it was said about this content. Without it every word does.
	// Only words that approve or admit are asked about; a hold holds until it is ended.
	Holds func(Word, *coverage.File, *coverage.CoveredPlace) bool
}

// A DecidedPlace is a place with what was decided about it.
type DecidedPlace struct {
	File *coverage.File
	*coverage.CoveredPlace
	IsApproved bool
	IsHeld     bool
	IsAdmitted bool
	By         []string // whose words approve it, in the order of time
	HeldBy     []string
}

// A Decision is what was decided about a change.
type Decision struct {
	Places     []*DecidedPlace
	IsCovered  bool // somebody may approve each place
	IsApproved bool // each place is approved, and none is held
	IsHeld     bool
	IsAdmitted bool
	Priority   string   // "" if nothing is covered
	Labels     []string // of change owners, without prefix
	Unknown    []error  // why parts of it are not known
}

// Decide decides about the files of a change. A change without files is covered by nobody.
func Decide(files []*coverage.File, in Input) *Decision {
	d := &Decision{IsCovered: len(files) > 0, IsApproved: true, IsAdmitted: true}
	for _, f := range files {
		d.IsCovered = d.IsCovered && f.IsCovered()
		if f.Err != nil {
			d.Unknown = append(d.Unknown, f.Err)
		}
		for _, p := range f.Places() {
			of := in.place(f, p)
			d.Places = append(d.Places, of)
			d.IsApproved = d.IsApproved && of.IsApproved && !of.IsHeld
			d.IsHeld = d.IsHeld || of.IsHeld
			d.IsAdmitted = d.IsAdmitted && of.IsAdmitted
		}
	}
	d.IsApproved = d.IsApproved && len(d.Unknown) == 0
	d.Priority, d.Labels = priority(d.Places), labels(d.Places)
	return d
}

// place decides about a place and its parts.
func (in Input) place(f *coverage.File, p *coverage.CoveredPlace) *DecidedPlace {
	out := &DecidedPlace{File: f, CoveredPlace: p}
	var contexts []*rules.Context
	for _, c := range p.Covers {
		if !c.Context.IsDisabled() && !slices.Contains(contexts, c.Context) {
			contexts = append(contexts, c.Context)
		}
	}
	isAutomatic := len(contexts) > 0
	for _, c := range contexts {
		by, heldBy := in.context(c, f, p)
		if by != "" {
			out.By = append(out.By, by)
		}
		if heldBy != "" {
			out.HeldBy = append(out.HeldBy, heldBy)
		}
		isAutomatic = isAutomatic && in.isAutomatic(c)
	}
	if by := in.heldByAuthor(contexts); by != "" {
		out.HeldBy = append(out.HeldBy, by)
	}
	slices.Sort(out.By)
	out.By, out.HeldBy = slices.Compact(out.By), slices.Compact(out.HeldBy)
	out.IsApproved = len(out.By) > 0 || isAutomatic || in.areApproved(f, p)
	out.IsHeld = len(out.HeldBy) > 0
	out.IsApproved = out.IsApproved && f.Err == nil
	out.IsAdmitted = in.isAdmitted(contexts, f, p)
	return out
}

// areApproved reports whether the parts of a place cover it and are approved.
func (in Input) areApproved(f *coverage.File, p *coverage.CoveredPlace) bool {
	return p.IsInParts() && !slices.ContainsFunc(p.Parts, func(part *coverage.CoveredPlace) bool {
		of := in.place(f, part)
		return !of.IsApproved || of.IsHeld
	})
}

// context returns whose word approves a place by a context, and whose holds it; "" for nobody.
func (in Input) context(c *rules.Context, f *coverage.File, p *coverage.CoveredPlace) (by, heldBy string) {
	for _, w := range in.Words {
		if !c.Has(w.By) {
			continue
		}
		switch isKnown := c.Had(w.By, w.At); w.Command {
		case Approve:
			if isKnown && in.counts(w.By, c) && in.holds(w, f, p) {
				by = w.By
			}
		case CancelApprove:
			by = ""
		case Hold:
			heldBy = w.By
		case CancelHold:
			if isKnown {
				heldBy = ""
			}
		}
	}
	return by, heldBy
}

// counts reports whether a person's approval counts for a context: that of the author only if the settings say so, and
// never for a restrictive type.
func (in Input) counts(person string, c *rules.Context) bool {
	return person != in.Author || !in.IgnoreAuthor && !c.Type.Restrictive && !c.Origin.Restrictive
}

func (in Input) holds(w Word, f *coverage.File, p *coverage.CoveredPlace) bool {
	return in.Holds == nil || in.Holds(w, f, p)
}

// isAutomatic reports whether a context needs no word: it has one person alone, the author or a bot, who does not hold.
func (in Input) isAutomatic(c *rules.Context) bool {
	if len(c.People) != 1 || len(c.Unknown) > 0 {
		return false
	}
	person := c.People[0].Name
	isAuthor := person == in.Author && in.Author != ""
	if !isAuthor && !slices.Contains(in.Bots, person) || !in.counts(person, c) {
		return false
	}
	for _, w := range slices.Backward(in.Words) {
		if w.By == person && w.Command != OKToTest {
			return w.Command != Hold
		}
	}
	return true
}

// heldByAuthor returns the author if they hold a place that is not theirs; "" otherwise.
func (in Input) heldByAuthor(contexts []*rules.Context) string {
	had := func(w Word) bool {
		return slices.ContainsFunc(contexts, func(c *rules.Context) bool { return c.Had(w.By, w.At) })
	}
	if in.Author == "" || slices.ContainsFunc(contexts, func(c *rules.Context) bool { return c.Has(in.Author) }) {
		return ""
	}
	isHeld := false
	for _, w := range in.Words {
		switch {
		case w.Command == Hold && w.By == in.Author:
			isHeld = true
		case w.Command == CancelHold && (w.By == in.Author || had(w)):
			isHeld = false
		}
	}
	if !isHeld {
		return ""
	}
	return in.Author
}

// isAdmitted reports whether the change of a place may be looked at: for each restrictive type that covers it, the
// author or somebody who said so may approve it by that type.
func (in Input) isAdmitted(contexts []*rules.Context, f *coverage.File, p *coverage.CoveredPlace) bool {
	admitted := map[*rules.Type]bool{}
	for _, c := range contexts {
		if !c.Type.Restrictive {
			continue
		}
		isOK := in.Author != "" && c.Has(in.Author) || slices.ContainsFunc(in.Words, func(w Word) bool {
			return w.Command == OKToTest && c.Had(w.By, w.At) && in.holds(w, f, p)
		})
		admitted[c.Origin] = admitted[c.Origin] || isOK
	}
	for _, isOK := range admitted {
		if !isOK {
			return false
		}
	}
	return true
}
