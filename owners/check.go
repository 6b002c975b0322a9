package owners

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/app-sre/prcheck/owners/content"
	"github.com/app-sre/prcheck/owners/coverage"
	"github.com/app-sre/prcheck/owners/difference"
	"github.com/app-sre/prcheck/owners/folders"
	"github.com/app-sre/prcheck/owners/people"
	"github.com/app-sre/prcheck/owners/rules"
	"github.com/app-sre/prcheck/qontract/bundle"
)

// An Input is a change, and whose it is.
type Input struct {
	Base, Head   *bundle.Bundle
	Today        string            // as 2006-01-02; roles that ended do not count
	Author       string            // "" if nobody knows
	IgnoreAuthor bool              // the author's own word approves nothing
	Unordered    content.Unordered // by settings of base: lists whose order is no content
	Outside      []Outside
	// ReadBase returns a file of the repository of base, for the OWNERS files of those outside of the bundle; its error is
	// [fs.ErrNotExist] for one that is not there.
	ReadBase func(path string) ([]byte, error)
	Groups   folders.Groups // of the forge; nil if it is not at hand
}

// An Outside is a changed file that is not in the bundle. Its texts are nil on a side that does not have it.
type Outside struct {
	Path     string // in the repository
	Old, New []byte
}

// A RulesError is about rules of base that cannot be used.
type RulesError struct{ Faults []rules.Fault }

// Error names the first faults.
func (e *RulesError) Error() string {
	const shown = 5
	var texts []string
	for _, f := range e.Faults[:min(shown, len(e.Faults))] {
		texts = append(texts, f.Error())
	}
	if more := len(e.Faults) - shown; more > 0 {
		texts = append(texts, fmt.Sprintf("and %d more", more))
	}
	return "the rules of base cannot be used: " + strings.Join(texts, "; ")
}

// HasRules reports whether a bundle has change types.
func HasRules(b *bundle.Bundle) bool { return rules.Has(b) }

// Check says who must approve a change. Its error is a [RulesError].
func Check(in Input) (*Report, error) {
	r, files, inHead, err := cover(in)
	if err != nil {
		return nil, err
	}
	out := &Report{Version: 1, Places: []AskedPlace{}, Findings: inHead}
	world := content.Bundles{Base: in.Base, Head: in.Head}
	for _, f := range files {
		if f.Err != nil {
			out.Findings = append(out.Findings, Finding{"base", f.Path, "", f.Err.Error()})
		}
		for _, d := range f.Unasked {
			out.Findings = append(out.Findings, Finding{"settings", f.Path, "", Unasked(d)})
		}
		near := sync.OnceValue(func() []*rules.Context {
			all, err := r.Unbound(f.Change, world)
			if err != nil {
				return nil // why it is unknown is told already
			}
			return all
		})
		for _, p := range f.Places() {
			out.Places = append(out.Places, describe(f, p, near))
		}
	}
	out.addOutside(in)
	out.Ask = ask(out.Places, in)
	return out, nil
}

// Unasked says that settings leave a difference out.
func Unasked(d difference.Difference) string {
	return fmt.Sprintf("nobody is asked about %s, which is %s: the settings of base take its order for no content",
		d.Place(), d.Kind)
}

// Cover returns who may approve each difference of a change, for a decision about it, and what of the rules of head
// cannot be used. Its error is a [RulesError], also about OWNERS files.
func Cover(in Input) (files []*coverage.File, inHead []Finding, err error) {
	_, files, inHead, err = cover(in)
	if err != nil || len(in.Outside) == 0 {
		return files, inHead, err
	}
	of := folders.New(in.ReadBase, in.Groups)
	for _, o := range in.Outside {
		files = append(files, of.Cover(o.Path, o.Old, o.New))
	}
	if faults := of.Faults(); len(faults) > 0 {
		return nil, nil, &RulesError{faults}
	}
	return files, inHead, nil
}

// cover covers the differences in the bundle by the rules of base.
func cover(in Input) (r *rules.Rules, files []*coverage.File, inHead []Finding, err error) {
	r, faults := rules.Compile(rules.Read(in.Base, in.Today))
	if len(faults) > 0 {
		return nil, nil, nil, &RulesError{faults}
	}
	_, headFaults := rules.Compile(rules.Read(in.Head, in.Today))
	for _, f := range headFaults {
		inHead = append(inHead, Finding{"head", f.File, f.Pointer, f.Text})
	}
	world := content.Bundles{Base: in.Base, Head: in.Head}
	for _, c := range world.Changes() {
		c.IgnoreOrder(in.Unordered)
		files = append(files, coverage.Of(r, c, world, rules.HasPerson(in.Head)))
	}
	return r, files, inHead, nil
}

