package planner

import (
	"fmt"

	"github.com/app-sre/prcheck/affected"
	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/qontract/gql"
	"github.com/app-sre/prcheck/settings"
)

// namesOf returns the names of all integrations of both sides.
func namesOf(base, head []integration.Definition) map[string]bool {
	names := map[string]bool{}
	for _, side := range [][]integration.Definition{base, head} {
		for _, d := range side {
			names[d.Name] = true
		}
	}
	return names
}

// checkNames refuses settings that name an integration which neither side
// defines, unless they only say which resources it does not ask for.
func checkNames(s *settings.Settings, known map[string]bool) error {
	unknown := func(line int, name string) error {
		return settingsError(s, line, "no bundle defines an integration named %q", name)
	}
	for _, name := range s.Names() {
		if !known[name] && !s.For(name).Harmless {
			return unknown(s.For(name).Line, name)
		}
	}
	for _, rule := range s.Rules {
		for _, it := range rule.Run {
			if !known[it.Name] {
				return unknown(it.Line, it.Name)
			}
		}
	}
	return nil
}

// settingsError returns an error about a line of the settings.
func settingsError(s *settings.Settings, line int, format string, args ...any) error {
	return &settings.Error{File: s.File, Line: line, Msg: fmt.Sprintf(format, args...)}
}

// subjects returns the integrations whose desired state can be told, by name:
// integrations with declared queries, and native integrations that compute it.
func subjects(in Input, natives map[string]integration.DryRunner,
	c *affected.Comparison) (map[string]affected.Subject, error) {
	out := map[string]affected.Subject{}
	for _, name := range in.Settings.Names() {
		it := in.Settings.For(name)
		if len(it.Queries) == 0 {
			continue
		}
		s := affected.Subject{Order: it.ListOrder, Shards: it.Shards}
		for _, file := range it.Queries {
			q, err := readQuery(in, c, name, file)
			if err != nil {
				return nil, err
			}
			s.Queries = append(s.Queries, q)
		}
		if err := checkSelectors(in.Settings, name, s); err != nil {
			return nil, err
		}
		out[name] = s
	}
	for name, n := range natives {
		if it := in.Settings.For(name); len(out[name].Queries) == 0 {
			if state := integration.StateOf(n, it); state != nil {
				out[name] = nativeSubject(it, n, state)
			}
		}
	}
	return out, nil
}

// nativeSubject returns the subject of a native integration. Shards of the settings
// go before those of the integration.
func nativeSubject(it settings.Integration, n integration.DryRunner, state integration.StateFunc) affected.Subject {
	s := affected.Subject{State: state, Order: it.ListOrder, Shards: it.Shards}
	if sharder, ok := integration.AsSharder(n); ok && s.Shards == nil {
		shards := sharder.Shards()
		if shards.Max == 0 {
			shards.Max = settings.DefaultMaxShards
		}
		s.Shards = &shards
	}
	return s
}

// readQuery reads and compiles a query file of an integration.
func readQuery(in Input, c *affected.Comparison, name string, file settings.QueryFile) (affected.CompiledQuery, error) {
	text, err := in.ReadQuery(file.Path)
	if err != nil {
		return affected.CompiledQuery{}, settingsError(in.Settings, file.Line, "integrations.%s.queries: %v", name, err)
	}
	q, err := c.Compile(file.Path, gql.Request{Query: string(text)})
	if err != nil {
		return affected.CompiledQuery{}, settingsError(in.Settings, file.Line, "integrations.%s.queries: %s: %v", name,
			file.Path, err)
	}
	return q, nil
}

// checkSelectors refuses a selector that can never find anything in the answer to any
// of the integration's queries.
func checkSelectors(rules *settings.Settings, name string, s affected.Subject) error {
	if s.Shards == nil {
		return nil
	}
	for _, sel := range s.Shards.By {
		if err := s.CanFind(sel); err != nil {
			return settingsError(rules, sel.Line, "integrations.%s.shards.by: selector %q: %v", name, sel, err)
		}
	}
	return nil
}
