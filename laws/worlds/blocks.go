package main

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// A block is a part of a program, as lines of a shell. It sets bad to what it complains about.
type block struct {
	script string
	files  []string // that decide; that of a folder which is listed ends with a slash
	commit bool     // the commit decides as well
	asks   bool     // it asks the server
}

// names are the parts of names of files.
var names = []string{"a", "b", "c d", "é"}

// pick returns one of some words.
func pick[T any](r *rand.Rand, words ...T) T { return words[r.IntN(len(words))] }

// newBlock makes a random part of a program.
func newBlock(r *rand.Rand) block {
	n := pick(r, names...)
	complain := func(what string) string { return `bad="$bad ` + strings.ReplaceAll(what, `"`, "") + `"` }
	grep := func(path string) string {
		return fmt.Sprintf("if grep -q BAD '%[1]s' 2>/dev/null; then %[2]s $(grep BAD '%[1]s')\"; fi", path, `bad="$bad `+path)
	}
	conf := "conf/" + n + ".txt"
	switch r.IntN(16) {
	case 0:
		lib := "integrations/lib_" + n + ".sh"
		return block{script: fmt.Sprintf("if [ -e '%s' ]; then . './%s'; fi", lib, lib), files: []string{lib}}
	case 1, 2:
		return block{script: grep(conf), files: []string{conf}}
	case 3:
		return block{script: "for f in conf/*; do case $f in *bad*) " + complain("listed") + " ;; esac; done", files: []string{"conf/"}}
	case 4:
		return block{script: "if ls -A rules 2>/dev/null | grep -q bad; then " + complain("ls") + "; fi", files: []string{"rules/", "rules"}}
	case 5:
		stop := "flags/" + n
		return block{script: "if [ -e '" + stop + "' ]; then " + complain("flag "+n) + "; fi", files: []string{stop}}
	case 6:
		tool := "tools/" + n + ".sh"
		return block{script: "if [ -e '" + tool + "' ]; then sh '" + tool + "' || " + complain("tool "+n) + "; fi", files: []string{tool}}
	case 7:
		link := "links/" + n
		return block{script: grep(link), files: []string{link, "conf/a.txt", "conf/b.txt"}}
	case 8:
		return block{script: "echo x >out_" + fmt.Sprint(r.IntN(9)) + "; cat out_? >/dev/null", files: []string{"./"}}
	case 9:
		return block{script: "if git ls-files conf | grep -q bad; then " + complain("tracked") + "; fi", files: []string{"conf/"}, commit: true}
	case 10:
		return block{script: "if git show HEAD:conf/a.txt | grep -q BAD; then " + complain("committed") + "; fi", commit: true}
	case 11:
		person := "data/people/" + pick(r, "ana", "bo") + ".yml"
		return block{script: grep(person), files: []string{person}}
	case 12:
		rule := "resources/" + n + ".txt"
		return block{script: grep(rule), files: []string{rule}}
	case 13:
		return block{script: `if grep -q BAD "$PWD/` + conf + `" 2>/dev/null; then ` + complain("absolute "+n) + "; fi", files: []string{conf}}
	case 14:
		return block{script: "if grep -q BAD build/out.txt 2>/dev/null; then " + complain("built") + "; fi", files: []string{"build/out.txt"}}
	}
	return block{script: "if (cd conf 2>/dev/null && cat '" + n + ".txt' 2>/dev/null) | grep -q BAD; then " + complain("inside "+n) + "; fi", files: []string{conf}}
}

// asking is the block that asks the server for people, and complains about titles. Python lists the
// current folder for its modules.
var asking = block{asks: true, files: []string{"./"}, script: `if python3 - <<'EOF'
import json, os, sys, urllib.request
r = urllib.request.Request(os.environ["GRAPHQL_SERVER"], data=b'{"query": "{ people { name title } }"}', headers={"Content-Type": "application/json"})
people = json.load(urllib.request.urlopen(r, timeout=20))["data"]["people"]
sys.exit(any((p["title"] or "").startswith("BAD") for p in people))
EOF
then :; else bad="$bad title"; fi`}

// A program is an integration of the repository.
type program struct {
	name     string
	blocks   []block
	declares bool // its settings declare a query of people
}

// newProgram makes a random program.
func newProgram(r *rand.Rand, name string) program {
	p := program{name: name}
	for range 1 + r.IntN(3) {
		p.blocks = append(p.blocks, newBlock(r))
	}
	if r.IntN(5) == 0 {
		p.blocks = append(p.blocks, asking)
	}
	return p
}

// path returns the file of the program.
func (p program) path() string { return "integrations/" + p.name + ".sh" }

// text returns the program as a script of a shell.
func (p program) text() string {
	lines := []string{"bad="}
	for _, b := range p.blocks {
		lines = append(lines, b.script)
	}
	return strings.Join(append(lines, `if [ -n "$bad" ]; then echo "ERROR:$bad"; exit 1; fi`), "\n") + "\n"
}

// asks reports whether the program asks the server.
func (p program) asks() bool {
	for _, b := range p.blocks {
		if b.asks {
			return true
		}
	}
	return false
}

// reads reports whether a change of a path may change what the program does.
func (p program) reads(path string, isNew bool) bool {
	if path == p.path() || (p.asks() || p.declares) && strings.HasPrefix(path, "data/people/") {
		return true
	}
	for _, b := range p.blocks {
		for _, f := range b.files {
			folder, isFolder := strings.CutSuffix(f, "/")
			switch {
			case f == path, isFolder && isNew && strings.HasPrefix(path, folder+"/"):
				return true
			case folder == "." && isNew: // perhaps in a new folder
				return true
			}
		}
	}
	return false
}

// needsCommit reports whether the commit decides as well.
func (p program) needsCommit() bool {
	for _, b := range p.blocks {
		if b.commit {
			return true
		}
	}
	return false
}
