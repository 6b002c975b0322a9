package world

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestConversions keeps commits with files that a checkout may convert. Git itself tells which it converts.
func TestConversions(t *testing.T) {
	for name, c := range map[string]struct {
		attributes, text string
		settings         []string
		info             string
		failure          string
	}{
		"none":               {text: "a\n"},
		"text":               {attributes: "* text", text: "a\n"},
		"text auto":          {attributes: "* text=auto", text: "a\n"},
		"lf":                 {attributes: "* eol=lf", text: "a\n"},
		"crlf":               {attributes: "*.txt eol=crlf", text: "a\n", failure: "eol=crlf"},
		"crlf without lines": {attributes: "*.txt eol=crlf", text: "a"},
		"crlf has it":        {attributes: "*.txt eol=crlf", text: "a\r\n"},
		"crlf of a binary":   {attributes: "*.txt text=auto eol=crlf", text: "a\n\x00"},
		"crlf of no text":    {attributes: "*.txt -text eol=crlf", text: "a\n"},
		"crlf by settings": {attributes: "*.txt text", text: "a\n", settings: []string{"core.eol", "crlf"},
			failure: "core.eol"},
		"autocrlf":          {text: "a\n", settings: []string{"core.autocrlf", "true"}, failure: "core.autocrlf"},
		"autocrlf input":    {text: "a\n", settings: []string{"core.autocrlf", "input"}},
		"ident":             {attributes: "* ident", text: "$Id$\n", failure: "ident"},
		"ident without any": {attributes: "* ident", text: "Id\n"},
		"encoding": {attributes: "*.txt working-tree-encoding=UTF-16LE", text: "a\n",
			failure: "working-tree-encoding=UTF-16LE"},
		"encoding, the same": {attributes: "*.txt working-tree-encoding=UTF-8", text: "a\n"},
		"filter": {attributes: "*.txt filter=x", text: "a\n",
			settings: []string{"filter.x.smudge", "touch ran; cat"}, failure: "filter=x"},
		"process": {attributes: "*.txt filter=x", text: "a\n",
			settings: []string{"filter.x.process", "touch ran"}, failure: "filter=x"},
		"filter of nobody":     {attributes: "*.txt filter=x", text: "a\n"},
		"attributes elsewhere": {text: "a\n", info: "*.txt eol=crlf\n", failure: "eol=crlf"},
		"lfs without pointer":  {attributes: "*.txt filter=lfs", text: "a\n"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRepository(t)
			r.write("d/a.txt", "placeholder")
			r.commit()
			id := r.git("hash-object", "-w", "--no-filters", writeTemp(t, c.text))
			r.git("update-index", "--cacheinfo", "100644,"+id+",d/a.txt")
			if c.attributes != "" {
				r.write(".gitattributes", c.attributes+"\n")
				r.git("add", ".gitattributes")
			}
			r.git("commit", "-q", "-m", "x")
			if c.settings != nil {
				r.git(append([]string{"config"}, c.settings...)...)
			}
			if c.info != "" {
				r.write(".git/info/attributes", c.info)
			}
			r.write(".gitattributes", "* eol=crlf\n") // of the other side
			kept, err := keeper(t).Keep(t.Context(), r.commitTree("HEAD"))
			if (err == nil) != (c.failure == "") ||
				err != nil && (!strings.Contains(err.Error(), c.failure) ||
					!strings.Contains(err.Error(), `"d/a.txt"`)) {
				t.Fatalf("got %v, want an error with %q", err, c.failure)
			}
			if _, err := os.Lstat(filepath.Join(r.dir, "ran")); err == nil {
				t.Error("a program of the settings has run")
			}
			if err != nil {
				return
			}
			if raw, err := os.ReadFile(filepath.Join(kept.Folder(), "d/a.txt")); string(raw) != c.text {
				t.Errorf("got %q, %v, want %q", raw, err, c.text)
			}
			must(t, kept.Close())
		})
	}
}

func writeTemp(t *testing.T, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "file")
	must(t, os.WriteFile(name, []byte(text), 0o600))
	return name
}