// addOutside adds the files outside of the bundle, whose owners stand in OWNERS files of base.
func (r *Report) addOutside(in Input) {
	if len(in.Outside) == 0 {
		return
	}
	of := folders.New(in.ReadBase, in.Groups)
	for _, o := range in.Outside {
		f := of.Cover(o.Path, o.Old, o.New)
		p := describe(f, f.Roots[0], func() []*rules.Context { return nil })
		if p.Status == Nobody {
			p.Why = "no OWNERS file above it names approvers"
		}
		r.Places = append(r.Places, p)
	}
	for _, fault := range of.Faults() {
		r.Findings = append(r.Findings, Finding{"base", fault.File, fault.Pointer, fault.Text})
	}
}

// describe returns a place with the chain to each owner.
func describe(f *coverage.File, p *coverage.CoveredPlace, near func() []*rules.Context) AskedPlace {
	out := AskedPlace{File: f.Path, Kind: string(f.Kind), Schema: f.Schema, Place: p.Place().String(),
		Change: p.Kind.String(),
		Moved:  cmp.Or(f.MovedFrom, f.MovedTo), Owners: []Owner{}, IsInParts: p.IsInParts()}
	if from := p.Base.String(); p.Kind == difference.Changed && from != out.Place {
		out.From = from
	}
	for _, c := range p.Covers {
		out.Owners = append(out.Owners, owner(c))
	}
	slices.SortFunc(out.Owners, func(a, b Owner) int {
		return cmp.Or(cmp.Compare(a.Role, b.Role), cmp.Compare(a.Bound, b.Bound), cmp.Compare(a.Type, b.Type),
			cmp.Compare(a.File, b.File))
	})
	switch {
	case f.Err != nil:
		out.Status, out.Why = Unknown, f.Err.Error()
	case len(out.People()) > 0:
		out.Status = Owned
	case HasSources(p):
		out.Status, out.Why = Unknown, "only members whom another system knows may approve it"
	default:
		out.Status, out.Why = Nobody, missing(f, p, near)
	}
	return out
}

// HasSources reports whether a role with members that another system knows covers a place.
func HasSources(p *coverage.CoveredPlace) bool {
	return slices.ContainsFunc(p.Covers, func(c coverage.Cover) bool {
		return !c.Context.IsDisabled() && c.Context.Role != nil && len(c.Context.Unknown) > 0
	})
}

func owner(c coverage.Cover) Owner {
	of := c.Context
	out := Owner{Role: of.Name(), People: []string{}, Unknown: of.Unknown, Type: of.Type.Name, Bound: of.Origin.Name,
		File:      of.File.Path,
		BoundFile: of.Owned.Path, Base: c.Base, Head: c.Head, IsDisabled: of.IsDisabled(), IsRestrictive: of.Type.Restrictive}
	if of.Role != nil {
		out.RoleFile, out.Reach = of.Role.File, of.Role.Reach
	}
	for _, p := range of.People {
		out.People = append(out.People, p.Name)
	}
	return out
}

// missing says of a place that nobody may approve what is missing. near are the contexts that the file would have if
// somebody were bound to them.
func missing(f *coverage.File, p *coverage.CoveredPlace, near func() []*rules.Context) string {
	if f.IsText() && len(f.Contexts) == 0 {
		return "no role binds a change type to the file"
	}
	if len(p.Covers) > 0 {
		c := p.Covers[0].Context
		if c.IsDisabled() {
			return fmt.Sprintf("the change type %q is disabled", c.Type.Name)
		}
		return "base does not know its owner " + strings.Join(c.Unknown, ", ")
	}
	if len(p.Parts) > 0 {
		return "somebody may approve parts of it, and nobody the rest"
	}
	for _, c := range near() {
		if !c.IsDisabled() && f.IsAllowedBy(c, p) {
			return fmt.Sprintf("the change type %q would allow it, and no role binds %q to %s", c.Type.Name, c.Origin.Name,
				c.Owned.Path)
		}
	}
	if len(f.Contexts) == 0 {
		return "no role binds a change type to the file, and no change type allows it"
	}
	return "no change type of its owners allows it"
}

// ask finds whom to ask.
func ask(places []AskedPlace, in Input) Ask {
	q := people.Question{Needs: map[string][]string{}, Author: in.Author, AuthorCounts: !in.IgnoreAuthor}
	var unknown []string
	for _, p := range places {
		if p.Status == Unknown {
			unknown = append(unknown, p.Name())
			continue
		}
		q.Needs[p.Name()] = p.People()
	}
	found := people.Find(q)
	return Ask{Sets: append([][]string{}, found.Sets...), Size: found.Size, AtLeast: found.AtLeast, Nobody: found.Nobody,
		Unknown: unknown}
}

func unique(all []string) []string {
	slices.Sort(all)
	return slices.Compact(all)
}
