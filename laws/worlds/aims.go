//go:build unix

package main

import (
	"maps"
	"math/rand/v2"
	"path"
	"slices"
	"strings"
)

// An aim is what a pair looks at closely: one way to read that random edits rarely meet. Each
// program of such a pair has a block that reads in this way. The first round breaks nothing, so
// that runs pass and are recorded. The second one changes what such blocks have read.
type aim string

// The aims. A pair without one has the aim "".
const (
	atNames   aim = "names"   // in a folder that is listed
	atVain    aim = "vain"    // names that were looked for in vain
	atLinks   aim = "links"   // and not what they lead to
	atData    aim = "data"    // read from disk, of which the server answers the same
	atIgnored aim = "ignored" // files that git ignores, and that only one side has
)

// drawAim draws the aim of a pair: every second one has none.
func drawAim(r *rand.Rand) aim {
	return pick(r, "", "", "", "", "", atNames, atVain, atLinks, atData, atIgnored)
}

// block draws a block that reads in the way of the aim.
func (a aim) block(r *rand.Rand, pool tree, p program) block {
	switch a {
	case atNames:
		return drawBlock(r, pool, p, []kind{lists})
	case atVain:
		if r.IntN(2) == 0 {
			return block{Kind: exists, Path: pick(r, missing...)}
		}
		return block{Kind: opens, Way: pick(r, 1, 3), Path: pick(r, missing...)}
	case atLinks:
		return drawBlock(r, pool, p, []kind{follows})
	case atData:
		return block{Kind: pick(r, opens, absolute), Way: pick(r, 1, 3), Path: pick(r, datas...)}
	}
	b := drawBlock(r, pool, p, []kind{built})
	if _, ok := pool[b.source()]; ok {
		b.Way = 2 // it complains when the file is missing
	}
	return b
}

// first returns the edits of the first round.
func (a aim) first(r *rand.Rand, p pair) []edit {
	quiet := edit{Op: "mark", Path: "data/rooms/garden.yml", Text: "goodquiet"} // no program opens this file
	switch {
	case a == atData || r.IntN(3) == 0:
		return []edit{quiet}
	case r.IntN(2) == 0:
		return []edit{{Op: "append", Path: "README.md", Text: "more"}}
	}
	var out []edit
	for _, prog := range p.Programs {
		if prog.Path != "" {
			out = append(out, edit{Op: "insert", Path: prog.Path, Text: "# quiet"})
		}
	}
	return out
}

// second returns the edits of the second round. What the first one did to the data is taken back,
// if data are what the aim is at: then the server answers as on base.
func (a aim) second(r *rand.Rand, p pair, t tree) []edit {
	var out []edit
	for _, e := range p.Rounds[0].Edits {
		if a == atData {
			out = append(out, edit{Op: "put", Path: e.Path, Text: p.Pool[e.Path].Text})
		}
	}
	var at [][]edit
	for _, prog := range p.Programs {
		for _, b := range prog.Blocks {
			at = append(at, a.edits(b, t)...)
		}
	}
	if len(at) == 0 {
		return append(out, drawEdit(r, p, t))
	}
	return append(out, pick(r, at...)...)
}

// edits returns the edits that change what a block reads in the way of the aim. Each has some steps.
func (a aim) edits(b block, t tree) [][]edit {
	name := t.resolve(b.Path)
	_, there := t[name]
	switch {
	case b.Kind == asks, b.Kind == writes, b.Kind == git:
	case a == atNames && b.Kind == lists:
		return [][]edit{{added(name + "/BADnew")}}
	case a == atVain && b.Kind != lists && b.Kind != built && !there:
		return [][]edit{{added(name)}}
	case a == atLinks:
		return b.relinks(t)
	case a == atData && there && strings.HasPrefix(name, "data/"):
		return [][]edit{{{Op: "append", Path: name, Text: "# BADremark"}}}
	case a == atIgnored && b.Kind == built:
		return [][]edit{{{Op: "delete", Path: b.source()}}}
	}
	return nil
}

// added returns an edit that adds a file with a bad word. A file below data/ can be read as one.
func added(name string) edit {
	if !strings.HasPrefix(name, "data/") {
		return edit{Op: "put", Path: name, Text: "MARK=BADnew\n"}
	}
	name = strings.TrimSuffix(name, ".yml") + ".yml"
	return edit{Op: "put", Path: name, Text: person("New", "BADnew", "goodnew", "harbor")}
}

// relinks returns edits of the links on the way of a block: each leads to another target, which
// has a bad word or is missing.
func (b block) relinks(t tree) [][]edit {
	var out [][]edit
	for at := b.Path; ; {
		next, ok := t.step(at)
		if !ok {
			return out
		}
		for _, link := range slices.Sorted(maps.Keys(targets)) {
			rest, onWay := strings.CutPrefix(at+"/", link+"/")
			for _, target := range targets[link] {
				to := t.resolve(path.Join(path.Dir(link), target, rest))
				if !onWay || target == t[link].Link {
					continue
				}
				edits := []edit{{Op: "link", Path: link, Text: target}}
				if _, there := t[to]; there {
					edits = append(edits, edit{Op: "mark", Path: to, Text: "BADtarget"})
				}
				out = append(out, edits)
			}
		}
		at = next
	}
}
