package ci

import (
	"archive/zip"
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/doubles/gitlabtest"
)

// archived returns an archive. A name that ends with -> is a symbolic link.
func archived(t *testing.T, files ...[2]string) []byte {
	t.Helper()
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	for _, f := range files {
		h := &zip.FileHeader{Name: strings.TrimSuffix(f[0], "->"), Method: zip.Deflate}
		if h.Name != f[0] {
			h.SetMode(fs.ModeSymlink | 0o777)
		}
		w, err := z.CreateHeader(h)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(f[1])); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// A harmful archive is an error, and none of its files stays.
func TestCollectHostileArchives(t *testing.T) {
	good := archived(t, [2]string{"a/b.json", "{}"})
	tests := []struct {
		name    string
		archive []byte
		err     string
	}{
		{"up", archived(t, [2]string{"ok", ""}, [2]string{"../x", "1"}),
			`the archive holds "../x": a name that leads elsewhere`},
		{"up inside", archived(t, [2]string{"a/../../../x", "1"}),
			`the archive holds "a/../../../x": a name that leads elsewhere`},
		{"absolute", archived(t, [2]string{"/etc/x", "1"}), `the archive holds "/etc/x": a name that leads elsewhere`},
		{"backslash", archived(t, [2]string{`..\x`, "1"}), `the archive holds "..\\x": a name that leads elsewhere`},
		{"empty name", archived(t, [2]string{"", "1"}), `the archive holds "": a name that leads elsewhere`},
		{"link", archived(t, [2]string{"l->", "/etc"}, [2]string{"l/x", "1"}),
			`the archive holds "l": which is no plain file`},
		{"twice", archived(t, [2]string{"x", "1"}, [2]string{"x", "2"}),
			`the archive holds "x": openat job-1/x: file exists`},
		{"file and folder", archived(t, [2]string{"x", "1"}, [2]string{"x/y", "2"}),
			`the archive holds "x/y": mkdirat job-1/x: file exists`},
		{"no archive", []byte("<html>"), `the archive: zip: not a valid zip file`},
		{"cut", good[:len(good)-10], `the archive: zip: not a valid zip file`},
		{"damaged", bytes.Replace(good, []byte("PK\x03\x04"), []byte("PK\x00\x00"), 1),
			`the archive holds "a/b.json": zip: not a valid zip file`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := server(t)
			s.AddJob(gitlabtest.Job{ID: 9, Pipeline: 100, Child: 101, Name: "checks"})
			s.AddJob(gitlabtest.Job{ID: 1, Pipeline: 101, Name: "part", Archive: tt.archive})
			dir := filepath.Join(t.TempDir(), "out")
			_, err := client(t, memory{s}).Collect(t.Context(), gitlabtest.Project, 100, dir)
			if want := `collecting from job 1 "part": ` + tt.err; errorText(err) != want {
				t.Errorf("got  %v\nwant %s", err, want)
			}
			if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
				t.Errorf("%v is left, %v", left, err)
			}
		})
	}
}

// An archive that unpacks to too many bytes is an error.
func TestUnpackLimits(t *testing.T) {
	for _, tt := range []struct {
		bytes int64
		files int
		err   string
	}{
		{2000, 2, ""},
		{1999, 2, `the archive holds "b": with which it unpacks to more than 1073741824 bytes`},
		{2000, 1, `the archive holds "b": after 20000 files, more than are taken`},
	} {
		root, err := os.OpenRoot(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		defer root.Close()
		archive := filepath.Join(t.TempDir(), "x.zip")
		text := strings.Repeat("x", 1000)
		if err := os.WriteFile(archive, archived(t, [2]string{"a", text}, [2]string{"b", text}), 0o600); err != nil {
			t.Fatal(err)
		}
		f, err := os.Open(archive)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		u := &unpacker{root: root, bytes: tt.bytes, files: tt.files}
		names, err := u.unpack(f, "job")
		if errorText(err) != tt.err || err == nil && !slices.Equal(names, []string{"job/a", "job/b"}) {
			t.Errorf("got %q, %v, want %s", names, err, tt.err)
		}
	}
}

func FuzzUnpack(f *testing.F) {
	f.Add([]byte("PK\x05\x06"))
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	w, err := z.Create("a/b")
	if err != nil {
		f.Fatal(err)
	}
	_, _ = w.Write([]byte("text"))
	_ = z.Close()
	f.Add(out.Bytes())
	f.Fuzz(func(t *testing.T, raw []byte) {
		parent := t.TempDir()
		if err := os.Mkdir(filepath.Join(parent, "in"), 0o700); err != nil {
			t.Fatal(err)
		}
		root, err := os.OpenRoot(filepath.Join(parent, "in"))
		if err != nil {
			t.Fatal(err)
		}
		defer root.Close()
		archive, err := os.CreateTemp(t.TempDir(), "")
		if err != nil {
			t.Fatal(err)
		}
		defer archive.Close()
		if _, err := archive.Write(raw); err != nil {
			t.Fatal(err)
		}
		u := &unpacker{root: root, bytes: 1 << 20, files: 10}
		_, err = u.unpack(archive, "job")
		left, _ := os.ReadDir(parent)
		inside, _ := os.ReadDir(filepath.Join(parent, "in"))
		if len(left) != 1 || err != nil && len(inside) != 0 {
			t.Errorf("%v: %v and %v are left", err, left, inside)
		}
	})
}

// Artifacts of many jobs on many pages are collected, also if an answer is cut once.
func TestCollectPages(t *testing.T) {
	s := server(t)
	s.AddJob(gitlabtest.Job{ID: 9999, Pipeline: 100, Child: 101, Name: "checks"})
	for i := range 120 {
		s.AddJob(gitlabtest.Job{ID: i + 1, Pipeline: 101, Name: "part " + itoa(i), Status: "success",
			Archive: archived(t, [2]string{"results.json", itoa(i)})})
	}
	dir := t.TempDir()
	got, err := client(t, memory{s}).Collect(t.Context(), gitlabtest.Project, 100, dir)
	if err != nil || len(got) != 120 {
		t.Fatalf("got %d jobs, %v", len(got), err)
	}
	for i, c := range got {
		name := "job-" + itoa(i+1) + "/results.json"
		raw, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil || string(raw) != itoa(i) || !slices.Equal(c.Files, []string{name}) {
			t.Fatalf("got %q, %v, %+v", raw, err, c)
		}
	}
}
