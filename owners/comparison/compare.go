package comparison

import (
	"cmp"
	"slices"
	"strings"

	"github.com/app-sre/prcheck/owners"
	"github.com/app-sre/prcheck/owners/decision"
	"github.com/app-sre/prcheck/owners/difference"
	"github.com/app-sre/prcheck/owners/folders"
)

// A Place is a place about which prcheck asks.
type Place struct {
	File, Place string
	From        string   // the place in base, if it is another one
	Change      string   // the kind of the difference
	IsOutside   bool     // of a file in no bundle
	IsMoved     bool     // an end of a move
	IsUnknown   bool     // who may approve it could not be found out
	People      []string // who may approve it, sorted, once each
	Status      string   // approved, hold, restricted, or ""; as far as it was decided
}

// FromReport returns the places of a report; nothing was decided about them.
func FromReport(r *owners.Report) []Place {
	var out []Place
	for _, p := range r.Places {
		out = append(out, Place{File: p.File, Place: p.Place, From: p.From, Change: p.Change,
			IsOutside: p.Kind == string(folders.File), IsMoved: p.Moved != "", IsUnknown: p.Status == owners.Unknown,
			People: p.People()})
	}
	return out
}

// FromDecision returns the places of a decision.
func FromDecision(d *decision.Decision) []Place {
	var out []Place
	for _, p := range d.Places {
		at := p.CoveredPlace.Place().String()
		of := Place{File: p.File.Path, Place: at, Change: p.Kind.String(), IsOutside: p.File.Kind == folders.File,
			IsMoved: cmp.Or(p.File.MovedFrom, p.File.MovedTo) != "", IsUnknown: p.File.Err != nil, People: p.People()}
		if from := p.Base.String(); p.Kind == difference.Changed && from != at {
			of.From = from
		}
		switch {
		case !d.IsAdmitted:
			of.Status = "restricted"
		case p.IsHeld:
			of.Status = "hold"
		case p.IsApproved:
			of.Status = "approved"
		}
		out = append(out, of)
	}
	return out
}

// A Comparison is what both say about one change.
type Comparison struct {
	Alike         int            `json:"alike"` // places about which both say the same
	Disagreements []Disagreement `json:"disagreements"`
}

// A Disagreement is a place about which prcheck and change-owners say something else. Where one of them does not ask,
// its side is nil.
type Disagreement struct {
	File   string   `json:"file"`
	Place  string   `json:"place"`
	Code   Contrast `json:"code"`
	Ours   *Side    `json:"ours"`
	Theirs *Side    `json:"theirs"`
	Rule   string   `json:"rule"` // by which prcheck asks
}

// A Side is what one of the two says about a place.
type Side struct {
	Place  string   `json:"place"`
	People []string `json:"people"`
	Status string   `json:"status,omitempty"`
}

// A Contrast says how two answers differ.
type Contrast string

// The codes of disagreements.
const (
	People   Contrast = "people"      // others may approve the place
	Decision Contrast = "decision"    // one of them has it approved, or held, and the other has not
	Finer    Contrast = "finer"       // prcheck asks about the place by itself, change-owners about more at once
	Coarser  Contrast = "coarser"     // the other way round
	Ours     Contrast = "only-ours"   // only prcheck asks
	Theirs   Contrast = "only-theirs" // only change-owners asks
	Unknown  Contrast = "unknown"     // prcheck could not find out who may approve the place
)

// textPlace is how change-owners names a file whose text alone differs.
const textPlace = "_metadata_"

// Of compares what prcheck asks with the report of change-owners; isDecided says that the states count. The order is
// that of files and places.
func Of(places []Place, rows []Reported, isDecided bool) Comparison {
	c := Comparison{Disagreements: []Disagreement{}}
	isTold := make([]bool, len(rows))
	byFile := map[string][]int{}
	for i, r := range rows {
		byFile[r.File] = append(byFile[r.File], i)
	}
	for _, p := range places {
		i, code := p.find(rows, byFile[p.File])
		if i < 0 {
			c.add(Disagreement{File: p.File, Place: p.Place, Code: Ours, Ours: p.side(), Rule: p.rule()})
			continue
		}
		isTold[i] = true
		if code == "" {
			code = p.differs(rows[i], isDecided)
		}
		if code == "" {
			c.Alike++
			continue
		}
		c.add(Disagreement{p.File, p.Place, code, p.side(), rows[i].side(), rules[code]})
	}
	for i, r := range rows {
		if !isTold[i] {
			c.add(Disagreement{r.File, r.Place, Theirs, nil, r.side(), rules[Theirs]})
		}
	}
	slices.SortStableFunc(c.Disagreements, func(a, b Disagreement) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Place, b.Place))
	})
	return c
}

func (c *Comparison) add(d Disagreement) { c.Disagreements = append(c.Disagreements, d) }

// find returns the row about a place: the same one, else one above or below it, with how the places differ. It is -1 if
// there is none.
func (p Place) find(rows []Reported, ofFile []int) (i int, code Contrast) {
	i = -1
	for _, j := range ofFile {
		switch place := rows[j].Place; {
		case place == textPlace && p.Change == difference.Text.String(), place == p.Place, place == p.From && p.From != "":
			return j, ""
		case i >= 0 || place == textPlace:
		case isBelow(p.Place, place):
			i, code = j, Finer
		case isBelow(place, p.Place):
			i, code = j, Coarser
		}
	}
	return i, code
}

// isBelow reports whether a place lies below another one.
func isBelow(place, above string) bool {
	return above == "$" && place != "$" || strings.HasPrefix(place, above+".")
}

// differs says how two answers about one place differ, "" if they do not.
func (p Place) differs(r Reported, isDecided bool) Contrast {
	switch {
	case p.IsUnknown:
		return Unknown
	case !slices.Equal(p.People, r.People):
		return People
	case isDecided && p.Status != r.Status:
		return Decision
	}
	return ""
}

func (p Place) side() *Side    { return &Side{cmp.Or(p.From, p.Place), listed(p.People), p.Status} }
func (r Reported) side() *Side { return &Side{r.Place, listed(r.People), r.Status} }

// listed returns a list that is never null.
func listed(all []string) []string { return append([]string{}, all...) }

// rules are the rules of prcheck by which answers differ.
var rules = map[Contrast]string{
	People: "a place is approved by whom base names for it: a selector of their change type yields it in base and in head, " +
		"each on its own side",
	Decision: "an approval is of content: it holds for a place while its value in base and in head is the same, and an " +
		"edited comment approves nothing",
	Finer:   "a difference is never made coarser: each place is asked about by itself",
	Coarser: "what is added or removed as a whole is one place, until owners may approve parts of it",
	Theirs:  "nothing is asked about that has the same content on both sides",
	Unknown: "what could not be found out is unknown, and unknown is never approved",
}

// rule returns the rule by which prcheck asks about a place that change-owners does not have.
func (p Place) rule() string {
	switch {
	case p.IsOutside:
		return "a file in no bundle is approved by whom the OWNERS files of base name for it"
	case p.IsMoved:
		return "a move is a removal at one path and an addition at another, and both are asked about"
	case p.Change == difference.Text.String():
		return "a text that differs without content is approved by any owner of its file, and by somebody"
	case p.Change == difference.Reordered.String():
		return "the order of a list is content"
	}
	return "every difference of content is asked about, also of empty values and of names that begin with underscores"
}
