package review

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/app-sre/prcheck/internal/markdown"
	"github.com/app-sre/prcheck/internal/phrase"
	"github.com/app-sre/prcheck/owners"
	"github.com/app-sre/prcheck/owners/approvals"
	"github.com/app-sre/prcheck/owners/decision"
	"github.com/app-sre/prcheck/owners/people"
)

// status returns the status of the head.
func (o *Outcome) status(isLimited bool) Status {
	isApproved := o.LetsThrough(isLimited)
	s := Status{IsApproved: isApproved && !o.IsShut}
	switch open := o.open(); {
	case isApproved && o.IsShut:
		s.Text = "a source of members does not answer"
	case s.IsApproved:
		s.Text = phrase.Count(len(o.Places), "place") + " approved"
	case !o.IsAdmitted:
		s.Text = "not admitted"
	case o.IsHeld:
		s.Text = "held"
	case len(open) > 0:
		s.Text = phrase.Count(len(open), "place") + " not approved"
	case isLimited:
		s.Text = "files outside of the data need another approval"
	default:
		s.Text = "nobody may approve it"
	}
	return s
}

// open returns the places that are not approved.
func (o *Outcome) open() []*decision.DecidedPlace {
	return slices.DeleteFunc(slices.Clone(o.Places), func(p *decision.DecidedPlace) bool {
		return p.IsApproved && !p.IsHeld
	})
}

// folded is from how many places on the table of a note is folded.
const folded = 10

// Note returns the text of the note: what is open, whom to ask, what was lost and why. It mentions with @ who wants
// that.
func Note(o *Outcome, isLimited bool) string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("**Who must approve**: %s.", o.status(isLimited).Text)
	if sets := o.ask(); len(sets) > 0 {
		line("\nAsk %s.", markdown.Escape(strings.Join(sets, ", or ")))
	}
	for _, where := range o.reach() {
		line("- %s", markdown.Escape(where))
	}
	if len(o.Pinged) > 0 {
		line("- %s%s.", pingedBefore, "@"+strings.Join(o.Pinged, ", @"))
	}
	for _, l := range o.Lost {
		if text := lossText(l); text != "" {
			line("- %s %s: %s", markdown.Code(l.File), markdown.Code(l.Place), markdown.Escape(text))
		}
	}
	if len(o.Uncounted) > 0 {
		line("- Comments of %s were edited, and not by them for all that is known: they approve nothing. Write it again.",
			markdown.Escape(strings.Join(o.Uncounted, ", ")))
	}
	for _, text := range o.Silent {
		line("- %s.", markdown.Escape(text))
	}
	for _, text := range o.asBefore() {
		line("- %s", markdown.Escape(text))
	}
	if len(o.Places) > folded {
		line("\n<details><summary>%s</summary>", phrase.Count(len(o.Places), "place"))
	}
	line("\n| file | place | state | who may approve |\n|---|---|---|---|")
	for _, p := range o.Places {
		line("| %s | %s | %s | %s |", markdown.Code(p.File.Path), markdown.Code(p.CoveredPlace.Place().String()), state(o, p),
			markdown.Escape(who(p)))
	}
	if len(o.Places) > folded {
		line("\n</details>")
	}
	line("\nWrite `/lgtm`, `/lgtm cancel`, `/hold` or `/hold cancel`, each on a line of its own.")
	return b.String()
}

// pingedBefore begins the line of a note that mentions people.
const pingedBefore = "Mentioned once, and not again: "

// pingedLine matches that line, and userName what is a name of GitLab and no word for everybody.
var (
	pingedLine = regexp.MustCompile(`(?m)^- ` + pingedBefore + `(@[\w.-]+(?:, @[\w.-]+)*)\.$`)
	userName   = regexp.MustCompile(`^\w([\w.-]*\w)?$`)
)

// pinged returns whom the note mentions: people of open places who want that, but for the author. Who was mentioned
// before stays, since GitLab tells people again whom a note names anew.
func (o *Outcome) pinged(r Request) []string {
	var out []string
	if m := pingedLine.FindStringSubmatch(r.Note); m != nil {
		out = strings.Split(strings.TrimPrefix(m[1], "@"), ", @")
	}
	for _, p := range o.open() {
		for _, c := range p.Covers {
			for _, person := range c.Context.People {
				if person.IsTagged && !p.IsApproved && !c.Context.IsDisabled() && person.Name != r.Author &&
					userName.MatchString(person.Name) && person.Name != "all" {
					out = append(out, person.Name)
				}
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// asBefore says what nobody is asked about since the settings of base say so.
func (o *Outcome) asBefore() []string {
	var out []string
	if len(o.Edited) > 0 {
		out = append(out, fmt.Sprintf("Edited comments of %s count, as the settings of base say: nobody knows who edited them.",
			strings.Join(o.Edited, ", ")))
	}
	var told []string
	for _, p := range o.Places {
		if slices.Contains(told, p.File.Path) {
			continue
		}
		told = append(told, p.File.Path)
		for _, d := range p.File.Unasked {
			out = append(out, p.File.Path+": "+owners.Unasked(d)+".")
		}
	}
	return out
}

// state says how a place stands.
func state(o *Outcome, p *decision.DecidedPlace) string {
	switch {
	case !p.IsAdmitted:
		return "restricted"
	case p.IsHeld:
		return "held by " + markdown.Escape(strings.Join(p.HeldBy, ", "))
	case p.IsApproved && len(p.By) > 0:
		return "approved by " + markdown.Escape(strings.Join(p.By, ", "))
	case p.IsApproved:
		return "approved"
	}
	return "open"
}

func who(p *decision.DecidedPlace) string {
	all := p.People()
	if len(all) == 0 {
		return "nobody whom base names"
	}
	return strings.Join(all, ", ")
}

// ask returns the smallest sets of people who may approve what is open.
func (o *Outcome) ask() []string {
	q := people.Question{Needs: map[string][]string{}, AuthorCounts: true}
	for _, p := range o.open() {
		if !p.IsApproved {
			q.Needs[p.File.Path+" "+p.CoveredPlace.Place().String()+" "+p.Kind.String()] = p.People()
		}
	}
	var out []string
	for _, set := range people.Find(q).Sets {
		out = append(out, strings.Join(set, " and "))
	}
	return out
}

// reach returns where the people of open places can be reached.
func (o *Outcome) reach() []string {
	var out []string
	for _, p := range o.open() {
		for _, c := range p.Covers {
			if c.Context.Role != nil && !c.Context.IsDisabled() {
				out = append(out, c.Context.Role.Reach...)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// lossText says why an approval was lost; "" for a place about which nobody said anything.
func lossText(l approvals.Loss) string {
	whose := "the approval of " + strings.Join(l.People, ", ") + " is lost: "
	switch l.Reason {
	case approvals.Changed:
		return whose + "the change makes another value of it now"
	case approvals.BaseChanged:
		return whose + "base has another value now"
	case approvals.ApproverLost:
		return whose + "they may no longer approve it"
	case approvals.NotCovered:
		return whose + "no change type allows it any more"
	}
	return ""
}
