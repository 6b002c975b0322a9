package source_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/qontract/validator"
	"github.com/app-sre/prcheck/source"
)

// Texts come from below the folders that were named, and from nowhere else.
func TestCheckoutRead(t *testing.T) {
	dir := t.TempDir()
	data := filepath.Join(dir, "data")
	for name, text := range map[string]string{"data/a.yml": "a: 1", "secret.yml": "s: 1", "schema.yml": "g: 1"} {
		name = filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("../secret.yml", filepath.Join(data, "link.yml")); err != nil {
		t.Fatal(err)
	}
	from := source.Folders{Data: data, GraphQL: filepath.Join(dir, "schema.yml")}
	tests := []struct {
		name    string
		section validator.Section
		path    bundle.Path
		want    string // "" for an error
	}{
		{"file", validator.Data, "/a.yml", "a: 1"},
		{"types", validator.GraphQL, "", "g: 1"},
		{"no such file", validator.Data, "/b.yml", ""},
		{"up", validator.Data, "/../secret.yml", ""},
		{"up without a slash", validator.Data, "./../secret.yml", ""},
		{"link", validator.Data, "/link.yml", ""},
		{"folder", validator.Data, "/", ""},
		{"part that is not there", validator.Schemas, "/a.yml", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := from.Read(tt.section, tt.path)
			if string(got) != tt.want || (err == nil) != (tt.want != "") {
				t.Errorf("got %q, %v, want %q", got, err, tt.want)
			}
		})
	}
}
