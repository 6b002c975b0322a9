package report

import (
	"io/fs"
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/app-sre/prcheck/plan"
)

// A Location is a line of a file of the repository.
type Location struct {
	Path string // from the root of the repository, with slashes
	Line int    // from 1
}

// A Locator finds lines in the repository that a bundle was made from.
type Locator interface {
	// Locate returns the location of a part of the change. It returns the zero
	// Location if the part is not in the repository.
	Locate(Origin) Location
	// Concerns reports whether a part of the change is about a shard.
	Concerns(o Origin, shard string) bool
	// Find returns the location of a place in a datafile or resource of head. It returns the
	// zero Location if the place is not in the repository.
	Find(file, pointer string) Location
}

// Input is what is shown by [JUnit], [CodeQuality] and [Metrics].
type Input struct {
	Plan    *plan.Plan // the plan of the report
	Report  *Report
	Locator Locator // nil: failures are shown at line 1 of files in data, resources and schemas
}

// defaultLayout is the Locator for a repository that is not at hand.
type defaultLayout struct{}

// Locate returns line 1 of the file at its usual path.
func (defaultLayout) Locate(o Origin) Location {
	switch o.Section {
	case sectionData, sectionResources, sectionSchemas:
		return Location{path.Join(o.Section, o.Path), 1}
	}
	return Location{}
}

// Find returns line 1 of the file, as if it were a datafile.
func (defaultLayout) Find(file, _ string) Location {
	return Location{path.Join(sectionData, file), 1}
}

// Concerns returns false, since the text is not at hand.
func (defaultLayout) Concerns(Origin, string) bool { return false }

// fallbackLocation is where a failure is shown if no file explains it.
var fallbackLocation = Location{"prcheck.yaml", 1}

// Bounds of the places of one task.
const (
	maxPlaces  = 5    // places that are shown
	maxLocated = 25   // origins that are located
	maxPath    = 1000 // bytes of a path
)

// A place is an origin with its location.
type place struct {
	Origin
	Location
}

// A placeFinder finds the places of tasks. It keeps what it found, since many tasks
// share their origins.
type placeFinder struct {
	changeIndex
	locator   Locator
	origins   map[string][]Origin // by integration
	locations map[Origin]Location
	pathParts map[string]map[string]bool // by path: its elements, with and without file extension
}

// newPlaceFinder finds the origins of all integrations that run.
func (f Input) newPlaceFinder() *placeFinder {
	p := &placeFinder{newChangeIndex(f.Plan), f.Locator, map[string][]Origin{}, map[Origin]Location{},
		map[string]map[string]bool{}}
	if p.locator == nil {
		p.locator = defaultLayout{}
	}
	for _, d := range f.Plan.Integrations {
		if d.Decision != plan.Skip {
			p.origins[d.Name] = p.findOrigins(d)
		}
	}
	return p
}

// findPlaces returns the places that made a task run, without duplicate lines. For
// a shard, places that mention the shard are preferred: if there are any, the
// others are left out.
func (p *placeFinder) findPlaces(t TaskResult) []place {
	origins := p.origins[t.Integration]
	if t.Shard != "" {
		unrelated := func(o Origin) bool { return !p.isPathNamed(o.Path, t.Shard) && !p.locator.Concerns(o, t.Shard) }
		if related := slices.DeleteFunc(slices.Clone(origins), unrelated); len(related) > 0 {
			origins = related
		}
	}
	var out []place
	seen := map[Location]bool{}
	for _, o := range origins[:min(len(origins), maxLocated)] {
		at := p.locateOrigin(o)
		if at == (Location{}) || seen[at] {
			continue
		}
		seen[at] = true
		if out = append(out, place{o, at}); len(out) == maxPlaces {
			return out
		}
	}
	if len(out) == 0 {
		return []place{{Location: fallbackLocation}}
	}
	return out
}

// isPathNamed reports whether an element of a path is the name of a shard, with or
// without a file extension.
func (p *placeFinder) isPathNamed(name, shard string) bool {
	words, known := p.pathParts[name]
	if !known {
		words = map[string]bool{}
		for part := range strings.SplitSeq(name, "/") {
			words[part], words[strings.TrimSuffix(part, path.Ext(part))] = true, true
		}
		p.pathParts[name] = words
	}
	return words[shard]
}

// locateOrigin returns the location of an origin, or the zero Location if the
// Locator returns a path that leads out of the repository.
func (p *placeFinder) locateOrigin(o Origin) Location {
	at, known := p.locations[o]
	if known {
		return at
	}
	if staysInSection(o) {
		at = p.locator.Locate(o)
	}
	if !isShowablePath(at.Path) || at.Line < 1 {
		at = Location{}
	}
	p.locations[o] = at
	return at
}

// staysInSection reports whether the path of an origin stays in its section of the
// bundle. Paths are not trusted: the author of the change makes the bundle.
func staysInSection(o Origin) bool {
	return o.Section == sectionGraphQL || strings.HasPrefix(o.Path, "/") && isShowablePath(o.Path[1:])
}

// isShowablePath reports whether a path leads to a file of the repository and has
// only visible characters.
func isShowablePath(name string) bool {
	return fs.ValidPath(name) && name != "." && len(name) <= maxPath && !strings.ContainsFunc(name, func(r rune) bool {
		return r == '\\' || !unicode.IsPrint(r)
	})
}
