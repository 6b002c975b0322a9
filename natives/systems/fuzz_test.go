package systems

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/settings"
)

// Whatever path and field the data name, nothing outside of the folder is read.
func FuzzFiles(f *testing.F) {
	dir := f.TempDir()
	for _, name := range []string{"outside", "s/a/token"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o750); err != nil {
			f.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(name), 0o600); err != nil {
			f.Fatal(err)
		}
	}
	if err := os.Symlink("../../outside", filepath.Join(dir, "s", "a", "link")); err != nil {
		f.Fatal(err)
	}
	rules, err := settings.Read("prcheck.yaml", []byte("version: 1\nsecrets: {files: {folder: '"+dir+"/s'}}\n"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add("a", "token")
	f.Add("a", "link")
	f.Add("a/../..", "outside")
	f.Add("..", "outside")
	f.Add(dir, "outside")
	f.Add("a//./", "../../outside\x00")
	f.Fuzz(func(t *testing.T, path, field string) {
		got, err := New(Sources{Settings: rules}).Secret(t.Context(), integration.SecretRef{Path: path, Field: field})
		if want := path == "a" && field == "token"; want != (err == nil) || err == nil && got != "s/a/token" {
			t.Errorf("%q, %q: got %q, %v", path, field, got, err)
		}
	})
}
