package fields

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/app-sre/prcheck/internal/jsonpointer"
	"github.com/app-sre/prcheck/internal/phrase"
	"github.com/app-sre/prcheck/natives/generic/body"
	"github.com/app-sre/prcheck/natives/generic/rules"
	"github.com/app-sre/prcheck/natives/generic/threeway"
)

// An OwnedPlan is a plan for an object that is applied by the server.
type OwnedPlan struct {
	*threeway.Plan
	// LeftOut is the desired fields that are not applied, since others have them: JSON
	// pointers as those of the plan, sorted.
	LeftOut []string
	// Apply is the body to apply: the desired one without them. It may hold secrets.
	Apply any
	// Force says that every other conflicting field is ours by the state, so that the apply
	// may take it.
	Force bool
}

// Make plans an object. Ours is the name under which we apply. What others have and we never
// applied stays as it is, with a warning KEPT_CONTESTED that names the manager; so does what
// the data no longer have and another manager has, too.
func Make(in threeway.Input, ours string) OwnedPlan {
	if !in.IsThere {
		p := threeway.Make(in)
		return OwnedPlan{Plan: p, Apply: p.Body}
	}
	if in.Rules == nil {
		in.Rules = rules.None
	}
	var applied any
	if in.WasApplied {
		applied = in.Applied
	}
	m := Read(in.Live, ours)
	live := in.Live
	in.Live = m.Settle(applied, in.Desired, live, in.Rules)
	out := OwnedPlan{Plan: threeway.Make(in), Apply: body.WithoutNulls(in.Desired)}
	var ignore []string
	warnings := map[string]threeway.Objection{}
	for _, c := range m.Conflicts(applied, in.Desired, live, in.Rules) {
		if c.WasOurs {
			out.Force = true
			continue
		}
		ignore, out.LeftOut = append(ignore, c.Path), append(out.LeftOut, c.Path)
		if i := slices.IndexFunc(out.Changes, func(change threeway.Change) bool {
			return touches(change.Path, c.Path)
		}); i >= 0 {
			warnings[c.Path] = contested(c, "the data want another value, and %s has it: it stays. "+
				"Remove it from the data, or let %[1]s give it up")
		}
	}
	out.Apply = Without(out.Apply, out.LeftOut, in.Rules)
	for _, change := range out.Changes {
		owners := m.ownersOf(change.Path, change.Pattern, in.Rules)
		if change.Reason != threeway.Removed || len(owners) == 0 {
			continue
		}
		ignore = append(ignore, change.Path)
		warnings[change.Path] = contested(Conflict{Path: change.Path, Pattern: change.Pattern, Managers: owners},
			"it is no longer in the data, and %s has it, too: it stays. To remove it, write null")
	}
	if len(ignore) == 0 {
		return out
	}
	in.Rules = rules.With(in.Rules, rules.Overlay{Ignore: ignore})
	out.Plan = threeway.Make(in)
	for _, w := range warnings {
		out.Warnings = append(out.Warnings, w)
	}
	slices.SortStableFunc(out.Warnings, func(a, b threeway.Objection) int { return strings.Compare(a.Path, b.Path) })
	return out
}

func contested(c Conflict, format string) threeway.Objection {
	return threeway.Objection{Code: threeway.KeptContested, Path: c.Path, Pattern: c.Pattern,
		Message: fmt.Sprintf(format, people(c.Managers))}
}

// people returns names of managers for a message. They are chosen by others.
func people(names []string) string {
	const most, longest = 3, 60
	var out []string
	for _, name := range names[:min(len(names), most)] {
		name = phrase.Cut(name, longest)
		out = append(out, fmt.Sprintf("%q", name))
	}
	if len(names) > most {
		out = append(out, fmt.Sprintf("%d more", len(names)-most))
	}
	return strings.Join(out, " and ")
}

// touches reports whether one of two paths is the other one or around it.
func touches(a, b string) bool {
	return a == b || strings.HasPrefix(a, b+"/") || strings.HasPrefix(b, a+"/")
}

// Without returns a body without what stands at some paths.
func Without(v any, paths []string, r rules.Rules) any {
	for _, path := range paths {
		v = without(v, jsonpointer.Split(path), "", "", r)
	}
	return v
}

func without(v any, path []string, at, pattern string, r rules.Rules) any {
	switch v := v.(type) {
	case map[string]any:
		inner, isThere := v[path[0]]
		if !isThere {
			return v
		}
		out := maps.Clone(v)
		if len(path) == 1 {
			delete(out, path[0])
			return out
		}
		out[path[0]] = without(inner, path[1:], jsonpointer.Append(at, path[0]), jsonpointer.Append(pattern, path[0]), r)
		return out
	case []any:
		i := slices.IndexFunc(v, func(x any) bool { return nameOf(x, r, at, pattern) == path[0] })
		if i < 0 || len(path) == 1 {
			return v
		}
		out := slices.Clone(v)
		out[i] = without(v[i], path[1:], jsonpointer.Append(at, path[0]), pattern+"/*", r)
		return out
	}
	return v
}
