//go:build unix

package main

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
)

// An edit is one change of a tree. An edit that does not fit a tree changes nothing.
type edit struct {
	Op   string `json:"op"` // mark, delete, put, rename, mode, link, insert, append or copy
	Path string `json:"path"`
	Text string `json:"text,omitempty"` // the new word, text, line, path or target
	Nth  int    `json:"nth,omitempty"`  // which word
}

// marks finds the words that edits change.
var marks = regexp.MustCompile(`\b(good|BAD)[a-z]+\b`)

// apply returns the tree with the edit.
func (e edit) apply(t tree) tree {
	out := maps.Clone(t)
	f, ok := t[e.Path]
	switch e.Op {
	case "put":
		out[e.Path] = file{Text: e.Text}
	case "link":
		if ok && f.Link != "" {
			out[e.Path] = file{Link: e.Text}
		}
	case "delete":
		delete(out, e.Path)
	case "rename", "copy":
		if _, taken := t[e.Text]; ok && !taken {
			out[e.Text] = f
			if e.Op == "rename" {
				delete(out, e.Path)
			}
		}
	}
	if !ok || f.Link != "" {
		return out
	}
	switch e.Op {
	case "mode":
		f.Exec = !f.Exec
		out[e.Path] = f
	case "mark":
		if at := marks.FindAllStringIndex(f.Text, -1); len(at) > 0 {
			w := at[e.Nth%len(at)]
			f.Text = f.Text[:w[0]] + e.Text + f.Text[w[1]:]
			out[e.Path] = f
		}
	case "insert": // before the last line
		at := strings.LastIndex(strings.TrimSuffix(f.Text, "\n"), "\n") + 1
		f.Text = f.Text[:at] + e.Text + "\n" + f.Text[at:]
		out[e.Path] = f
	case "append":
		f.Text += e.Text + "\n"
		out[e.Path] = f
	}
	return out
}

// drawEdit draws an edit of a tree. Often it is of a file that a program reads.
func drawEdit(r *rand.Rand, p pair, t tree) edit {
	switch r.IntN(20) {
	case 0, 1, 2, 3, 4, 5, 6:
		return edit{Op: "mark", Path: touched(r, p, t), Text: word(r, 65), Nth: r.IntN(4)}
	case 7, 8:
		return drawProgramEdit(r, p)
	case 9, 10:
		return edit{Op: "put", Path: pick(r, missing[:len(missing)-1]...), Text: word(r, 50) + "\n"}
	case 11:
		return edit{Op: "put", Path: "data/people/" + pick(r, "dana", "BADeve", "fay") + ".yml",
			Text: person("New", word(r, 40), word(r, 30), "harbor")}
	case 12, 13:
		name := touched(r, p, t)
		if strings.HasPrefix(name, "data/") && !strings.HasPrefix(name, "data/people/") {
			name = "conf/b.txt"
		}
		return edit{Op: "delete", Path: name}
	case 14:
		return edit{Op: pick(r, "rename", "copy"), Path: pick(r, "conf/a.txt", "conf/b.txt", "conf/sub/c.txt",
			"items/one.txt", "data/people/bo.yml"), Text: pick(r, "conf/BADnew.txt", "conf/sub/new.txt", "items/BADone.txt",
			"items/new.txt", "integrations/BADfile")}
	case 15:
		return edit{Op: "mode",
			Path: pick(r, append(slices.Clone(helpers), "conf/a.txt", "README.md", "integrations/note.txt",
				p.Programs[r.IntN(len(p.Programs))].Path)...)}
	case 16, 17:
		name := pick(r, slices.Sorted(maps.Keys(targets))...)
		return edit{Op: "link", Path: name, Text: pick(r, targets[name]...)}
	case 18:
		return edit{Op: "append", Path: pick(r, "prcheck.yaml", "README.md", "data/people/ana.yml"), Text: "# " + word(r, 20)}
	}
	if queries := t.below("queries"); len(queries) > 0 && r.IntN(2) == 0 {
		return edit{Op: "append", Path: pick(r, queries...), Text: "# more"}
	}
	return edit{Op: "mark", Path: "data/integrations/" + pick(r, p.Programs...).Name + ".yml", Text: word(r, 20)}
}

// drawProgramEdit breaks a program, changes its words, or adds a line that does nothing.
func drawProgramEdit(r *rand.Rand, p pair) edit {
	prog := pick(r, p.Programs...)
	if prog.Path == "" {
		return edit{Op: "append", Path: "README.md", Text: "more"}
	}
	if r.IntN(3) == 0 {
		return edit{Op: "insert", Path: prog.Path, Text: fmt.Sprintf("# note %d", r.IntN(100))}
	}
	if prog.Language == python && r.IntN(4) == 0 { // a module that stands before that of the library
		return edit{Op: "put", Path: prog.shadow(), Text: "raise SystemExit(\"ERROR: shadowed\")\n"}
	}
	line := "fault broken by " + pick(r, "red", "blue")
	if prog.Language == python {
		line = fmt.Sprintf("fault(\"broken\", \"by\", %q)", pick(r, "red", "blue"))
	}
	return edit{Op: "insert", Path: prog.Path, Text: line}
}

// touched returns a file with words: mostly one that a program reads.
func touched(r *rand.Rand, p pair, t tree) string {
	var read []string
	for _, prog := range p.Programs {
		for _, b := range prog.Blocks {
			for _, name := range b.names(t) {
				if name, folder := strings.CutSuffix(name, "/"); folder {
					read = append(read, t.below(name)...)
				} else if f, ok := t[name]; ok && f.Link == "" {
					read = append(read, name)
				}
			}
			if b.Kind == asks {
				read = append(read, t.below("data/people")...)
			}
		}
	}
	if len(read) > 0 && r.IntN(5) > 0 {
		return pick(r, read...)
	}
	all := append(append(slices.Clone(texts), datas...), helpers...)
	return pick(r, append(append(all, modules...), "src/rule.src", "src/more.src")...)
}
