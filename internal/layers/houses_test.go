package layers

import (
	"io/fs"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
)

// closed lists the houses whose tests keep the doors of their house, too, so that they pass without the others.
var closed = []string{"check", "qontract"}

func TestTestsOfHouses(t *testing.T) {
	broken, err := checkTests(os.DirFS("../.."))
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range broken {
		t.Error(b)
	}
}

// checkTests returns a line for each import of a test of a closed house that leads to a house without a door.
func checkTests(tree fs.FS) ([]string, error) {
	sources, err := parseFiles(tree, true)
	if err != nil {
		return nil, err
	}
	var broken []string
	for _, s := range sources {
		at, own := floor(s.pkg)
		if at < 0 || !slices.Contains(closed, own.name) {
			continue
		}
		for _, spec := range s.file.Imports {
			to, _ := strconv.Unquote(spec.Path.Value)
			pkg, isOurs := strings.CutPrefix(to, module+"/")
			_, other := floor(pkg)
			if !isOurs || isSide(pkg) || isDouble(pkg) || other.name == own.name ||
				slices.ContainsFunc(own.doors, func(name string) bool { return covers(name, pkg) }) {
				continue
			}
			broken = append(broken, s.at(spec)+": imports "+to+": the tests of the house "+own.name+" have no door to it")
		}
	}
	return broken, nil
}

func TestCheckTests(t *testing.T) {
	got, err := checkTests(fstest.MapFS{
		"planner/a_test.go": {Data: []byte(`package planner; import ("` + module + `/natives/native"; "` + module +
			`/qontract/gql"; "` + module + `/runner")`)},
		"planner/a.go": {Data: []byte(`package planner; import _ "` + module + `/natives/native"`)},
		"qontract/gql/a_test.go": {Data: []byte(`package gql_test; import ("` + module + `/plan"; "` + module +
			`/qontract/live"; "` + module + `/doubles/fakes3")`)},
		"natives/native/a_test.go": {Data: []byte(`package native; import _ "` + module + `/planner"`)},
		"runner/submit/b_test.go": {Data: []byte(`package submit; import ("` + module + `/programs/runner"; "` + module +
			`/internal/script"; "testing")`)},
		"programs/runner/a_test.go": {Data: []byte(`package runner; import _ "` + module + `/natives"`)},
	})
	want := []string{
		"planner/a_test.go:1: imports " + module + "/natives/native: the tests of the house check have no door to it",
		"qontract/gql/a_test.go:1: imports " + module + "/plan: the tests of the house qontract have no door to it",
		"runner/submit/b_test.go:1: imports " + module + "/programs/runner: the tests of the house check have no door to it",
	}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
}

// What acts, and what reaches live systems.
var (
	acting   = []string{module + "/programs/reconciler", module + "/natives/rounds", module + "/natives/webhook"}
	reaching = []string{module + "/natives/kube", module + "/natives/systems", module + "/natives/systems/*",
		"k8s.io/client-go/*", "github.com/hashicorp/vault/*"}
)

// The planner and the runner are linked without what acts, writers among it, and the planner without what reaches live
// systems. The reconciler has it all, so that no name here is one of nothing.
func TestLinked(t *testing.T) {
	acting := slices.Clone(acting)
	for _, name := range writers {
		acting = append(acting, module+"/"+name)
	}
	for program, without := range map[string][]string{
		"planner": slices.Concat(acting, reaching), "runner": acting, "reconciler": nil,
	} {
		linked := linkedInto(t, program)
		for _, name := range slices.Concat(acting, reaching) {
			is := slices.ContainsFunc(linked, func(pkg string) bool { return covers(name, pkg) })
			if is && slices.Contains(without, name) {
				t.Errorf("cmd/%s has %s", program, name)
			}
			if !is && without == nil {
				t.Errorf("cmd/%s has no %s: take it from the table", program, name)
			}
		}
	}
}

// linkedInto returns the packages of a program.
func linkedInto(t *testing.T, program string) []string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", module+"/cmd/"+program).Output() //nolint:gosec // a program of the table
	if err != nil {
		t.Fatal(err)
	}
	return strings.Fields(string(out))
}
