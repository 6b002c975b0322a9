package members

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/app-sre/prcheck/owners/coverage"
	"github.com/app-sre/prcheck/owners/rules"
	"github.com/app-sre/prcheck/qontract/live"
	"github.com/app-sre/prcheck/state"
)

// Sources are the systems that know members.
type Sources struct {
	// Authorization returns what a system wants as Authorization, "" if that is not at hand.
	Authorization func(provider string) string
	State         state.Store // keeps members as they were known last; nil keeps none
	Now           func() time.Time
	Warn          func(error)
	Transport     http.RoundTripper // nil is the network

	known map[rules.MemberSource]membership
	asked []Silence
}

// A membership is the members of a group, or that they are not known.
type membership struct {
	people  []rules.Person
	isKnown bool // now
}

// A Silence is a source of members of a change that does not answer.
type Silence struct {
	Provider string
	Groups   []string
	Why      string
	// KnownAt is when the members were known last, zero if they are not known at all, or were known too long ago.
	KnownAt time.Time
}

// String says what nobody knows, and what counts meanwhile.
func (s Silence) String() string {
	text := fmt.Sprintf("the members of %s are not known: %s does not answer", strings.Join(s.Groups, ", "), s.Provider)
	if s.KnownAt.IsZero() {
		return text
	}
	const minute = "2006-01-02 15:04 UTC"
	return fmt.Sprintf("%s. Until %s counts what those approved whom it named on %s, by words said before that", text,
		s.KnownAt.Add(kept).UTC().Format(minute), s.KnownAt.UTC().Format(minute))
}

// Join adds to the contexts that cover places the members whom their sources name, and returns the sources that are
// silent. The files are covered by the rules of base.
func (s *Sources) Join(ctx context.Context, files []*coverage.File) ([]Silence, error) {
	contexts := covering(files)
	var all []rules.MemberSource
	for _, c := range contexts {
		all = append(all, c.Role.Sources...)
	}
	if s.known == nil {
		s.known = map[rules.MemberSource]membership{}
	}
	for _, of := range systems(slices.DeleteFunc(all, func(m rules.MemberSource) bool {
		_, isAsked := s.known[m]
		return isAsked
	})) {
		if err := s.find(ctx, of); err != nil {
			return nil, fmt.Errorf("%s: the members of %s: %w", of.File, strings.Join(of.groups, ", "), err)
		}
	}
	s.Recall(files)
	return s.asked, nil
}

// Recall adds to the contexts that cover places the members who are known already, and asks nobody: the rules of an
// older version name systems that base may never have named. Others are unknown.
func (s *Sources) Recall(files []*coverage.File) {
	for _, c := range covering(files) {
		var people []rules.Person
		var unknown []string
		for _, of := range c.Role.Sources {
			people = append(people, s.known[of].people...)
			if !s.known[of].isKnown {
				unknown = append(unknown, of.String())
			}
		}
		c.Join(people, unknown)
	}
}

// covering returns the contexts that cover places or parts of them, and have sources, once each.
func covering(files []*coverage.File) (out []*rules.Context) {
	known := map[*rules.Context]bool{}
	var walk func(all []*coverage.CoveredPlace)
	walk = func(all []*coverage.CoveredPlace) {
		for _, p := range all {
			for _, c := range p.Covers {
				if of := c.Context; of.Role != nil && len(of.Role.Sources) > 0 && !of.IsDisabled() && !known[of] {
					known[of] = true
					out = append(out, of)
				}
			}
			walk(p.Parts)
		}
	}
	for _, f := range files {
		walk(f.Roots)
	}
	return out
}

// find finds out the members of the groups of a system.
func (s *Sources) find(ctx context.Context, of system) error {
	authorization := ""
	if of.Kind == kind {
		authorization = s.Authorization(of.Provider)
	}
	if authorization == "" {
		s.Warn(of.unasked())
		s.enter(of, func(string) membership { return membership{} })
		return nil
	}
	begin := s.Now()
	members, err := of.ask(ctx, authorization, s.Transport)
	switch {
	case err == nil:
		s.enter(of, func(group string) membership { return membership{members[group], true} })
		return s.keep(ctx, of, begin, members)
	case errors.Is(err, errSlow) || live.IsSilent(err):
		return s.recall(ctx, of, err)
	}
	return err
}

// unasked says why a source is not asked.
func (s system) unasked() error {
	of := fmt.Sprintf("the members of %s are not known: ", strings.Join(s.groups, ", "))
	switch {
	case s.File == "":
		return errors.New(of + "base does not have the system that knows them")
	case s.Kind != kind:
		return fmt.Errorf("%s%s is a system of the kind %q, and only %q is known", of, s.File, s.Kind, kind)
	}
	return fmt.Errorf("%sput what %s wants as Authorization into %s", of, s.Provider, Variable(s.Provider))
}

// recall takes the members of a silent source as they were known last.
func (s *Sources) recall(ctx context.Context, of system, why error) error {
	last, err := s.last(ctx, of)
	if err != nil {
		return err
	}
	silence := Silence{Provider: of.Provider, Groups: of.groups, Why: why.Error()}
	s.enter(of, func(group string) membership {
		g := last[group]
		if silence.KnownAt.IsZero() || !g.At.IsZero() && g.At.Before(silence.KnownAt) {
			silence.KnownAt = g.At
		}
		return membership{people: g.people()}
	})
	s.asked = append(s.asked, silence)
	return nil
}

func (s *Sources) enter(of system, members func(group string) membership) {
	for _, group := range of.groups {
		m := of.MemberSource
		m.Group = group
		s.known[m] = members(group)
	}
}
