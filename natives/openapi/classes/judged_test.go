package classes_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/internal/shared"
	"github.com/app-sre/prcheck/natives/openapi"
	"github.com/app-sre/prcheck/natives/openapi/classes"
	"github.com/app-sre/prcheck/natives/openapi/resources"
)

// Judged properties have the class that the vendor documents.
func TestClassJudgedCases(t *testing.T) {
	type judgedCase struct {
		Input    struct{ Specs, Type, Path string }
		Expected string
	}
	shipped, err := classes.Shipped()
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]*resources.Index{}
	shared.Each(t, "class_judged", func(t *testing.T, c judgedCase) {
		index := known[c.Input.Specs]
		if index == nil {
			index = indexOf(t, shared.Path(t, strings.Split(c.Input.Specs, "/")...))
			known[c.Input.Specs] = index
		}
		found, err := index.Find(c.Input.Type)
		if err != nil { // another edition has it
			if found = ofName(corpusTypes(t), c.Input.Type); len(found) == 0 {
				t.Fatal(err)
			}
		}
		classifier, err := classes.New(found[0], shipped)
		if err != nil {
			t.Fatal(err)
		}
		p, err := classifier.Explain(c.Input.Path)
		if err != nil {
			t.Fatal(err)
		}
		if words := wordsOf(p); !words[c.Expected] {
			t.Errorf("%s: got %v, want %s", c.Input.Path, words, c.Expected)
		}
	})
}

func ofName(all []*resources.Type, name string) (out []*resources.Type) {
	for _, one := range all {
		if strings.EqualFold(one.Name, name) {
			out = append(out, one)
		}
	}
	return out
}

// wordsOf returns the words of the cases that hold for a property.
func wordsOf(p *classes.Property) map[string]bool {
	out := map[string]bool{
		"read-only": p.ReadOnly != nil, "create-only": p.ReadOnly == nil && p.CreateOnly != nil,
		"mutable":    p.ReadOnly == nil && p.CreateOnly == nil,
		"write-only": p.WriteOnly != nil, "masked": p.Masked || p.Secret != nil,
	}
	if p.List != nil {
		out["list "+strings.TrimSpace(string(p.List.Kind)+" "+strings.Join(p.List.Keys, " "))] = true
	}
	return out
}

// indexOf returns the types of all documents in a folder.
func indexOf(t *testing.T, dir string) *resources.Index {
	t.Helper()
	set := openapi.NewSet(files(dir), openapi.Limits{})
	var all []*openapi.Document
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(name) != ".json" {
			return err
		}
		document, err := set.Document(name)
		all = append(all, document)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return resources.NewIndex(all)
}
