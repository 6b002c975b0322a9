package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func hello(w io.Writer) error {
	_, err := io.WriteString(w, "hello\n")
	return err
}

func TestWriteFile(t *testing.T) {
	dir := t.TempDir()
	tests := []struct {
		name  string
		setUp func(t *testing.T, name string)
	}{
		{"new", func(*testing.T, string) {}},
		{"replaced", func(t *testing.T, name string) { put(t, name, "old and longer") }},
		{"link", func(t *testing.T, name string) {
			put(t, name+".target", "old")
			if err := os.Symlink(name+".target", name); err != nil {
				t.Fatal(err)
			}
		}},
		{"link to nothing", func(t *testing.T, name string) {
			if err := os.Symlink(name+".target", name); err != nil {
				t.Fatal(err)
			}
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			name := filepath.Join(dir, tt.name)
			tt.setUp(t, name)
			if err := WriteFile(name, hello); err != nil {
				t.Fatal(err)
			}
			info, err := os.Stat(name)
			if err != nil || info.Mode() != 0o644 {
				t.Errorf("got %v, %v, want mode 0644", info, err)
			}
			if got := get(t, name); got != "hello\n" {
				t.Errorf("got %q", got)
			}
			left, err := filepath.Glob(filepath.Join(dir, ".*"))
			if err != nil || len(left) > 0 {
				t.Errorf("left behind: %v, %v", left, err)
			}
		})
	}
	if got := get(t, filepath.Join(dir, "link.target")); got != "hello\n" {
		t.Errorf("the target of the link holds %q", got)
	}
}

func TestWriteFileFails(t *testing.T) {
	dir := t.TempDir()
	whole := filepath.Join(dir, "whole")
	put(t, whole, "whole")
	half := errors.New("half way")
	tests := []struct {
		name, file string
		write      func(io.Writer) error
		want       string
	}{
		{"the writer", whole, func(w io.Writer) error {
			_, _ = io.WriteString(w, strings.Repeat("x", 1<<20))
			return half
		}, fmt.Sprintf("writing %q: half way", whole)},
		{"no folder", filepath.Join(dir, "no", "file"), hello,
			fmt.Sprintf("writing %q: no such file or directory", filepath.Join(dir, "no", "file"))},
		{"folder is a file", filepath.Join(whole, "file"), hello,
			fmt.Sprintf("writing %q: not a directory", filepath.Join(whole, "file"))},
		{"is a folder", dir, hello, fmt.Sprintf("writing %q: is a directory, not a file", dir)},
		{"full disk", "/dev/full", hello, `writing "/dev/full": no space left on device`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := WriteFile(tt.file, tt.write)
			if err == nil || err.Error() != tt.want {
				t.Errorf("got  %v\nwant %s", err, tt.want)
			}
		})
	}
	check(t, dir, whole)
}

func TestWriteFilePanics(t *testing.T) {
	dir := t.TempDir()
	whole := filepath.Join(dir, "whole")
	put(t, whole, "whole")
	func() {
		defer func() { _ = recover() }()
		_ = WriteFile(whole, func(io.Writer) error { panic("oh no") })
	}()
	check(t, dir, whole)
}

// check fails the test unless the folder has only the untouched file.
func check(t *testing.T, dir, whole string) {
	t.Helper()
	files, err := os.ReadDir(dir)
	if err != nil || len(files) != 1 || get(t, whole) != "whole" {
		t.Errorf("left: %v, %v, %q", files, err, get(t, whole))
	}
}

func put(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func get(t *testing.T, name string) string {
	t.Helper()
	raw, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}
