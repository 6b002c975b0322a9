package main

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// small is a module with a package whose tests look at one of two functions, and with a package that imports it.
var small = map[string]string{
	"go.mod": "module example.com/small\n\ngo 1.24\n",
	"a/a.go": `package a

import "fmt"

type T struct {
	X int ` + "`json:\"x\"`" + `
}

func Less(x, y int) bool {
	if x < y {
		return true
	}
	return false
}

func Name() (string, error) { return fmt.Sprint("n", 1), nil }
`,
	"a/a_test.go": `package a

import "testing"

func Test(t *testing.T) {
	if Less(2, 1) || !Less(1, 2) || Less(1, 1) {
		t.Error()
	}
}
`,
	"b/b.go": "package b\n\nimport \"example.com/small/a\"\n\nfunc Name() string { s, _ := a.Name(); return s }\n",
	"b/b_test.go": `package b

import "testing"

func Test(t *testing.T) {
	if Name() != "n1" {
		t.Error(Name())
	}
}
`,
}

// TestNewBench makes the bench of a package, with another one of the same last name beside it.
func TestNewBench(t *testing.T) {
	inSmall(t)
	for name, text := range map[string]string{
		"z/a/a.go":      "package a\n",
		"c/c.go":        "package c\n\nimport _ \"example.com/small/a\"\n",
		"aa/aa.go":      "package aa\n\nimport _ \"example.com/small/a\"\n",
		"aa/aa_test.go": "package aa\n\nimport (\n\t\"testing\"\n\t\"time\"\n)\n\nfunc Test(t *testing.T) { time.Sleep(200 * time.Millisecond) }\n",
	} {
		write(t, name, text)
	}
	got, err := newBench(t.Context(), "a", false)
	if err != nil {
		t.Fatal(err)
	}
	if got.timeout < time.Minute || got.patience < time.Minute+2*time.Second {
		t.Errorf("got timeouts of %s and %s", got.timeout, got.patience)
	}
	last := len(got.importers) - 1
	if got.path != "example.com/small/a" || last != 2 || got.importers[last] != "example.com/small/aa" {
		t.Errorf("got %+v; the slowest importer is not last", got)
	}
	if got, err := newBench(t.Context(), "a", true); err != nil || got.path != "example.com/small/a" || got.importers != nil {
		t.Errorf("its own: got %+v, %v", got, err)
	}
	if _, err := newBench(t.Context(), "none", false); err == nil || !strings.Contains(err.Error(), `no package "none"`) {
		t.Errorf("got %v", err)
	}
}

// inSmall goes into a small module.
func inSmall(t *testing.T) {
	t.Helper()
	t.Chdir(t.TempDir())
	for name, text := range small {
		write(t, name, text)
	}
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(text), 0o600)); err != nil {
		t.Fatal(err)
	}
}

func TestSites(t *testing.T) {
	inSmall(t)
	all, err := sitesOf("a")
	if err != nil {
		t.Fatal(err)
	}
	for kind, want := range map[string][]string{
		comparisons: {"< <=", "< >="},
		conditions:  {"x < y !(x < y)", "x < y true || (x < y)", "x < y false && (x < y)"},
		results:     {"true !(true)", "false !(false)", `fmt.Sprint("n", 1) ""`},
		texts:       {`"n" "n~"`},
		numbers:     {"1 2"},
	} {
		var got []string
		for _, s := range all[kind] {
			got = append(got, s.was+" "+s.instead)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", kind, got, want)
		}
	}
}

// Tests of the package, or of one that imports it, notice a change; what nobody looks at survives.
func TestRun(t *testing.T) {
	inSmall(t)
	var out strings.Builder
	if err := run(t.Context(), &out, options{packages: []string{"a"}, changes: 100, seed: 1}); err != nil {
		t.Errorf("%v\n%s", err, out.String())
	}
	if got := out.String(); got != "mutants a: 9 changes, 9 noticed (100 %), 0 do the same, seed 1\n" {
		t.Errorf("got %q", got)
	}
	if err := os.WriteFile("b/b_test.go", []byte("package b\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	out.Reset()
	if err := run(t.Context(), &out, options{packages: []string{"a"}, changes: 100, seed: 1}); err == nil ||
		!strings.Contains(out.String(), "9 changes, 7 noticed (77 %)") || !strings.Contains(out.String(), `survived  a/a.go:16  "n"  ->  "n~"`) {
		t.Errorf("got %v\n%s", err, out.String())
	}
	if err := os.WriteFile("a/a_test.go", []byte("package a\n\nvar _ = x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := run(t.Context(), &out, options{packages: []string{"a"}, changes: 1}); err == nil || !strings.Contains(err.Error(), "fail without a change") {
		t.Errorf("got %v", err)
	}
}

// Each broken engine of the list can be made: the line stands once in its file, and each judge has nine of them.
func TestEngines(t *testing.T) {
	t.Chdir("../..")
	var all []broken
	if err := json.Unmarshal(engines, &all); err != nil {
		t.Fatal(err)
	}
	count := map[string]int{}
	for _, e := range all {
		s, err := e.site()
		if err != nil || s.was == s.instead {
			t.Errorf("%+v: %v", e, err)
		}
		count[e.Judge]++
	}
	for _, j := range judges {
		if count[j.name] < 9 {
			t.Errorf("%s: got %d broken engines, want 9", j.name, count[j.name])
		}
	}
}
