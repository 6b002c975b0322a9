//go:build unix

package bundler_test

import (
	"path/filepath"
	"syscall"
	"testing"

	"github.com/app-sre/prcheck/qontract/bundler"
)

func TestPipe(t *testing.T) {
	dir := writeFiles(t, shopFiles())
	if err := syscall.Mkfifo(filepath.Join(dir, "resources/pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	checkProblems(t, newInput(bundler.Folder(dir)),
		"resources/pipe: is neither a file nor a link inside of resources: only files, and links to files of that folder, can be bundled")
}
