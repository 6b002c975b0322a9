package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/spf13/pflag"
)

// multi is a list of errors like those of go-multierror.
type multi []error

func (multi) Error() string            { return "several errors occurred:\n\t* …" }
func (m multi) WrappedErrors() []error { return m }

// hollow is an error that wraps nothing, although it could.
type hollow struct{}

func (hollow) Error() string { return "the page is gone" }
func (hollow) Unwrap() error { return nil }

func TestRun(t *testing.T) {
	disk := &fs.PathError{Op: "open", Path: "a.json", Err: fs.ErrNotExist}
	broken := errors.New("no such flag")
	tests := []struct {
		name   string
		err    error
		code   int
		stderr string
	}{
		{"good", nil, ExitOK, ""},
		{"help", pflag.ErrHelp, ExitOK, ""},
		{"a check failed", ErrFailed, ExitFailed, ""},
		{"a check failed, with context", fmt.Errorf("running: %w", ErrFailed), ExitFailed, ""},
		{"usage", Usage(broken), ExitUsage, "planner: no such flag\n"},
		{"invalid input", Invalid(broken), ExitUsage, "planner: no such flag\n"},
		{"input for which there are no files left", Invalid(fmt.Errorf("reading settings: %w",
			&fs.PathError{Op: "open", Path: "a.yaml", Err: syscall.EMFILE})), ExitTrouble,
			"planner: reading settings: open a.yaml: too many open files\n"},
		{"usage with context", fmt.Errorf("plan: %w", Usage(broken)), ExitUsage, "planner: plan: no such flag\n"},
		{"no usage error", Usage(nil), ExitOK, ""},
		{"trouble", disk, ExitTrouble, "planner: open a.json: file does not exist\n"},
		{"nobody reads", fmt.Errorf("printing: %w", errNobodyReads), ExitPipe, ""},
		{"joined", Invalid(errors.Join(broken, disk)), ExitUsage,
			"planner: no such flag\nplanner: open a.json: file does not exist\n"},
		{"joined, with context", fmt.Errorf("reading: %w", errors.Join(broken, disk)), ExitTrouble,
			"planner: reading: no such flag\nplanner: reading: open a.json: file does not exist\n"},
		{"joined, of two kinds", errors.Join(Usage(broken), disk), ExitTrouble,
			"planner: no such flag\nplanner: open a.json: file does not exist\n"},
		{"failed and trouble", errors.Join(ErrFailed, disk), ExitTrouble, "planner: open a.json: file does not exist\n"},
		{"failed and usage", errors.Join(ErrFailed, Usage(broken)), ExitUsage, "planner: no such flag\n"},
		{"a list of errors", multi{broken, disk}, ExitTrouble,
			"planner: no such flag\nplanner: open a.json: file does not exist\n"},
		{"a sentence about two errors", fmt.Errorf("%w: %w", fs.ErrInvalid, Usage(broken)), ExitUsage,
			"planner: invalid argument: no such flag\n"},
		{"an error that wraps nothing", Usage(hollow{}), ExitUsage, "planner: the page is gone\n"},
		{"control characters", errors.New("reading \x1b[31m\"a\nb\"\r\n\t\u202e\u2028 done\n"), ExitTrouble,
			"planner: reading \"a b\" done\n"},
		{"canceled by nobody", context.Canceled, ExitTrouble, "planner: context canceled\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			code, stdout, stderr := try(context.Background(), func(context.Context, Env) error { return tt.err })
			if code != tt.code || stderr != tt.stderr || stdout != "" {
				t.Errorf("got %d, stderr %q, stdout %q\nwant %d, stderr %q", code, stderr, stdout, tt.code, tt.stderr)
			}
		})
	}
}

// try runs a command without arguments in an environment of its own.
func try(ctx context.Context, run func(context.Context, Env) error) (code int, stdout, stderr string) {
	var out, errs bytes.Buffer
	env := Env{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs, Getenv: func(string) string { return "" }}
	code = Run(ctx, "planner", env, run)
	return code, out.String(), errs.String()
}

func TestRunInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	code, _, stderr := try(ctx, func(ctx context.Context, _ Env) error {
		cancel()
		return fmt.Errorf("reading: %w", ctx.Err())
	})
	if want := "planner: interrupted\n"; code != ExitTrouble || stderr != want {
		t.Errorf("got %d, %q, want %d, %q", code, stderr, ExitTrouble, want)
	}
}

func TestRunPanic(t *testing.T) {
	for _, debug := range []string{"", "1"} {
		t.Run("PRCHECK_DEBUG="+debug, func(t *testing.T) {
			var errs bytes.Buffer
			env := Env{Stdout: io.Discard, Stderr: &errs, Getenv: func(name string) string {
				return map[string]string{"PRCHECK_DEBUG": debug}[name]
			}}
			code := Run(context.Background(), "planner", env, func(context.Context, Env) error { panic("oh\nno") })
			if code != ExitTrouble {
				t.Errorf("got exit code %d, want %d", code, ExitTrouble)
			}
			if lines := strings.Count(errs.String(), "\n"); (lines > 1) != (debug != "") {
				t.Errorf("got %d lines:\n%s", lines, errs.String())
			}
			if !strings.Contains(errs.String(), "planner: internal error: panic at cli.TestRunPanic.func1.2, line ") {
				t.Errorf("got %q", errs.String())
			}
		})
	}
}

func TestColor(t *testing.T) {
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = read.Close(), write.Close() })
	file, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = file.Close() })
	for _, c := range []struct {
		name string
		flag string
		vars map[string]string
		to   io.Writer
		want bool
	}{
		{"a buffer", "auto", nil, new(bytes.Buffer), false},
		{"a pipe", "auto", nil, write, false},
		{"the log of a job", "auto", map[string]string{"GITLAB_CI": "true", "TERM": "dumb"}, write, true},
		{"a file in a job", "auto", map[string]string{"GITLAB_CI": "true"}, file, false},
		{"a job that wants none", "auto", map[string]string{"GITLAB_CI": "true", "NO_COLOR": "1"}, write, false},
		{"forced", "auto", map[string]string{"FORCE_COLOR": "1"}, file, true},
		{"not forced", "auto", map[string]string{"FORCE_COLOR": "0", "GITLAB_CI": "true"}, write, false},
		{"both", "auto", map[string]string{"FORCE_COLOR": "1", "NO_COLOR": "1"}, file, false},
		{"always", "always", map[string]string{"NO_COLOR": "1"}, file, true},
		{"never", "never", map[string]string{"FORCE_COLOR": "1", "GITLAB_CI": "true"}, write, false},
	} {
		flag := Colors()
		if err := flag.Set(c.flag); err != nil {
			t.Fatal(err)
		}
		env := Env{Getenv: func(name string) string { return c.vars[name] }}
		if got := env.Color(flag, c.to); got != c.want {
			t.Errorf("%s: got %t, want %t", c.name, got, c.want)
		}
	}
	if (Env{}).Color(Colors(), new(bytes.Buffer)) || IsTerminal(new(bytes.Buffer)) {
		t.Error("a buffer is a terminal")
	}
}
