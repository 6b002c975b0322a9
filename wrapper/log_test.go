package wrapper_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/app-sre/prcheck/internal/mask"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/wrapper"
)

// says is a Runner that prints a text and passes.
func says(text string) wrapper.Runner {
	return runnerFunc(func(_ context.Context, _ plan.Task, log io.Writer) error {
		_, err := io.WriteString(log, text)
		return err
	})
}

func TestHostileIDsStayInTheFolder(t *testing.T) {
	ids := []string{"../x", "..", ".", "", "/etc/passwd", "a\nb", "a\x00b", "\xff\xfe", "con", "-rf", "Case", "case",
		"a/b", "a-b", "a b", strings.Repeat("long", 1000), strings.Repeat("ü", 500), "terraform-users/app-sre", "C:\\x"}
	parent := t.TempDir()
	logs := filepath.Join(parent, "deep", "logs")
	var tasks []plan.Task
	for _, id := range ids {
		tasks = append(tasks, task(id))
	}
	results, err := wrapper.Run(t.Context(), tasks,
		runnerFunc(func(_ context.Context, task plan.Task, log io.Writer) error {
			_, err := fmt.Fprintf(log, "%q", task.ID)
			return err
		}), wrapper.RunOptions{Logs: wrapper.LogFolder{Dir: logs}})
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for i, r := range results {
		name, ok := strings.CutPrefix(r.Log, "logs/")
		if !ok || strings.ContainsAny(name, "/\\\n\x00") || len(name) > 100 || seen[strings.ToLower(name)] {
			t.Errorf("id %q: bad or repeated log %q", ids[i], r.Log)
		}
		seen[strings.ToLower(name)] = true
		text, err := os.ReadFile(filepath.Join(logs, name))
		if want := fmt.Sprintf("%q", ids[i]); err != nil || string(text) != want {
			t.Errorf("log of %q: got %q, %v", want, text, err)
		}
	}
	if files, err := os.ReadDir(logs); err != nil || len(files) != len(ids) {
		t.Errorf("%d logs for %d tasks (%v)", len(files), len(ids), err)
	}
}

func TestLogFolderDoesNotFollowLinks(t *testing.T) {
	logs, outside := t.TempDir(), filepath.Join(t.TempDir(), "precious")
	if err := os.WriteFile(outside, []byte("keep"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(logs, wrapper.LogName("a"))); err != nil {
		t.Fatal(err)
	}
	results, err := wrapper.Run(t.Context(), []plan.Task{task("a")}, says("gone"),
		wrapper.RunOptions{Logs: wrapper.LogFolder{Dir: logs}})
	if err != nil || !results[0].OK() {
		t.Errorf("got %+v, %v", results, err)
	}
	if text, _ := os.ReadFile(outside); string(text) != "keep" {
		t.Errorf("the file outside holds %q", text)
	}
	if text, err := os.ReadFile(filepath.Join(logs, wrapper.LogName("a"))); string(text) != "gone" {
		t.Errorf("the log holds %q, %v", text, err)
	}
}

func TestLogAndTailAreMasked(t *testing.T) {
	logs := t.TempDir()
	r := runOne(t, task("a"), runnerFunc(func(_ context.Context, _ plan.Task, log io.Writer) error {
		for _, c := range "token=hunter22 end" {
			fmt.Fprintf(log, "%c", c)
		}
		return nil
	}), wrapper.RunOptions{Logs: wrapper.LogFolder{Dir: logs, Prefix: "out/logs"}, Masker: mask.New([]string{"hunter22"})})
	text, err := os.ReadFile(filepath.Join(logs, wrapper.LogName("a")))
	if want := "token=*** end"; err != nil || string(text) != want || r.Tail != want ||
		r.Log != "out/logs/"+wrapper.LogName("a") {
		t.Errorf("got log %q, result %+v, %v", text, r, err)
	}
}

func TestTail(t *testing.T) {
	many := strings.Repeat("line\n", 100)
	tests := map[string]struct{ text, want string }{
		"nothing":    {"", ""},
		"one":        {"one\n", "one"},
		"blank ends": {"\n\n  one\n\ntwo\n\n", "  one\n\ntwo"},
		"twenty":     {many, strings.TrimSuffix(strings.Repeat("line\n", 20), "\n")},
		"bytes":      {strings.Repeat("ü", 3000) + "!", strings.Repeat("ü", 2047) + "!"},
		"escapes": {"\x1b[1;31mred\x1b[0m \x1b]0;title\x07\x1b]8;;http://x\x1b\\link\x1b(B \u009b31m\x7f\x00\b\v.",
			"red link 31m."},
		"returns":       {"10%\r20%\r\ndone\tnow", "10%\n20%\ndone\tnow"},
		"reordering":    {"a\u202eb\u2066c\u200ed", "abcd"},
		"not utf-8":     {"a\xff\xfeb", "a\uFFFDb"},
		"hidden secret": {"hunt\x1b[0mer22", "***"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			r := runOne(t, task("a"), says(test.text), wrapper.RunOptions{Masker: mask.New([]string{"hunter22"})})
			if r.Tail != test.want || !utf8.ValidString(r.Tail) {
				t.Errorf("got %q, want %q", r.Tail, test.want)
			}
		})
	}
}

