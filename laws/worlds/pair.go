//go:build unix

package main

import (
	"fmt"
	"maps"
	"math/rand/v2"
)

// A pair is a repository and two rounds of edits. The first round makes the change; the second
// one is made when the change was checked once.
type pair struct {
	Seed     uint64    `json:"seed"`
	Index    int       `json:"index"`
	Pool     tree      `json:"pool"` // the files of base beside programs, definitions and settings
	Programs []program `json:"programs"`
	Rounds   [2]round  `json:"rounds"`
}

// A round is what one push holds.
type round struct {
	Edits  []edit `json:"edits"`
	Commit bool   `json:"commit"` // on one's own machine; a job sees commits only
}

// A program is one integration: how it is started, what it reads and what the settings say.
type program struct {
	Name     string   `json:"name"`
	Language language `json:"language"`
	Path     string   `json:"path"`             // "" for a program that stands in its command
	Start    string   `json:"start"`            // the path that the command names; a link may lead from it to Path
	Direct   bool     `json:"direct,omitempty"` // started as ./Start
	Declares bool     `json:"declares"`         // its queries
	Uses     string   `json:"uses"`             // "", "patterns" or "none": what `programs` says
	Blocks   []block  `json:"blocks"`
}

// A language is that of a program.
type language string

// The languages of programs.
const (
	posix  language = "sh"
	bash   language = "bash"
	python language = "python3"
)

// draw returns the pair of a seed with a number.
func draw(seed uint64, index int) pair {
	r := rand.New(rand.NewPCG(seed, uint64(index))) //nolint:gosec // it repeats what a seed made
	p := pair{Seed: seed, Index: index, Pool: drawPool(r)}
	a := drawAim(r)
	for i := range 2 + r.IntN(3) {
		p.Programs = append(p.Programs, drawProgram(r, p.Pool, a, fmt.Sprintf("job%c", 'a'+i)))
	}
	for i := range p.Rounds {
		p.Rounds[i].Commit = r.IntN(2) == 0
	}
	if a != "" {
		p.Rounds[0].Edits = a.first(r, p)
		p.Rounds[1].Edits = a.second(r, p, p.heads()[0])
		return p
	}
	t := p.base()
	for i := range p.Rounds {
		for range 1 + r.IntN(4-2*i) {
			e := drawEdit(r, p, t)
			p.Rounds[i].Edits = append(p.Rounds[i].Edits, e)
			t = e.apply(t)
		}
	}
	return p
}

// drawProgram draws one integration.
func drawProgram(r *rand.Rand, pool tree, a aim, name string) program {
	p := program{Name: name, Language: posix, Declares: r.IntN(2) == 0}
	if r.IntN(12) == 0 {
		p.Uses = "none"
		p.Blocks = []block{drawBlock(r, pool, p, []kind{asks})}
		return p
	}
	p.Language = pick(r, posix, posix, posix, posix, bash, python)
	folder := pick(r, "integrations/", "integrations/", "tools/", "resources/tools/", "")
	p.Path = folder + name + map[language]string{posix: ".sh", bash: ".sh", python: ".py"}[p.Language]
	p.Start = p.Path
	switch r.IntN(8) {
	case 0:
		p.Start = "run-" + name
	case 1:
		if folder == "integrations/" {
			p.Start = "linked/" + name + p.Path[len(p.Path)-3:]
		}
	}
	p.Direct = p.Language != python && r.IntN(5) == 0
	if r.IntN(2) == 0 {
		p.Uses = "patterns"
	}
	if a == atData { // what a run has read decides alone
		p.Declares, p.Uses = false, ""
	}
	if r.IntN(4) > 0 {
		p.Blocks = append(p.Blocks, drawBlock(r, pool, p, []kind{asks}))
	}
	for range 1 + r.IntN(3) {
		p.Blocks = append(p.Blocks, drawBlock(r, pool, p, p.kinds()))
	}
	if a != "" {
		p.Blocks = append(p.Blocks, a.block(r, pool, p))
	}
	for i := range p.Blocks {
		p.Blocks[i].ID = fmt.Sprintf("%s-%d", name, i)
	}
	return p
}

// kinds returns the kinds of blocks that the program may have. Patterns cannot name what git
// answers, so a program with patterns does not ask git.
func (p program) kinds() []kind {
	out := []kind{opens, opens, opens, imports, lists, lists, exists, exists, executes, follows, follows, writes, stats,
		absolute, moves, built, asks}
	if p.Uses == "" {
		out = append(out, git, git)
	}
	return out
}

// base returns the tree of base.
func (p pair) base() tree {
	t := maps.Clone(p.Pool)
	maps.Copy(t, p.layout())
	return t
}

// heads returns the trees after each round.
func (p pair) heads() [2]tree {
	var out [2]tree
	t := p.base()
	for i, round := range p.Rounds {
		for _, e := range round.Edits {
			t = e.apply(t)
		}
		out[i] = t
	}
	return out
}

// pick draws one of some values.
func pick[T any](r *rand.Rand, from ...T) T { return from[r.IntN(len(from))] }
