//go:build unix

package main

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
)

// word returns a word that edits change: a good one, and rarely one with BAD.
func word(r *rand.Rand, bad int) string {
	if r.IntN(100) < bad {
		return "BAD" + pick(r, "red", "blue", "green")
	}
	return "good" + pick(r, "one", "two", "four", "eleven")
}

// The paths of which blocks and edits draw. Some of them are not there at first.
var (
	texts = []string{"conf/a.txt", "conf/b.txt", "conf/sub/c.txt", "README.md", "items/one.txt", "items/two.txt",
		"resources/r.txt", "integrations/note.txt"}
	helpers = []string{"integrations/help.sh", "tools/help.sh"}
	modules = []string{"lib.sh", "conf/lib.sh", "integrations/lib.sh"}
	datas   = []string{"data/people/ana.yml", "data/people/bo.yml", "data/people/cleo.yml", "data/rooms/harbor.yml"}
	missing = []string{"conf/freeze", "conf/sub/local.txt", "items/three.txt", "TODO", "integrations/stop",
		"data/people/dana.yml"}
	folders = []string{"conf", "conf/sub", "items", "integrations", "data/people", "resources", "folder"}
	links   = map[string]string{"conf/link.txt": "a.txt", "chain.txt": "conf/link.txt", "folder": "conf/sub",
		"linked": "integrations", "items/up.txt": "../conf/b.txt"}
	targets = map[string][]string{"conf/link.txt": {"a.txt", "b.txt", "gone.txt", "sub/c.txt"},
		"chain.txt": {"conf/link.txt", "conf/b.txt", "README.md"},
		"folder":    {"conf/sub", "items", "conf"}, "items/up.txt": {"../conf/b.txt", "../conf/a.txt", "one.txt"},
		"linked": {"integrations", "tools"}}
)

// drawPool draws the files of base beside programs, definitions and settings.
func drawPool(r *rand.Rand) tree {
	t := tree{}
	for _, name := range texts {
		t[name] = file{Text: fmt.Sprintf("mark %s\n", word(r, 6))}
	}
	for _, name := range helpers {
		t[name] = file{Text: fmt.Sprintf("#!/bin/sh\necho %s\n", word(r, 6)), Exec: true}
	}
	for _, name := range modules {
		t[name] = file{Text: fmt.Sprintf("MARK=%s\n", word(r, 6))}
	}
	for _, name := range []string{"integrations/shared.py", "tools/shared.py", "shared.py", "resources/tools/shared.py"} {
		t[name] = file{Text: fmt.Sprintf("MARK = \"%s\"\n", word(r, 6))}
	}
	for i, name := range []string{"Ana", "Bo", "Cleo"} {
		t[datas[i]] = file{Text: person(name, word(r, 4), word(r, 4), pick(r, "harbor", "garden"))}
	}
	for _, name := range []string{"harbor", "garden"} {
		t["data/rooms/"+name+".yml"] = file{Text: fmt.Sprintf("$schema: /office/room-1.yml\nname: %s-%s\ndesks: %d\n", name,
			word(r, 4), 1+r.IntN(9))}
	}
	for _, name := range []string{"src/rule.src", "src/more.src"} {
		if r.IntN(3) > 0 {
			t[name] = file{Text: fmt.Sprintf("rule %s\n", word(r, 4))}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(links)) {
		t[name] = file{Link: links[name]}
	}
	t[".gitignore"] = file{Text: "__pycache__/\n/build/\n/work/ignored-*\n"}
	return t
}

// person returns the text of a datafile.
func person(name, title, mail, room string) string {
	return fmt.Sprintf(
		"$schema: /office/person-1.yml\nname: %s\nemail: %s@example.org\ntitle: %s\nroom:\n  $ref: /rooms/%s.yml\n", name,
		mail, title, room)
}
