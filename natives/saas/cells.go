package saas

import (
	"maps"
	"slices"
	"strings"
)

// Cells returns the cells of all saas files, sorted by key. Those of files that are broken or
// deprecated are among them. Targets that are disabled are left out, and so are cells that have no
// other targets.
func (m *Model) Cells() []Cell {
	var out []Cell
	for _, f := range m.Files {
		at := map[string]int{} // position of the cell of an environment
		for _, t := range f.Templates {
			for _, target := range t.Targets {
				if target.Disable {
					continue
				}
				env := target.Env()
				i, known := at[env]
				if !known {
					i = len(out)
					at[env] = i
					out = append(out, Cell{File: f, Environment: env})
				}
				out[i].Targets = append(out[i].Targets, target)
			}
		}
	}
	slices.SortStableFunc(out, func(a, b Cell) int { return strings.Compare(a.Key(), b.Key()) })
	return out
}

// Publishers returns the targets that publish a channel, in the order of the data. Those that must
// go are left out. The targets must not change after the first call.
func (m *Model) Publishers(channel string) []*Target {
	m.once.Do(func() {
		m.publishers = map[string][]*Target{}
		m.eachTarget(func(t *Target) {
			if t.Promotion == nil || t.Delete {
				return
			}
			for i, c := range t.Promotion.Publish {
				if !slices.Contains(t.Promotion.Publish[:i], c) {
					m.publishers[c] = append(m.publishers[c], t)
				}
			}
		})
	})
	return m.publishers[channel]
}

// Component returns the repository of a target as the app of its saas file describes it: its
// blocked and hotfix versions.
func (m *Model) Component(t *Target) Component {
	app := m.Apps[t.Template.File.App]
	if app == nil {
		return Component{}
	}
	return app.Components[t.Template.URL]
}

// File returns the saas file of a name, nil if there is none or there are two.
func (m *Model) File(name string) *File {
	var out *File
	for _, f := range m.Files {
		if f.Name != name {
			continue
		}
		if out != nil {
			return nil
		}
		out = f
	}
	return out
}

// AllowedSecret reports whether a target may have the value of a secret: its saas file must allow
// the path, and so must the saas file of the same name in base, because a change could allow
// itself anything. Without a change base is nil.
func AllowedSecret(base *Model, t *Target, path string) bool {
	if !allows(t.Template.File.AllowedSecretPaths, path) {
		return false
	}
	if base == nil {
		return true
	}
	f := base.File(t.Template.File.Name)
	return f != nil && allows(f.AllowedSecretPaths, path)
}

// allows reports whether one of some paths of secrets is a path or a folder above it.
func allows(allowed []string, path string) bool {
	if slices.Contains(strings.Split(path, "/"), "..") {
		return false
	}
	return slices.ContainsFunc(allowed, func(a string) bool {
		return a != "" && (path == a || strings.HasPrefix(path, a+"/"))
	})
}

// sortedKeys returns the keys of a map, sorted.
func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
