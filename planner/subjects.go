package planner

import (
	"fmt"
	"slices"

	"github.com/app-sre/prcheck/affected"
	"github.com/app-sre/prcheck/gql"
	"github.com/app-sre/prcheck/integration"
)

// checkNames refuses settings that name an integration which neither side
// defines.
func (m *maker) checkNames() error {
	known := map[string]bool{}
	for _, d := range slices.Concat(m.base, m.head) {
		known[d.Name] = true
	}
	unknown := func(line int, name string) error {
		return m.settingsError(line, "no bundle defines an integration named %q", name)
	}
	for _, name := range m.Settings.Names() {
		if !known[name] {
			return unknown(m.Settings.For(name).Line, name)
		}
	}
	for _, rule := range m.Settings.Rules {
		for _, it := range rule.Run {
			if !known[it.Name] {
				return unknown(it.Line, it.Name)
			}
		}
	}
	return nil
}

func (m *maker) settingsError(line int, format string, args ...any) error {
	return &integration.SettingsError{File: m.Settings.File, Line: line, Msg: fmt.Sprintf(format, args...)}
}

// makeSubjects prepares what tells the desired state of each integration that
// has queries or is native and tells it.
func (m *maker) makeSubjects() error {
	for _, name := range m.Settings.Names() {
		it := m.Settings.For(name)
		if len(it.Queries) == 0 {
			continue
		}
		s := affected.Subject{Order: it.ListOrder, Shards: it.Shards}
		for _, file := range it.Queries {
			q, err := m.query(name, file)
			if err != nil {
				return err
			}
			s.Queries = append(s.Queries, q)
		}
		if err := m.deadSelector(name, s); err != nil {
			return err
		}
		m.subjects[name] = s
	}
	for name, n := range m.natives {
		if stater, ok := integration.AsStater(n); ok && len(m.subjects[name].Queries) == 0 {
			m.subjects[name] = m.nativeSubject(name, n, stater)
		}
	}
	return nil
}

func (m *maker) nativeSubject(name string, n integration.Native, stater integration.Stater) affected.Subject {
	it := m.Settings.For(name)
	s := affected.Subject{State: stater, Order: it.ListOrder, Shards: it.Shards}
	if sharder, ok := integration.AsSharder(n); ok && s.Shards == nil {
		shards := sharder.Shards()
		if shards.Max == 0 {
			shards.Max = integration.DefaultMaxShards
		}
		s.Shards = &shards
	}
	return s
}

// query reads and compiles a query file.
func (m *maker) query(name string, file integration.QueryFile) (affected.Query, error) {
	text, err := m.ReadQuery(file.Path)
	if err != nil {
		return affected.Query{}, m.settingsError(file.Line, "integrations.%s.queries: %v", name, err)
	}
	q, err := m.world.Compile(file.Path, gql.Request{Query: string(text)})
	if err != nil {
		return affected.Query{}, m.settingsError(file.Line, "integrations.%s.queries: %s: %v", name, file.Path, err)
	}
	return q, nil
}

// deadSelector refuses a selector that can never find anything in the answer
// of any of the integration's queries.
func (m *maker) deadSelector(name string, s affected.Subject) error {
	if s.Shards == nil {
		return nil
	}
	for _, sel := range s.Shards.By {
		if err := s.CanFind(sel); err != nil {
			return m.settingsError(sel.Line, "integrations.%s.shards.by: selector %q: %v", name, sel, err)
		}
	}
	return nil
}
