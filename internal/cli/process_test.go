package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// TestMain runs the tests. If the test binary is called by the name demo, it is a command
// instead, because signals, pipes and exit codes need a process of their own.
func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == "demo" {
		os.Exit(Main("demo", demo))
	}
	os.Exit(m.Run())
}

func demo(ctx context.Context, env Env) error {
	root := tree(env)
	root.AddCommand(
		&cobra.Command{Use: "fail", RunE: func(*cobra.Command, []string) error { return ErrFailed }},
		&cobra.Command{Use: "panic", RunE: func(*cobra.Command, []string) error { panic("oh no") }},
		&cobra.Command{Use: "trouble", RunE: func(*cobra.Command, []string) error {
			return errors.Join(errors.New("one"), errors.New("two"))
		}},
		&cobra.Command{Use: "forever", RunE: func(*cobra.Command, []string) error {
			for {
				if _, err := fmt.Fprintln(env.Stdout, "and on"); err != nil {
					return fmt.Errorf("printing: %w", err)
				}
			}
		}},
		&cobra.Command{Use: "wait", RunE: func(cmd *cobra.Command, _ []string) error {
			_, _ = fmt.Fprintln(env.Stdout, "waiting")
			<-cmd.Context().Done()
			return cmd.Context().Err()
		}},
	)
	return Execute(ctx, env, root)
}

func TestMainAsProcess(t *testing.T) {
	const (
		wait   = "demo wait >out & p=$!; until grep -qs waiting out; do :; done; "
		status = "; echo status $?"
	)
	tests := []struct{ name, script, stdout, stderr string }{
		{"all good", "demo add 1 2" + status, "1+2\nstatus 0\n", ""},
		{"a check failed", "demo fail" + status, "status 1\n", ""},
		{"wrong usage", "demo add --tims" + status, "status 2\n",
			"demo: unknown flag: --tims, did you mean \"--times\"? (run 'demo add --help')\n"},
		{"trouble", "demo trouble" + status, "status 3\n", "demo: one\ndemo: two\n"},
		{"panic", "demo panic" + status, "status 3\n",
			"demo: internal error: panic at cli.demo.func2, line 30 (a bug in prcheck; set PRCHECK_DEBUG=1 to see where)\n"},
		{"the reader goes away", "{ demo forever; echo $? >code; } | head -n 1; cat code", "and on\n141\n", ""},
		{"full disk", "demo add 1 2 >/dev/full" + status, "status 3\n", "demo: write /dev/stdout: no space left on device\n"},
		{"SIGTERM", wait + "kill -TERM $p; wait $p" + status, "status 3\n", "demo: interrupted\n"},
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	if err := os.Symlink(self, filepath.Join(bin, "demo")); err != nil {
		t.Fatal(err)
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			cmd := exec.CommandContext(t.Context(), "sh", "-c", tt.script)
			cmd.Dir = t.TempDir()
			cmd.Env = []string{
				"PATH=" + bin + string(filepath.ListSeparator) + os.Getenv("PATH"),
				"GOCOVERDIR=" + t.TempDir(), // keeps a binary built for coverage quiet
			}
			cmd.Stdout, cmd.Stderr = &stdout, &stderr
			if err := cmd.Run(); err != nil {
				t.Fatalf("%v\n%s", err, strings.TrimSpace(stderr.String()))
			}
			if stdout.String() != tt.stdout || stderr.String() != tt.stderr {
				t.Errorf("got  stdout %q, stderr %q\nwant stdout %q, stderr %q",
					&stdout, &stderr, tt.stdout, tt.stderr)
			}
		})
	}
}
