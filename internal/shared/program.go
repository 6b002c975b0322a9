package shared

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// A program answers inputs. It is started once for each list of them.
type program struct {
	peer       string // it says that it is this one
	words, env []string
}

// program returns the program of a judge. root is the folder of the module, and dir has what was installed.
func (l Live) program(root, dir string) program {
	words := make([]string, len(l.Command))
	for i, word := range l.Command {
		if name, ok := strings.CutPrefix(word, "judges/"); ok {
			word = filepath.Join(dir, name)
		}
		if strings.HasPrefix(word, "testdata/") {
			word = filepath.Join(root, "conformance", "peers", word)
		}
		words[i] = word
	}
	env := append(os.Environ(), "JUDGES="+dir, "PYTHONPATH="+filepath.Join(dir, "python"), "PYTHONDONTWRITEBYTECODE=1")
	return program{l.Peer, words, env}
}

// answers asks the program about all inputs.
func (p program) answers(inputs []json.RawMessage) ([]Answer, error) {
	cmd := exec.Command(p.words[0], p.words[1:]...)
	var in, said bytes.Buffer
	for i, input := range inputs {
		fmt.Fprintf(&in, "{\"id\": \"%d\", \"input\": %s}\n", i, input)
	}
	cmd.Env, cmd.Stdin, cmd.Stderr = p.env, &in, &said
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%w: %s", err, lastError(said.String()))
	}
	read := json.NewDecoder(bytes.NewReader(out))
	var hello struct{ Peer string }
	if err := read.Decode(&hello); err != nil {
		return nil, fmt.Errorf("its first line: %w", err)
	}
	if hello.Peer != p.peer {
		return nil, fmt.Errorf("it is %s, want %s", hello.Peer, p.peer)
	}
	all := make([]Answer, len(inputs))
	for i := range all {
		if err := read.Decode(&all[i]); err != nil {
			return nil, fmt.Errorf("the answer to %s: %w", inputs[i], err)
		}
		if all[i].ID != fmt.Sprint(i) {
			return nil, fmt.Errorf("the answer to %s has the id %q, want %d", inputs[i], all[i].ID, i)
		}
		all[i].Input = inputs[i]
	}
	return all, nil
}

// lastError returns the last line of what a program wrote that speaks of an error, or the last one at all.
func lastError(said string) (last string) {
	for line := range strings.Lines(said) {
		if strings.Contains(line, "Error") || !strings.Contains(last, "Error") {
			last = strings.TrimSpace(line)
		}
	}
	return last
}
