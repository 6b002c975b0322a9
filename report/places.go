package report

import (
	"io/fs"
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/app-sre/prcheck/plan"
)

// A Location is a line of a file in the repository.
type Location struct {
	Path string // from the root of the repository, with slashes
	Line int    // from 1
}

// A Locator knows the repository that a bundle was made from.
type Locator interface {
	// Locate returns where a place of the change is; the zero Location when it
	// is not in the repository.
	Locate(Origin) Location
	// Concerns tells whether what is at a place speaks of a shard.
	Concerns(o Origin, shard string) bool
}

// Findings are a report with all that is needed to show its failures in the
// files of the repository.
type Findings struct {
	Plan    *plan.Plan // the plan of the report
	Report  *Report
	Locator Locator // nil: the folders are data and resources, and every line is 1
}

// layout is the Locator for a repository that is not at hand.
type layout struct{}

func (layout) Locate(o Origin) Location {
	switch o.Section {
	case inData, inResources, inSchemas:
		return Location{path.Join(o.Section, o.Path), 1}
	}
	return Location{}
}

func (layout) Concerns(Origin, string) bool { return false }

// nowhere is where a failure is shown that no file explains.
var nowhere = Location{"prcheck.yaml", 1}

// Bounds of the places of one task.
const (
	maxPlaces = 5  // that are shown
	maxSought = 25 // that are looked for
	maxPath   = 1000
)

// A place is an origin with its location.
type place struct {
	Origin
	Location
}

// A placing finds the places of tasks, and remembers them.
type placing struct {
	changes
	locator Locator
	woke    map[string][]Origin // by integration
	known   map[Origin]Location
	words   map[string]map[string]bool // by path: what it is made of
}

func (f Findings) placing() *placing {
	p := &placing{indexChanges(f.Plan), f.Locator, map[string][]Origin{}, map[Origin]Location{}, map[string]map[string]bool{}}
	if p.locator == nil {
		p.locator = layout{}
	}
	for _, d := range f.Plan.Integrations {
		if d.Decision != plan.Skip {
			p.woke[d.Name] = p.origins(d)
		}
	}
	return p
}

// of returns the places that made a task run, no line twice. For a shard these
// are the ones that speak of it, if any do.
func (p *placing) of(t Task) []place {
	all := p.woke[t.Integration]
	if t.Shard != "" {
		others := func(o Origin) bool { return !p.named(o.Path, t.Shard) && !p.locator.Concerns(o, t.Shard) }
		if some := slices.DeleteFunc(slices.Clone(all), others); len(some) > 0 {
			all = some
		}
	}
	var out []place
	seen := map[Location]bool{}
	for _, o := range all[:min(len(all), maxSought)] {
		at := p.locate(o)
		if at == (Location{}) || seen[at] {
			continue
		}
		seen[at] = true
		if out = append(out, place{o, at}); len(out) == maxPlaces {
			return out
		}
	}
	if len(out) == 0 {
		return []place{{Location: nowhere}}
	}
	return out
}

// named tells whether a part of a path is called as a shard is.
func (p *placing) named(name, shard string) bool {
	words, known := p.words[name]
	if !known {
		words = map[string]bool{}
		for part := range strings.SplitSeq(name, "/") {
			words[part], words[strings.TrimSuffix(part, path.Ext(part))] = true, true
		}
		p.words[name] = words
	}
	return words[shard]
}

// locate holds what the Locator says to be in the repository.
func (p *placing) locate(o Origin) Location {
	at, known := p.known[o]
	if known {
		return at
	}
	if inside(o) {
		at = p.locator.Locate(o)
	}
	if !sound(at.Path) || at.Line < 1 {
		at = Location{}
	}
	p.known[o] = at
	return at
}

// inside tells whether a path of a bundle leads nowhere but into its section. A
// bundle is made by whoever proposes the change.
func inside(o Origin) bool {
	return o.Section == inGraphQL || strings.HasPrefix(o.Path, "/") && sound(o.Path[1:])
}

// sound tells whether a path leads to a file of the repository, and can be shown.
func sound(name string) bool {
	return fs.ValidPath(name) && name != "." && len(name) <= maxPath && !strings.ContainsFunc(name, func(r rune) bool {
		return r == '\\' || !unicode.IsPrint(r)
	})
}
