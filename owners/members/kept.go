package members

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/app-sre/prcheck/owners/rules"
	"github.com/app-sre/prcheck/state"
)

// kept is how long members count as they were known last.
const kept = 24 * time.Hour

// A document has the members of the groups of one system as they were known last.
type document struct {
	Version string           `json:"version"`
	Groups  map[string]group `json:"groups"`
}

// A group is its members at a time.
type group struct {
	At      time.Time `json:"at"`
	Members []string  `json:"members"`
}

// people returns the members as people who are known up to a time.
func (g group) people() (out []rules.Person) {
	for _, name := range g.Members {
		out = append(out, rules.Person{Name: name, KnownAt: g.At})
	}
	return out
}

var documents = state.Kind[document]{Version: "1", Limit: 4 << 20}

// key returns the key of the document of a system. Another address is another system.
func (s system) key() string { return "members/" + state.Name(s.File, s.URL) + ".json" }

// keep keeps the members that a system named at a time. Groups that count no longer are forgotten.
func (s *Sources) keep(ctx context.Context, of system, at time.Time, members map[string][]rules.Person) error {
	if s.State == nil {
		return nil
	}
	warning, err := documents.Update(ctx, s.State, of.key(), func(d *document) {
		d.Version = documents.Version
		maps.DeleteFunc(d.Groups, func(_ string, g group) bool { return !s.counts(g) })
		if d.Groups == nil {
			d.Groups = map[string]group{}
		}
		for name, people := range members {
			if d.Groups[name].At.After(at) {
				continue // another run asked later
			}
			g := group{At: at.UTC().Truncate(time.Second), Members: []string{}}
			for _, p := range people {
				g.Members = append(g.Members, p.Name)
			}
			d.Groups[name] = g
		}
	})
	if err = errors.Join(warning, err); err != nil {
		s.Warn(fmt.Errorf("members are not kept: %w", err)) // they are known now
	}
	return nil
}

// counts reports whether a group was known within the last 24 hours.
func (s *Sources) counts(g group) bool {
	age := s.Now().Sub(g.At)
	return age >= 0 && age <= kept
}

// last returns the groups of a system that still count. A document that cannot be trusted or read is as good as none.
func (s *Sources) last(ctx context.Context, of system) (map[string]group, error) {
	if s.State == nil {
		return nil, nil
	}
	d, err := documents.Read(ctx, s.State, of.key())
	switch {
	case errors.Is(err, state.ErrNotFound):
		return nil, nil
	case errors.Is(err, state.ErrUntrusted), errors.Is(err, state.ErrCorrupt), errors.Is(err, state.ErrOtherVersion):
		s.Warn(fmt.Errorf("members that were kept do not count: %w", err))
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("reading members that were kept: %w", err)
	}
	maps.DeleteFunc(d.Groups, func(_ string, g group) bool { return !s.counts(g) })
	return d.Groups, nil
}
