//go:build unix

package main

import (
	"fmt"
	"math/rand/v2"
	"path"
	"strings"
)

// A kind is a way to read something.
type kind string

// The kinds of blocks.
const (
	opens    kind = "opens"    // a file, by its relative path
	imports  kind = "imports"  // a module, or a file that the shell reads as its own
	lists    kind = "lists"    // a folder
	exists   kind = "exists"   // asks whether a file is there
	executes kind = "executes" // another program of the repository
	follows  kind = "follows"  // a file behind links, or the text of a link
	writes   kind = "writes"   // a file, and reads it back
	git      kind = "git"      // asks git
	asks     kind = "asks"     // asks the server
	stats    kind = "stats"    // the size or the mode of a file alone
	absolute kind = "absolute" // a file by its absolute path
	moves    kind = "moves"    // into a folder, and opens a file there
	built    kind = "built"    // opens a file that git ignores
)

// A block is one step of a program. Way tells apart the ways of a kind.
type block struct {
	ID    string `json:"id"`
	Kind  kind   `json:"kind"`
	Way   int    `json:"way"`
	Path  string `json:"path,omitempty"`
	Limit int    `json:"limit,omitempty"`
}

// questions are what programs ask the server. Their answers hold the words that edits change.
var questions = []string{"{ people { name title } }", "{ people { email } }", "{ rooms { name desks } }",
	"{ rooms { name people { title } } }"}

// drawBlock draws a block of one of some kinds.
func drawBlock(r *rand.Rand, pool tree, p program, from []kind) block {
	b := block{Kind: pick(r, from...), Way: r.IntN(4)}
	switch b.Kind {
	case opens, absolute:
		b.Path = pick(r, append(append(append([]string{}, texts...), missing...),
			append(datas, "folder/c.txt", "integrations/lib.sh")...)...)
		if _, ok := pool[pool.resolve(b.Path)]; !ok && b.Way == 2 && r.IntN(8) > 0 { // it would complain at once
			b.Way = 1
		}
	case stats:
		b.Path = pick(r, append(append([]string{}, texts...), append(helpers, datas...)...)...)
		b.Limit = len(pool[b.Path].Text)
		if b.Way%2 == 1 && pool[b.Path].Exec { // it would complain at once
			b.Way--
		}
	case imports:
		b.Path = pick(r, modules...)
		if p.Language == python {
			b.Path = path.Join(path.Dir(p.Path), "shared.py")
		}
	case lists:
		b.Path = pick(r, folders...)
		b.Limit = len(pool.below(pool.resolve(b.Path))) + 1 + r.IntN(2)
	case exists:
		b.Path = pick(r, append(append([]string{}, missing...), "conf/a.txt", "data/people/cleo.yml", "conf/link.txt")...)
		if _, ok := pool[b.Path]; r.IntN(8) > 0 { // mostly what is there is looked for, and what is not there is feared
			b.Way = map[bool]int{true: 3, false: 0}[ok]
		}
	case executes:
		b.Path = pick(r, append(append([]string{}, helpers...), "linked/help.sh")...)
	case follows:
		b.Path = pick(r, "conf/link.txt", "chain.txt", "folder/c.txt", "items/up.txt")
	case writes:
		b.Path = pick(r, "work/own-", "work/ignored-") + p.Name
	case git:
		b.Path = pick(r, "conf/a.txt", "README.md", "conf/freeze", "items/three.txt", "integrations/note.txt")
	case moves:
		b.Path = pick(r, "conf/a.txt", "conf/sub/c.txt", "folder/c.txt", "items/one.txt", "items/three.txt",
			"resources/r.txt")
	case built:
		b.Path = pick(r, "build/rule.txt", "build/more.txt")
	}
	return b
}

// source returns the file of which a built file is made.
func (b block) source() string {
	return "src/" + strings.TrimSuffix(path.Base(b.Path), ".txt") + ".src"
}

// names returns the paths that the block reads, and for each how: a listing is a folder with
// a slash at its end. Links on the way belong to them, as do their targets.
func (b block) names(t tree) []string {
	var out []string
	switch b.Kind {
	case asks, writes:
		return nil
	case built:
		out = []string{b.source(), b.Path}
	case lists:
		out = []string{b.Path + "/"}
	default:
		out = []string{b.Path}
	}
	for range 20 {
		name := out[len(out)-1]
		next, ok := t.step(strings.TrimSuffix(name, "/"))
		if !ok {
			break
		}
		if strings.HasSuffix(name, "/") {
			next += "/"
		}
		out = append(out, next)
	}
	return out
}

// seen returns what the block sees in a tree, as text that is compared. Answers of the server
// and of git come from outside: answer returns them.
func (b block) seen(t tree, answer func(string) string, commit string) string {
	switch b.Kind {
	case writes:
		return ""
	case asks:
		return answer(b.question())
	case git:
		return fmt.Sprint(commit, t[b.Path])
	}
	var out []string
	for at := b.Path; ; { // each link on the way counts
		next, ok := t.step(at)
		if !ok {
			break
		}
		out, at = append(out, at+" -> "+next), next
	}
	name := t.resolve(b.Path)
	f, ok := t[name]
	switch b.Kind {
	case built:
		f, ok = t[b.source()]
		out = append(out, fmt.Sprint(ok, f.Text))
	case lists:
		out = append(out, t.below(name)...)
	case exists:
		out = append(out, fmt.Sprint(ok || len(t.below(name)) > 0, f)) // the file counts, as for stats
	default:
		out = append(out, fmt.Sprint(ok, f))
	}
	return strings.Join(out, "\n")
}

// question returns what the block asks the server.
func (b block) question() string { return questions[b.Way%len(questions)] }
