package shellwords

import (
	"bytes"
	"math/rand/v2"
	"os/exec"
	"strings"
	"testing"
)

// The characters of random commands: all that quote, and none with which a shell could
// start a program.
var signs = []string{"a", "b", "A=", " ", "  ", "\t", "'", "'", `"`, `"`, `\`, "\\\n", "$", "$a", "${b}", "$A", "#",
	"~", "=", ":", "-", "}", "]", "!", "%", ",", "/", "+", "^", "é", "\n", "@", "x"}

// values are the values of variables. They have no blanks and no patterns, so a shell does
// not split them either.
var values = map[string]string{"a": "one", "b": "$a", "A": `\'"`, "ab": "three", "aa": "four", "ax": "five",
	"Ab": "six", "ba": "seven"}

// A command that is accepted means the same in all shells of this machine.
func TestLikeAShell(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	var commands []string
	var want []string
	for range 100_000 {
		var command strings.Builder
		for range 1 + rnd.IntN(12) {
			command.WriteString(signs[rnd.IntN(len(signs))])
		}
		words, err := Split(command.String())
		if line, ok := filled(words); err == nil && ok {
			commands = append(commands, command.String())
			want = append(want, line)
		}
	}
	if len(commands) < 10_000 {
		t.Fatalf("only %d commands are accepted", len(commands))
	}
	for _, shell := range []string{"sh", "bash"} {
		path, err := exec.LookPath(shell)
		if err != nil {
			t.Logf("no %s here to compare with", shell)
			continue
		}
		t.Run(shell, func(t *testing.T) {
			for i, got := range split(t, path, commands) {
				if got != want[i] {
					t.Fatalf("%q: %s splits into %q, we into %q", commands[i], shell, got, want[i])
				}
			}
		})
	}
}

// filled writes words like the shell script in split, with the values of variables. It
// returns false if a variable has no value, since only a shell takes that for nothing.
func filled(words []Word) (line string, ok bool) {
	for _, w := range words {
		for _, p := range w {
			if p.Variable == "" {
				line += p.Text
				continue
			}
			v, known := values[p.Variable]
			if !known {
				return "", false
			}
			line += v
		}
		line += "\x1f"
	}
	return line, true
}

// split runs a shell that splits commands.
func split(t *testing.T, shell string, commands []string) []string {
	t.Helper()
	var script strings.Builder
	script.WriteString(`show() { for w in "$@"; do printf '%s\037' "$w"; done; printf '\036'; }` + "\n")
	for _, c := range commands {
		script.WriteString("show " + trimmed(c) + "\n")
	}
	cmd := exec.CommandContext(t.Context(), shell)
	cmd.Dir = t.TempDir()
	cmd.Env = []string{"HOME=/home/nobody", "PATH=/nonexistent"}
	for name, v := range values {
		cmd.Env = append(cmd.Env, name+"="+v)
	}
	cmd.Stdin = strings.NewReader(script.String())
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil || stderr.Len() > 0 {
		t.Fatalf("%v\n%s", err, stderr.String())
	}
	got := strings.Split(strings.TrimSuffix(string(out), "\x1e"), "\x1e")
	if len(got) != len(commands) {
		t.Fatalf("%d answers for %d commands", len(got), len(commands))
	}
	return got
}

// trimmed returns a command without the line breaks before it, which would end the word
// show.
func trimmed(command string) string {
	for {
		rest := strings.TrimPrefix(strings.TrimLeft(command, " \t\n"), "\\\n")
		if rest == command {
			return rest
		}
		command = rest
	}
}

// A quoted text is split into one word, the text itself.
func FuzzSplit(f *testing.F) {
	for _, seed := range []string{"", "a b", `'$x' "${y}" \;`, "a; b", "$((1))", "~", "a=~", "\\\n#", "\x00", "é\xff", "'",
		`"\`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, command string) {
		words, err := Split(command)
		if err == nil && len(words) > len(command) {
			t.Errorf("%d words of %d bytes", len(words), len(command))
		}
		if err != nil && words != nil {
			t.Errorf("words and an error")
		}
		if err == nil {
			quoted := quote(words)
			again, err := Split(quoted)
			if err != nil || show(again) != show(words) {
				t.Errorf("%q: %q, quoted again %q: %q, %v", command, show(words), quoted, show(again), err)
			}
		}
	})
}

// quote returns words as a command.
func quote(words []Word) (command string) {
	for _, w := range words {
		command += " ''"
		for _, p := range w {
			if p.Variable != "" {
				command += "${" + p.Variable + "}"
				continue
			}
			command += "'" + strings.ReplaceAll(p.Text, "'", `'\''`) + "'"
		}
	}
	return command
}