// TestLargeFiles keeps files of Git LFS: the content is that of the pointer, if it is here and right.
func TestLargeFiles(t *testing.T) {
	const content = "large content"
	oid := fmt.Sprintf("%x", sha256.Sum256([]byte(content)))
	pointer := fmt.Sprintf("version https://git-lfs.github.com/spec/v1\noid sha256:%s\nsize %d\n", oid, len(content))
	r := newRepository(t)
	r.write(".gitattributes", "*.bin filter=lfs diff=lfs merge=lfs -text\n")
	r.write("a.bin", pointer)
	r.commit()
	k := keeper(t)
	if _, err := k.Keep(t.Context(), r.commitTree("HEAD")); err == nil ||
		!strings.Contains(err.Error(), "git lfs fetch") {
		t.Errorf("without the content: got %v", err)
	}
	pointers := r.workTree(WorkTreeOptions{})
	object := ".git/lfs/objects/" + oid[:2] + "/" + oid[2:4] + "/" + oid
	r.write(object, "wrong content")
	if _, err := k.Keep(t.Context(), r.commitTree("HEAD")); err == nil {
		t.Error("a wrong content was taken")
	}
	r.write(object, content)
	for _, tree := range []*Tree{pointers, r.commitTree("HEAD"), pointers} {
		want := pointer
		if tree.isCommit {
			want = content
		}
		kept := keep(t, k, tree)
		if raw, err := os.ReadFile(filepath.Join(kept.Folder(), "a.bin")); string(raw) != want {
			t.Errorf("got %q, %v, want %q", raw, err, want)
		}
	}
	r.write("a.bin", content)
	if tree := r.workTree(WorkTreeOptions{}); len(tree.Edited()) != 0 || len(Diff(tree, r.commitTree("HEAD"))) != 0 {
		t.Errorf("a file with its content is edited: %q", tree.Edited())
	}
}

// TestEditedLineEnds edits nothing but line ends. Where git does not convert them, that is an edit as any other.
func TestEditedLineEnds(t *testing.T) {
	for _, tt := range []struct {
		attributes, text, autoCRLF string
		isEdit                     bool
	}{
		{"text", "a\n", "false", false},
		{"text=auto", "a\n", "false", false},
		{"eol=lf", "a\n", "false", false},
		{"text=auto", "a\x00\n", "false", true},
		{"ident", "a\n", "false", true},
		{"filter=unknown", "a\n", "false", true},
		{"filter=lfs", "a\n", "false", true},
		{"diff", "a\n", "input", false},
		{"-text", "a\n", "input", true},
		{"text", "a\n", "input", false},
	} {
		r := newRepository(t)
		r.git("config", "core.autocrlf", tt.autoCRLF)
		r.write(".gitattributes", "run.sh "+tt.attributes+"\n")
		r.write("run.sh", tt.text)
		r.commit()
		r.write("run.sh", strings.ReplaceAll(tt.text, "\n", "\r\n"))
		tree := r.workTree(WorkTreeOptions{})
		different := Diff(r.commitTree("HEAD"), tree)
		if isEdit := len(different) > 0; isEdit != tt.isEdit || !slices.Equal(different, tree.Edited()) {
			t.Errorf("%+v: got %q and %q", tt, different, tree.Edited())
		}
	}
}

// TestConvertedWorkTree reads a working tree whose files git converted: the bytes on disk are the truth, and no edit.
func TestConvertedWorkTree(t *testing.T) {
	r := newRepository(t)
	r.write("a.txt", "a\n")
	r.write("b.txt", "b\n")
	r.commit()
	r.git("config", "core.autocrlf", "true")
	r.remove("a.txt", "b.txt")
	r.git("checkout", "-q", "--", ".")
	r.write("b.txt", "changed\r\n")
	tree := r.workTree(WorkTreeOptions{})
	if got := strings.Join(tree.Edited(), " "); got != "b.txt" {
		t.Errorf("got %s", got)
	}
	if f, _, _ := tree.Lookup("a.txt"); f.ID != blobID(40, []byte("a\r\n")) {
		t.Errorf("got %v", f)
	}
	k := keeper(t)
	if got := onDisk(t, keep(t, k, tree).Folder()); !strings.Contains(got, `"a\r\n"`) {
		t.Errorf("got %s", got)
	}
}

