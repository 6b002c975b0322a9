package layers

import (
	"go/ast"
	"maps"
	"os"
	"path"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
)

// oneIdea are names of types that stand in several packages and mean one thing, with the reason.
var oneIdea = map[string]string{
	"Dependences":  "planner has them, and its judge planner/proof names what it needs of them itself",
	"Endpoint":     "wrapper names what it needs of a server of qontract",
	"Exchange":     "a request with its answer, as the server has it and as a trace takes it",
	"Files":        "as Dependences",
	"Finding":      "natives/reconcile adds to a plan.Finding which things it is about",
	"Forge":        "owners/review names what it needs of one, owners/forge is GitLab",
	"Input":        "all that the work of a package depends on",
	"Kind":         "natives/manifests shows integration.Kind",
	"Registry":     "integration/services names what natives need, natives/systems has it",
	"Repositories": "as Registry",
	"Results":      "as Dependences",
	"Services":     "those of each native, and all of them together",
	"Store":        "what a package keeps in the state, through state.Store",
	"Systems":      "what a package needs of natives/systems",
}

// No file speaks of two types of one name that mean two things.
func TestNames(t *testing.T) {
	sources, err := parse(os.DirFS("../.."))
	if err != nil {
		t.Fatal(err)
	}
	used := map[string]bool{}
	for _, m := range meetings(sources) {
		if used[m.name] = true; oneIdea[m.name] == "" {
			t.Errorf("%s speaks of the types %s of %s: give one of them a name of its own", m.file, m.name, strings.Join(m.packages, " and "))
		}
	}
	for name := range oneIdea {
		if !used[name] {
			t.Errorf("no file speaks of two types %s: remove its row", name)
		}
	}
}

func TestMeetings(t *testing.T) {
	sources, err := parse(fstest.MapFS{
		"a/a.go": {Data: []byte("package a\n\ntype Plan struct{}\n\ntype Own struct{}\n")},
		"b/b.go": {Data: []byte("package b\n\nimport named \"" + module + "/a\"\n\ntype Plan struct{ named.Plan }\n\ntype Other struct{ named.Own }\n")},
		"c/c.go": {Data: []byte("package c\n\nimport (\n\t\"" + module + "/a\"\n\t\"" + module + "/b\"\n)\n\nvar Plan = a.Plan{}\n\nvar _ b.Other\n")},
	})
	if err != nil {
		t.Fatal(err)
	}
	got := meetings(sources)
	want := meeting{"b/b.go", "Plan", []string{"a", "b"}}
	if len(got) != 1 || !reflect.DeepEqual(got[0], want) {
		t.Errorf("got %+v", got)
	}
}

// A meeting is a file that speaks of exported types of several packages that have one name.
type meeting struct {
	file, name string
	packages   []string
}

// meetings returns the meetings of all files.
func meetings(sources []source) []meeting {
	types := map[string]map[string]bool{} // names by package
	for _, s := range sources {
		if types[s.pkg] == nil {
			types[s.pkg] = map[string]bool{}
		}
		for _, name := range exportedTypes(s) {
			types[s.pkg][name] = true
		}
	}
	var out []meeting
	for _, s := range sources {
		met := map[string]map[string]bool{} // packages by name
		for pkg, name := range spoken(s) {
			for n := range name {
				if types[pkg][n] {
					if met[n] == nil {
						met[n] = map[string]bool{}
					}
					met[n][pkg] = true
				}
			}
		}
		for _, name := range slices.Sorted(maps.Keys(met)) {
			if len(met[name]) > 1 {
				out = append(out, meeting{s.name, name, slices.Sorted(maps.Keys(met[name]))})
			}
		}
	}
	return out
}

// spoken returns the exported names that a file uses, by package: those behind the name of a package of this
// module, and those of its own.
func spoken(s source) map[string]map[string]bool {
	imported := map[string]string{}
	for _, spec := range s.file.Imports {
		whole, _ := strconv.Unquote(spec.Path.Value)
		pkg, ok := strings.CutPrefix(whole, module+"/")
		if !ok {
			continue
		}
		name := path.Base(pkg)
		if spec.Name != nil {
			name = spec.Name.Name
		}
		imported[name] = pkg
	}
	out := map[string]map[string]bool{}
	add := func(pkg, name string) {
		if out[pkg] == nil {
			out[pkg] = map[string]bool{}
		}
		out[pkg][name] = true
	}
	fields := map[*ast.Ident]bool{} // names that are those of fields, methods or other packages
	ast.Inspect(s.file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			fields[n.Sel] = true
			if x, ok := n.X.(*ast.Ident); ok && imported[x.Name] != "" {
				add(imported[x.Name], n.Sel.Name)
			}
		case *ast.Field:
			for _, name := range n.Names {
				fields[name] = true
			}
		case *ast.KeyValueExpr:
			if key, ok := n.Key.(*ast.Ident); ok {
				fields[key] = true
			}
		case *ast.FuncDecl:
			fields[n.Name] = true
		case *ast.Ident:
			if !fields[n] && n.IsExported() {
				add(s.pkg, n.Name)
			}
		}
		return true
	})
	return out
}
