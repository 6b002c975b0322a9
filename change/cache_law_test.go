package change_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/app-sre/prcheck/change"
	"github.com/app-sre/prcheck/internal/cli"
	"github.com/app-sre/prcheck/plan"
)

// TestCacheLaw checks that the plan of a change in a checkout, and what is said of its
// mistakes, do not depend on the cache: whether there is none, an empty one, one that an
// earlier run left, or one with any bytes in its files.
func TestCacheLaw(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	plans, seeds := map[string]bool{}, uint64(4)
	for seed := range seeds {
		r := rand.New(rand.NewPCG(seed, 70))
		w := newShop(t)
		for range 3 {
			w.edit(r)
			head := "dir:" + w.dir
			if r.IntN(2) == 0 {
				w.git("add", "-A")
				w.git("commit", "-q", "--allow-empty", "-m", "change")
				head = "git:HEAD@" + w.dir
			}
			want := w.plan("", head)
			plans[want] = true
			for _, damage := range []func(*rand.Rand, []string){nil, nil, flipBytes, swapFiles, cutFiles} {
				if damage != nil {
					damage(r, filesBelow(t, w.cache))
				}
				if got := w.plan(w.cache, head); got != want {
					t.Fatalf("seed %d, %s: got %s\nwant %s", seed, head, got, want)
				}
			}
		}
	}
	if len(plans) < int(2*seeds) {
		t.Errorf("there are only %d different plans", len(plans))
	}
}

// flipBytes changes some bytes of each file.
func flipBytes(r *rand.Rand, names []string) {
	for _, name := range names {
		raw, _ := os.ReadFile(name)
		for range 3 {
			if len(raw) > 0 {
				raw[r.IntN(len(raw))] ^= byte(1 + r.IntN(255))
			}
		}
		_ = os.WriteFile(name, raw, 0o600)
	}
}

// swapFiles gives each file the bytes of another one.
func swapFiles(r *rand.Rand, names []string) {
	all := make([][]byte, len(names))
	for i, name := range names {
		all[i], _ = os.ReadFile(name)
	}
	r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	for i, name := range names {
		_ = os.WriteFile(name, all[i], 0o600)
	}
}

// cutFiles cuts each file short.
func cutFiles(r *rand.Rand, names []string) {
	for _, name := range names {
		raw, _ := os.ReadFile(name)
		_ = os.WriteFile(name, raw[:r.IntN(len(raw)+1)], 0o600)
	}
}

// filesBelow lists the files below a folder.
func filesBelow(t *testing.T, dir string) (names []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			names = append(names, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// A shop is a checkout of the example, and a cache.
type shop struct {
	*testing.T
	dir, cache string
	data       []string // names of the datafiles
}

// newShop makes a checkout with one commit.
func newShop(t *testing.T) *shop {
	t.Helper()
	raw, err := os.ReadFile("../examples/shop/base.json")
	if err != nil {
		t.Fatal(err)
	}
	var b struct {
		Data, Resources map[string]map[string]any
		GraphQL         any
	}
	if err := json.Unmarshal(raw, &b); err != nil {
		t.Fatal(err)
	}
	w := &shop{T: t, dir: t.TempDir(), cache: t.TempDir()}
	for name, object := range b.Data {
		delete(object, "$file_sha256sum")
		w.write("data"+name, object)
		w.data = append(w.data, "data"+name)
		w.write("schemas"+object["$schema"].(string), map[string]any{"$schema": "/metaschema-1.json", "type": "object",
			"properties": map[string]any{}})
	}
	slices.Sort(w.data)
	for name, object := range b.Resources {
		w.text("resources"+name, object["content"].(string))
	}
	w.write("graphql-schemas/schema.yml", b.GraphQL)
	w.text("prcheck.yaml", "version: 1\nexec:\n  argv: [./tool, \"{name}\"]\n")
	w.text("tool", "#!/bin/sh\n")
	w.text(".gitignore", "ignored*\n")
	w.git("init", "-q", "-b", "main")
	w.git("add", "-A")
	w.git("commit", "-q", "-m", "base")
	w.git("tag", "base")
	return w
}

func (w *shop) git(args ...string) {
	w.Helper()
	cmd := exec.CommandContext(w.Context(), "git",
		append([]string{"-C", w.dir, "-c", "user.name=x", "-c", "user.email=x@example.com"}, args...)...)
	if out, err := cmd.CombinedOutput(); err != nil {
		w.Fatalf("git %q: %v\n%s", args, err, out)
	}
}

// text writes a file.
func (w *shop) text(name, text string) {
	w.Helper()
	name = filepath.Join(w.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		w.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		w.Fatal(err)
	}
}

// write writes a file as JSON.
func (w *shop) write(name string, v any) {
	w.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		w.Fatal(err)
	}
	w.text(name, string(raw)+"\n")
}

// edit changes some files.
func (w *shop) edit(r *rand.Rand) {
	w.Helper()
	for range 1 + r.IntN(3) {
		name := w.data[r.IntN(len(w.data))]
		switch r.IntN(7) {
		case 0:
			_ = os.Remove(filepath.Join(w.dir, name))
		case 1:
			w.text("resources/labels/new.txt", fmt.Sprint(r.IntN(3)))
		case 2:
			w.text([]string{"new.py", "ignored.py", "data/notes.md", "data/ignored.yml", "tool"}[r.IntN(5)],
				fmt.Sprint("# ", r.IntN(3)))
		case 3:
			w.text("data/broken.yml", "$schema: /shop/product-1.yml\nname: lamp\nlabel: /labels/default.txt\n")
		default:
			raw, err := os.ReadFile(filepath.Join(w.dir, name))
			if err == nil {
				w.text(name, string(bytes.Replace(raw, []byte(`"name":"`), fmt.Appendf(nil, `"name":"%c`, 'a'+r.IntN(3)), 1)))
			}
		}
	}
}

// plan returns the plan of the change from the first commit to head as text, and what is
// said of mistakes.
func (w *shop) plan(cache, head string) string {
	w.Helper()
	var out bytes.Buffer
	env := cli.Env{Stdout: &out, Stderr: &out, Getenv: func(name string) string {
		return map[string]string{"XDG_CACHE_HOME": cache}[name]
	}}
	in := change.Inputs{Base: "git:base@" + w.dir, Head: head, Config: filepath.Join(w.dir, "prcheck.yaml")}
	_, err := in.OpenChecked(w.Context(), env, change.Validation())
	_, _ = fmt.Fprintln(&out, err)
	c, err := in.Open(w.Context(), env)
	if err != nil {
		return fmt.Sprint(&out, err)
	}
	p, err := c.Plan(w.Context())
	if err != nil {
		return fmt.Sprint(&out, err)
	}
	if err := plan.Write(&out, p); err != nil {
		w.Fatal(err)
	}
	return out.String()
}
