package mapped_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/app-sre/prcheck/internal/mapped"
)

// TestOpen checks that the bytes are those of the file, also after another file took its
// place.
func TestOpen(t *testing.T) {
	for _, size := range []int{0, 1, 4095, 4096, 4097, 1 << 20} {
		name := filepath.Join(t.TempDir(), "file")
		want := bytes.Repeat([]byte("prcheck"), size/7+1)[:size]
		if err := os.WriteFile(name, want, 0o600); err != nil {
			t.Fatal(err)
		}
		f, err := mapped.Open(name)
		if err != nil {
			t.Fatalf("%d bytes: %v", size, err)
		}
		other := name + ".new"
		if err := os.WriteFile(other, []byte("other"), 0o600); err != nil {
			t.Fatal(err)
		}
		_ = os.Rename(other, name) // not possible on every system while the file is open
		if !bytes.Equal(f.Bytes(), want) {
			t.Errorf("%d bytes: they are not those of the file", size)
		}
		f.Close()
		f.Close() // once more is no mistake
		if f.Bytes() != nil {
			t.Errorf("%d bytes: a closed file has bytes", size)
		}
	}
}

func TestOpenWhatIsNoFile(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{dir, filepath.Join(dir, "none")} {
		if f, err := mapped.Open(name); err == nil {
			t.Errorf("%s: got %q", name, f.Bytes())
		}
	}
}
