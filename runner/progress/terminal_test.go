//go:build unix

package progress

import (
	"bytes"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/creack/pty"

	"github.com/app-sre/prcheck/plan"
)

// On a terminal the last lines are redrawn, and the lines that stay are above them. At
// the end only the lines that stay are left, also if the terminal folded others.
func TestTerminalDisplay(t *testing.T) {
	ours, theirs := terminal(t, 100, 10)
	d, ok := Display{Out: theirs, Getenv: environment("TERM", "xterm", "NO_COLOR", "1")}.newDisplay().(*terminalDisplay)
	if !ok {
		t.Fatal("the output is a terminal, and the display is for none")
	}
	s := statusOf(4, "one", "two")
	d.start(s, nil)
	s.addResult(plan.Task{ID: "one"}, &plan.Result{Status: plan.Failed, Attempts: 1, Seconds: 90, Reason: "exit code 3"})
	d.taskEnded(s, plan.Task{ID: "one"}, &plan.Result{Status: plan.Failed, Attempts: 1, Seconds: 90,
		Reason: "exit code 3"})
	d.refresh(s)
	resize(t, theirs, 25, 10) // the bar of the last frame takes four rows now
	d.refresh(s)
	d.close(s)
	const want = `running 4 tasks, 4 at once
  one  1m30s of ~1m40s
  two  1m29s of ~1m40s
[                                      ]  0/4  1m30s  about 1m40s left
<up 3>failed one in 1m30s: exit code 3
  two  1m29s of ~1m40s
[=========>                            ]  1/4  1m30s  about 1m40s left  1 failed
<up 5>  two  1m29s of ~1m40s
1/4  1m30s  about 1m40s…
<up 2>`
	if got := written(t, ours, theirs); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// The display depends on the mode, the output and the environment.
func TestNewDisplay(t *testing.T) {
	_, theirs := terminal(t, 80, 24)
	file, err := os.Create(t.TempDir() + "/out")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	for _, tt := range []struct {
		name string
		mode Mode
		out  io.Writer
		env  []string
		want string
	}{
		{"terminal", Auto, theirs, []string{"TERM", "xterm"}, "terminal in colour"},
		{"no colour", Auto, theirs, []string{"TERM", "xterm", "NO_COLOR", "1"}, "terminal"},
		{"dumb", Auto, theirs, []string{"TERM", "dumb"}, "plain"},
		{"unknown", Auto, theirs, nil, "plain"},
		{"a job's", Auto, theirs, []string{"TERM", "xterm", "CI", "true"}, "plain"},
		{"no job's", Auto, theirs, []string{"TERM", "xterm", "CI", "false"}, "terminal in colour"},
		{"GitLab", Auto, theirs, []string{"TERM", "xterm", "CI", "true", "GITLAB_CI", "true"}, "plain with sections"},
		{"wanted", Terminal, theirs, []string{"TERM", "dumb", "CI", "true"}, "terminal"},
		{"not wanted", Plain, theirs, []string{"TERM", "xterm"}, "plain"},
		{"nothing", None, theirs, []string{"TERM", "xterm"}, "none"},
		{"file", Auto, file, []string{"TERM", "xterm"}, "plain"},
		{"wanted in a file", Terminal, file, []string{"TERM", "xterm"}, "plain"},
		{"nowhere", Auto, null, []string{"TERM", "xterm"}, "plain"},
		{"no file", Terminal, new(bytes.Buffer), []string{"TERM", "xterm"}, "plain"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := "none"
			switch to := (Display{Out: tt.out, Mode: tt.mode, Getenv: environment(tt.env...)}).newDisplay().(type) {
			case *terminalDisplay:
				got = map[bool]string{true: "terminal in colour", false: "terminal"}[to.hasColor]
			case *plainDisplay:
				got = map[bool]string{true: "plain with sections", false: "plain"}[to.isGitLab]
			}
			if got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

func environment(pairs ...string) func(string) string {
	return func(name string) string {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1]
			}
		}
		return ""
	}
}

// terminal opens both ends of a terminal.
func terminal(t *testing.T, columns, rows uint16) (ours, theirs *os.File) {
	t.Helper()
	ours, theirs, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ours.Close(); _ = theirs.Close() })
	resize(t, theirs, columns, rows)
	return ours, theirs
}

func resize(t *testing.T, f *os.File, columns, rows uint16) {
	t.Helper()
	if err := pty.Setsize(f, &pty.Winsize{Cols: columns, Rows: rows}); err != nil {
		t.Fatal(err)
	}
}

// written returns the text that the terminal received. Escapes that move the cursor up
// are replaced by words.
func written(t *testing.T, ours, theirs *os.File) string {
	t.Helper()
	const end = "THE END"
	if _, err := theirs.WriteString(end); err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	buffer := make([]byte, 4096)
	for !strings.Contains(all.String(), end) {
		n, err := ours.Read(buffer)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(buffer[:n])
	}
	text := strings.TrimSuffix(strings.ReplaceAll(all.String(), "\r\n", "\n"), end)
	for _, n := range []string{"1", "2", "3", "4", "5"} {
		text = strings.ReplaceAll(text, "\x1b["+n+"A\x1b[J", "<up "+n+">")
	}
	return text
}
