package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
)

// An edit is what was done to one file.
type edit struct {
	path  string
	isNew bool // the file is new or gone
}

// edit changes some random files, and returns what it did.
func (repo *repository) edit(r *rand.Rand) (done []edit, err error) {
	for range 1 + r.IntN(3) {
		do := repo.editOne
		if r.IntN(3) == 0 {
			do = repo.editRead
		}
		e, err := do(r)
		if err != nil {
			return done, err
		}
		done = append(done, e)
	}
	return done, nil
}

// editRead changes a file that a program reads, or the names in a folder that it lists.
func (repo *repository) editRead(r *rand.Rand) (edit, error) {
	blocks := pick(r, repo.programs...).blocks
	files := pick(r, blocks...).files
	if len(files) == 0 {
		return repo.editOne(r)
	}
	path := pick(r, files...)
	text := pick(r, "BAD three\n", "fine\n")
	if strings.HasSuffix(path, "/") {
		path = filepath.Join(path, pick(r, "bad_x", "other"))
	}
	switch {
	case strings.HasPrefix(path, "data/"):
		text = "$schema: /person-1.yml\nname: x\ntitle: " + text
	case strings.HasPrefix(path, "tools/"):
		text = pick(r, "exit 1\n", "exit 0\n")
	case strings.HasPrefix(path, "links/"), path == "rules":
		return repo.editOne(r)
	}
	_, err := os.Lstat(filepath.Join(repo.dir, path))
	return edit{path, err != nil}, repo.write(path, text)
}

func (repo *repository) editOne(r *rand.Rand) (edit, error) {
	n := pick(r, names...)
	text := pick(r, "fine\n", "BAD one\n", "BAD two\n", "other\n")
	put := func(path, text string) (edit, error) {
		_, err := os.Lstat(filepath.Join(repo.dir, path))
		return edit{path, err != nil}, repo.write(path, text)
	}
	switch r.IntN(18) {
	case 0, 1, 2:
		return put("conf/"+n+".txt", text)
	case 3:
		return put(pick(r, "conf/", "rules/", "")+"bad_"+n, text)
	case 4:
		return put(pick(r, "README.md", "TODO.txt", "docs/a.md"), text)
	case 5:
		return put("flags/"+n, "")
	case 6:
		return put("tools/"+n+".sh", pick(r, "exit 0\n", "exit 1\n", "# same\nexit 0\n"))
	case 7:
		return put("integrations/lib_"+n+".sh", pick(r, "x=2\n", "bad=\"$bad lib\"\n"))
	case 8:
		return put("data/people/"+pick(r, "ana", "bo")+".yml", fmt.Sprintf("$schema: /person-1.yml\nname: x\ntitle: %s\n", pick(r, "T", "U", "BAD", "BAD2")))
	case 9:
		return put("resources/"+n+".txt", text)
	case 10:
		p := pick(r, repo.programs...)
		return put(p.path(), pick(r, "# same\n"+p.text(), "echo 'ERROR: broken'; exit 1\n", "exit 0\n"))
	case 11:
		link := pick(r, "links/a", "links/b", "links/c d")
		_ = os.Remove(filepath.Join(repo.dir, link))
		return edit{link, true}, os.Symlink(pick(r, "../conf/a.txt", "../conf/b.txt", "../conf/gone"), filepath.Join(repo.dir, link))
	case 12:
		return put("build/out.txt", text)
	case 13:
		return edit{"conf/" + n + ".txt", true}, removed(filepath.Join(repo.dir, "conf", n+".txt"))
	case 14:
		return edit{"tools/" + n + ".sh", true}, removed(filepath.Join(repo.dir, "tools", n+".sh"))
	case 15:
		return put("new.tmp", text)
	case 16:
		return put(pick(r, "docs/", "tools/deep/", "")+n+".md", text)
	}
	p := pick(r, repo.programs...)
	mode := pick(r, os.FileMode(0o755), 0o644)
	return edit{p.path(), false}, os.Chmod(filepath.Join(repo.dir, p.path()), mode)
}

func removed(name string) error {
	if err := os.Remove(name); err != nil && !os.IsNotExist(err) {
		return err
	}
	return nil
}