func TestLargeLogIsComplete(t *testing.T) {
	logs := t.TempDir()
	want := bytes.Repeat([]byte("0123456789abcdef0123456789abcde\n"), 10<<20/32)
	r := runOne(t, task("a"), says(string(want)), wrapper.RunOptions{Logs: wrapper.LogFolder{Dir: logs},
		Masker: mask.New([]string{"0123 is not in it"})})
	got, err := os.ReadFile(filepath.Join(logs, wrapper.LogName("a")))
	if err != nil || !bytes.Equal(got, want) || len(r.Tail) != 20*32-1 {
		t.Errorf("got %d bytes, tail of %d, %v", len(got), len(r.Tail), err)
	}
}

// fullDisk is a LogStore with room for a few bytes.
type fullDisk struct {
	room              int
	openFails, closes bool
}

var errFull = errors.New("no space left on device")

func (f *fullDisk) Create(string, int) (io.WriteCloser, string, error) {
	if f.openFails {
		return nil, "", errFull
	}
	return f, "logs/a.log", nil
}

func (f *fullDisk) Remove(string, int) error { return nil }

func (f *fullDisk) Write(p []byte) (int, error) {
	if len(p) > f.room {
		return f.room, errFull
	}
	return len(p), nil
}

func (f *fullDisk) Close() error {
	if f.closes {
		return errFull
	}
	return nil
}

func TestALogThatCannotBeKeptFailsTheTask(t *testing.T) {
	tests := map[string]*fullDisk{
		"open":  {room: 100, openFails: true},
		"write": {room: 3},
		"close": {room: 100, closes: true},
	}
	for name, disk := range tests {
		t.Run(name, func(t *testing.T) {
			results, err := wrapper.Run(t.Context(), []plan.Task{task("a")}, says("hello"), wrapper.RunOptions{Logs: disk})
			if !errors.Is(err, errFull) || !strings.Contains(err.Error(), `log of task "a"`) {
				t.Errorf("got error %v", err)
			}
			r := results[0]
			if r.Status != plan.Failed || r.Class != plan.ClassTransient || !strings.Contains(r.Reason, "no space left") ||
				r.Tail != "hello" {
				t.Errorf("got %+v", r)
			}
		})
	}
}

func TestLogTroubleIsAddedToARedResult(t *testing.T) {
	tasks := []plan.Task{task("a"), task("b")}
	results, err := wrapper.Run(t.Context(), tasks, runnerFunc(func(_ context.Context, _ plan.Task, log io.Writer) error {
		_, _ = io.WriteString(log, "hello")
		return &wrapper.ExitError{Code: 3}
	}), wrapper.RunOptions{Logs: &fullDisk{}})
	want := "exit code 3; its log could not be kept: writing: no space left on device"
	if r := results[0]; r.Status != plan.Failed || r.Class != plan.ClassTask || r.Reason != want {
		t.Errorf("got %+v, want reason %q", r, want)
	}
	if err == nil || strings.Count(err.Error(), "\n") != 1 {
		t.Errorf("got %v, want one line per task", err)
	}
}

// A task without output has no log. The log of an earlier run is removed.
func TestASilentTaskHasNoLog(t *testing.T) {
	logs := t.TempDir()
	opts := wrapper.RunOptions{Logs: wrapper.LogFolder{Dir: logs}}
	if r := runOne(t, task("a"), says("once"), opts); r.Log == "" {
		t.Errorf("got %+v, want a log", r)
	}
	for range 2 {
		if r := runOne(t, task("a"), says(""), opts); !r.OK() || r.Log != "" {
			t.Errorf("got %+v, want no log", r)
		}
		if files, err := os.ReadDir(logs); err != nil || len(files) != 0 {
			t.Errorf("got %v, %v, want nothing", files, err)
		}
	}
}

// Tail makes the same tail of a log that Run puts into the result.
func TestTailOfALog(t *testing.T) {
	for _, text := range []string{
		"", "\n\n", "one", "one\r\ntwo\r\n", "\x1b[31mred\x1b[0m\n\tpart", "bad \xff\xfe utf-8\n",
		"progress 1%\rprogress 2%\n\n",
		strings.Repeat("line\n", 50), strings.Repeat("é", 100_000), strings.Repeat("0123456789\n", 30_000) + "end",
		"token hunter22 end",
	} {
		logs := wrapper.LogFolder{Dir: t.TempDir()}
		r := runOne(t, task("a"), says(text), wrapper.RunOptions{Logs: logs, Masker: mask.New([]string{"hunter22"})})
		if text == "" {
			continue
		}
		log, err := logs.Read("a", 1, 1<<20)
		if got := wrapper.Tail(log); err != nil || got != r.Tail {
			t.Errorf("%.40q: got %q, %v, want %q", text, got, err, r.Tail)
		}
	}
}