// TestHostileTrees keeps trees that git would not check out.
func TestHostileTrees(t *testing.T) {
	for name, list := range map[string]string{
		"parent":          "040000 tree DIR\t..\n",
		"git folder":      "040000 tree DIR\t.git\n",
		"GIT folder":      "040000 tree DIR\t.GIT\n",
		"file and folder": "100644 blob FILE\ta\n100644 blob FILE\ta.b\n040000 tree DIR\ta\n",
		"link and folder": "120000 blob LINK\ta\n100644 blob FILE\ta.b\n040000 tree DIR\ta\n",
	} {
		t.Run(name, func(t *testing.T) {
			r := newRepository(t)
			file := r.git("hash-object", "-w", writeTemp(t, "file"))
			link := r.git("hash-object", "-w", writeTemp(t, "/tmp"))
			dir := r.mktree("100644 blob " + file + "\tx\n")
			tree := r.mktree(strings.NewReplacer("DIR", dir, "FILE", file, "LINK", link).Replace(list))
			commit := r.git("commit-tree", "-m", "x", tree)
			kept, err := keeper(t).Keep(t.Context(), r.commitTree(commit))
			if err == nil {
				t.Errorf("it was kept in %s", kept.dir)
			}
		})
	}
}

// mktree makes a tree object without a look at its names.
func (r repository) mktree(list string) string {
	r.t.Helper()
	var raw []byte
	for line := range strings.Lines(list) {
		about, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		words := strings.Fields(about)
		id, err := hex.DecodeString(words[2])
		must(r.t, err)
		raw = fmt.Appendf(raw, "%s %s\x00%s", strings.TrimPrefix(words[0], "0"), name, id)
	}
	name := filepath.Join(r.t.TempDir(), "tree")
	must(r.t, os.WriteFile(name, raw, 0o600))
	return r.git("hash-object", "-w", "--literally", "-t", "tree", name)
}

// TestMissingObject keeps a commit of a clone that lacks a content.
func TestMissingObject(t *testing.T) {
	r := variedRepository(t)
	id := r.git("rev-parse", "HEAD:a.txt")
	r.remove(".git/objects/" + id[:2] + "/" + id[2:])
	k := keeper(t)
	_, err := k.Keep(t.Context(), r.commitTree("HEAD"))
	if err == nil || !strings.Contains(err.Error(), `"a.txt"`) ||
		!strings.Contains(err.Error(), "fetch the whole repository") {
		t.Errorf("got %v", err)
	}
	if left, _ := filepath.Glob(filepath.Join(k.Dir, "new-*")); len(left) > 0 {
		t.Errorf("left: %q", left)
	}
}

// TestAddedWithCRLF stages a file with CRLF: git has other bytes than the working tree, although it counts as
// unchanged.
func TestAddedWithCRLF(t *testing.T) {
	r := newRepository(t)
	r.write(".gitattributes", "* text=auto\n")
	r.write("a.txt", "a\r\n")
	r.write("b.txt", "b\n")
	r.commit()
	must(t, os.Chtimes(filepath.Join(r.dir, ".git", "index"), time.Now().Add(time.Second), time.Now().Add(time.Second)))
	tree := r.workTree(WorkTreeOptions{})
	a, _, _ := tree.Lookup("a.txt")
	b, _, _ := tree.Lookup("b.txt")
	if a.ID != blobID(40, []byte("a\r\n")) || b.ID != blobID(40, []byte("b\n")) || len(tree.Edited()) > 0 {
		t.Errorf("got %v, %v, %q", a, b, tree.Edited())
	}
	if got := onDisk(t, keep(t, keeper(t), tree).Folder()); !strings.Contains(got, `"a\r\n"`) {
		t.Errorf("got %s", got)
	}
}
