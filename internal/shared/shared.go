package shared

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Path returns the path of a file or folder of the shared data. It skips the test if there
// is no such file.
func Path(t testing.TB, elem ...string) string {
	t.Helper()
	dir := os.Getenv("PRCHECK_SHARED")
	if dir == "" {
		root, err := moduleRoot()
		if err != nil {
			t.Fatal(err)
		}
		dir = filepath.Join(root, "..", "shared")
	}
	path := filepath.Join(append([]string{dir}, elem...)...)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("the shared data is not here, set PRCHECK_SHARED to its folder: %v", err)
	}
	return path
}

// moduleRoot returns the folder of go.mod. Tests run in a folder below it.
func moduleRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", errors.New("no go.mod in any folder above")
		}
		dir = parent
	}
}

// Cases returns the conformance cases of an area. An area without cases fails the test.
func Cases[C any](t testing.TB, area string) []C {
	t.Helper()
	var out []C
	for _, raw := range cases(t) {
		if areaOf(t, raw) != area {
			continue
		}
		var c C
		if err := json.Unmarshal(raw, &c); err != nil {
			t.Fatal(err)
		}
		out = append(out, c)
	}
	if len(out) == 0 {
		t.Fatalf("no case of the area %q", area)
	}
	return out
}

// Each runs a subtest for each conformance case of an area, and prints how many of the
// cases ran and passed: "cases extract_diffs: ran 22 of 22, passed 22". A subtest that
// skips itself did not run. One that ran fails if its case has a word that C has no field
// for, since nothing looked at it, and is counted as unknown as well: "..., passed 21, unknown 1".
func Each[C any](t *testing.T, area string, test func(t *testing.T, c C)) {
	t.Helper()
	texts, all := Cases[json.RawMessage](t, area), Cases[C](t, area)
	ran, passed, unknown := 0, 0, 0
	for i, c := range all {
		var of struct{ Name string }
		if err := json.Unmarshal(texts[i], &of); err != nil {
			t.Fatal(err)
		}
		isSkipped := false
		ok := t.Run(of.Name, func(t *testing.T) {
			defer func() { isSkipped = t.Skipped() }()
			test(t, c)
			if err := unknownWord[C](texts[i]); err != nil {
				unknown++
				t.Error(err)
			}
		})
		if isSkipped {
			continue
		}
		ran++
		if ok {
			passed++
		}
	}
	fmt.Printf("cases %s: ran %d of %d, passed %d", area, ran, len(all), passed)
	if unknown > 0 {
		fmt.Printf(", unknown %d", unknown)
	}
	fmt.Println()
}

// unknownWord returns an error that names a word in the input or in the expectation of a case for which C has no
// field. What a case notes for people, and what another program does, is no word.
func unknownWord[C any](text json.RawMessage) error {
	var of map[string]json.RawMessage
	if err := json.Unmarshal(text, &of); err != nil {
		return err
	}
	maps.DeleteFunc(of, func(key string, _ json.RawMessage) bool { return key != "input" && key != "expected" })
	for key, side := range of {
		var words map[string]json.RawMessage
		if json.Unmarshal(side, &words) != nil || words == nil {
			continue // it is no object
		}
		maps.DeleteFunc(words, func(word string, _ json.RawMessage) bool {
			return word == "note" || strings.HasPrefix(word, "upstream_")
		})
		raw, err := json.Marshal(words)
		if err != nil {
			return err
		}
		of[key] = raw
	}
	raw, err := json.Marshal(of)
	if err != nil {
		return err
	}
	var c C
	words := json.NewDecoder(bytes.NewReader(raw))
	words.DisallowUnknownFields()
	if err := words.Decode(&c); err != nil {
		return fmt.Errorf("the driver of this area does not know a word of the case: %w", err)
	}
	return nil
}

// Areas returns all areas with conformance cases.
func Areas(t testing.TB) map[string]bool {
	t.Helper()
	out := map[string]bool{}
	for _, raw := range cases(t) {
		out[areaOf(t, raw)] = true
	}
	return out
}

// next are the files of newer cases that drivers read, each with the areas that are read; nil is all of them. A file
// gets here once the cases of its areas run. The areas that nobody built yet stand in the ledger of
// internal/conformance, see [Waiting].
var next = map[string][]string{
	"change-owners": nil,
	"generic":       nil,
	"ledger":        nil,
	"manager":       nil,
	"merging":       nil,
	"saas":          nil,
	"selection":     nil,
}

// Waiting returns the areas of newer cases that no driver reads.
func Waiting(t testing.TB) map[string]bool {
	t.Helper()
	out := map[string]bool{}
	for name, areas := range next {
		for _, raw := range read(t, nextFile(t, name)) {
			if area := areaOf(t, raw); areas != nil && !slices.Contains(areas, area) {
				out[area] = true
			}
		}
	}
	return out
}

// nextFile returns the path of a file of newer cases.
func nextFile(t testing.TB, name string) string {
	return filepath.Join(Path(t, "cases"), "next", name+".json")
}

// read returns the cases of a file. A file that is not there has none.
func read(t testing.TB, file string) (all []json.RawMessage) {
	t.Helper()
	raw, err := os.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = json.Unmarshal(raw, &all)
	}
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return all
}

// areaOf returns the area of a case.
func areaOf(t testing.TB, raw json.RawMessage) string {
	t.Helper()
	var of struct{ Area string }
	if err := json.Unmarshal(raw, &of); err != nil {
		t.Fatal(err)
	}
	return of.Area
}

// cases returns the cases of all files that hold cases, in the order of their names.
func cases(t testing.TB) []json.RawMessage {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(Path(t, "cases"), "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	var all []json.RawMessage
	for _, file := range files {
		all = append(all, read(t, file)...)
	}
	for _, name := range slices.Sorted(maps.Keys(next)) {
		for _, raw := range read(t, nextFile(t, name)) {
			if areas := next[name]; areas == nil || slices.Contains(areas, areaOf(t, raw)) {
				all = append(all, raw)
			}
		}
	}
	return all
}
