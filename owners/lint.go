package owners

import (
	"cmp"
	"fmt"
	"io"
	"slices"

	"github.com/app-sre/prcheck/internal/phrase"
	"github.com/app-sre/prcheck/internal/sanitize"
	"github.com/app-sre/prcheck/owners/content"
	"github.com/app-sre/prcheck/owners/coverage"
	"github.com/app-sre/prcheck/owners/difference"
	"github.com/app-sre/prcheck/owners/rules"
	"github.com/app-sre/prcheck/qontract/bundle"
)

// A Lint says what of the rules of a bundle may not do what was meant, and how much of the data has an owner.
type Lint struct {
	Version int       `json:"version"`
	Faults  []Finding `json:"faults"` // rules that cannot be used; then nothing else is known
	Hints   []Finding `json:"hints"`
	Shares  []Share   `json:"shares"`
}

// A Share is how much of the files of a schema is owned, in leaves: values that have no values in them.
type Share struct {
	Schema string `json:"schema"`
	Files  int    `json:"files"`
	Owned  int    `json:"owned"`
	Leaves int    `json:"leaves"`
}

// LintRules looks at the rules of a bundle on a day.
func LintRules(b *bundle.Bundle, today string) *Lint {
	out := &Lint{Version: 1, Faults: []Finding{}, Hints: []Finding{}, Shares: []Share{}}
	r, faults := rules.Compile(rules.Read(b, today))
	for _, f := range faults {
		out.Faults = append(out.Faults, Finding{"base", f.File, f.Pointer, f.Text})
	}
	if len(faults) > 0 {
		return out
	}
	for _, h := range r.Hints() {
		out.Hints = append(out.Hints, Finding{Side: "base", File: h.File, Text: h.Text})
	}
	l := &linter{bundle: b, rules: r, bySchema: map[string][]any{}}
	for _, u := range r.Unmatched(l.contents) {
		out.Hints = append(out.Hints, Finding{Side: "base", File: u.Type.File,
			Text: fmt.Sprintf("the selector %q of the change type %q matches nothing in any file", u.Selector, u.Type.Name)})
	}
	slices.SortStableFunc(out.Hints, func(a, b Finding) int { return cmp.Compare(a.File, b.File) })
	var err error
	if out.Shares, err = l.shares(); err != nil {
		out.Faults = append(out.Faults, Finding{Side: "base", Text: err.Error()})
	}
	return out
}

// A linter looks at all files of a bundle.
type linter struct {
	bundle   *bundle.Bundle
	rules    *rules.Rules
	bySchema map[string][]any
}

// contents returns the contents of the files of a schema, or of all files.
func (l *linter) contents(kind content.Kind, schema string) []any {
	key := string(kind) + schema
	if all, isThere := l.bySchema[key]; isThere {
		return all
	}
	files := l.bundle.Datafiles()
	if kind == content.Resource {
		files = l.bundle.Resources()
	}
	all := []any{}
	world := content.Bundles{Base: l.bundle, Head: l.bundle}
	for _, f := range files {
		if schema == "" || string(f.Schema) == schema {
			of, _ := world.Sides(content.Ref{Kind: kind, Path: string(f.Path)})
			all = append(all, of)
		}
	}
	l.bySchema[key] = all
	return all
}

// shares counts, by schema, the leaves that somebody may change who owns them in the file as it is.
func (l *linter) shares() ([]Share, error) {
	bySchema := map[string]*Share{}
	out := []Share{}
	world := content.Bundles{Base: l.bundle, Head: l.bundle}
	for _, f := range l.bundle.Datafiles() {
		ref := content.Ref{Kind: content.Datafile, Path: string(f.Path), Schema: string(f.Schema)}
		of, _ := world.Sides(ref)
		if difference.IsEmpty(of) {
			continue
		}
		// Whoever may remove all leaves of a file owns all of it.
		c := &content.Change{Ref: ref, Old: of, New: of,
			Differences: []difference.Difference{{Kind: difference.Removed, Old: of}}}
		owned := coverage.Of(l.rules, c, world, nil)
		if owned.Err != nil {
			return nil, owned.Err
		}
		s := bySchema[ref.Schema]
		if s == nil {
			s = &Share{Schema: ref.Schema}
			bySchema[ref.Schema] = s
		}
		s.Files++
		s.Leaves += difference.Leaves(of)
		s.Owned += ownedLeaves(owned.Roots[0])
	}
	for _, s := range bySchema {
		out = append(out, *s)
	}
	slices.SortFunc(out, func(a, b Share) int { return cmp.Compare(a.Schema, b.Schema) })
	return out, nil
}

// ownedLeaves counts the leaves under places that somebody covers.
func ownedLeaves(p *coverage.CoveredPlace) int {
	if p.IsDirect() {
		return difference.Leaves(p.Old)
	}
	n := 0
	for _, part := range p.Parts {
		n += ownedLeaves(part)
	}
	return n
}

// WriteLint writes what was found for a terminal.
func WriteLint(w io.Writer, l *Lint) error {
	t := &texts{w: w}
	for _, f := range slices.Concat(l.Faults, l.Hints) {
		t.line("%s", sanitize.Line(f.File+f.Pointer+": "+f.Text))
	}
	if len(l.Faults) > 0 {
		return t.err
	}
	if len(l.Hints) > 0 {
		t.line("")
	}
	width := 0
	for _, s := range l.Shares {
		width = max(width, len(sanitize.Line(s.Schema)))
	}
	var owned, leaves int
	for _, s := range l.Shares {
		owned, leaves = owned+s.Owned, leaves+s.Leaves
		t.line("%-*s  %3d %% of %s in %s", width, sanitize.Line(s.Schema), percent(s.Owned, s.Leaves),
			phrase.Count(s.Leaves, "value"), phrase.Count(s.Files, "file"))
	}
	t.line("")
	t.line("%d %% of the data has an owner.", percent(owned, leaves))
	return t.err
}

func percent(n, of int) int {
	if of == 0 {
		return 0
	}
	return 100 * n / of
}
