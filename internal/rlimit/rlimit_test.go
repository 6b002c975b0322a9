//go:build linux

package rlimit

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestRun(t *testing.T) {
	file := filepath.Join(t.TempDir(), "f")
	run := func(l Limits, script string) error {
		return l.Run(exec.CommandContext(t.Context(), "sh", "-c", "sleep 0.2; "+script, "sh", file))
	}
	write := `head -c 300000 /dev/zero > "$1"`
	if err := run(Limits{}, write); err != nil {
		t.Errorf("without limits: %v", err)
	}
	if err := run(Limits{File: 100_000}, write); err == nil {
		t.Error("a large file was written")
	}
	if info, err := os.Stat(file); err != nil || info.Size() > 100_000 {
		t.Errorf("got %v, %v", info, err)
	}
	grow := `x=y; while [ ${#x} -lt 100000000 ]; do x=$x$x; done`
	if err := run(Limits{Data: 64 << 20}, grow); err == nil {
		t.Error("much memory was used")
	}
	if err := run(Limits{Data: 1 << 30, File: 1 << 30}, "exit 3"); err == nil ||
		!strings.Contains(err.Error(), "exit status 3") {
		t.Errorf("got %v, want the status of the command", err)
	}
}
