package peers

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// engines are the packages that prcheck wrote in place of other programs, as patterns of folders.
var engines = []string{"qontract/gql", "qontract/server", "qontract/bundler", "qontract/validator", "schemafilter",
	"natives/template", "integration/sharding", "qontract/jsonpath", "natives/saas/schedule",
	"queue/peer"}

// ours are files of engines that hold no answer of another program: inputs, and our own words.
var ours = []string{"qontract/gql/testdata/small.json", "qontract/gql/testdata/library.json",
	"qontract/gql/testdata/judged.json", "qontract/validator/testdata/tree.txtar"}

// Every file of an engine with expectations was recorded from another program, and nobody has written into it since:
// the table has its digest. No engine has a test that rewrites one.
func TestRecorded(t *testing.T) {
	var table []struct{ File, Program, SHA256 string }
	raw, err := os.ReadFile("recorded.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, &table); err != nil {
		t.Fatal(err)
	}
	known := slices.Clone(ours)
	for _, of := range table {
		known = append(known, of.File)
		raw, err := os.ReadFile(filepath.Join("../..", of.File))
		if err != nil {
			t.Error(err)
		}
		if got := fmt.Sprintf("%x", sha256.Sum256(raw)); got != of.SHA256 || of.Program == "" {
			t.Errorf("%s: it is not the file that was recorded from %q: its digest is %s. Ask the program again, and then "+
				"change recorded.json", of.File, of.Program, got)
		}
	}
	for _, engine := range engines {
		if err := fs.WalkDir(os.DirFS("../.."), engine, func(name string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case d.IsDir() && d.Name() == "fuzz":
				return fs.SkipDir
			case strings.Contains(name, "/testdata/") && !d.IsDir() && !slices.Contains(known, name):
				t.Errorf("%s: recorded.json does not say which program it comes from", name)
			case strings.HasSuffix(name, "_test.go"):
				raw, err := os.ReadFile(path.Join("../..", name))
				if err != nil || bytes.Contains(raw, []byte(`flag.Bool("update"`)) {
					t.Errorf("%s: a test of an engine writes its own expectations: %v", name, err)
				}
			}
			return nil
		}); err != nil {
			t.Errorf("%s: %v", engine, err)
		}
	}
}
