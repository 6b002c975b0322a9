package main

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// A mutant is a way to break a package. The text stands in the file once.
type mutant struct {
	Name, File, Was, Instead string
	Test                     string // the package whose tests must notice it; "" is the law
}

//go:embed mutants.json
var mutantsJSON []byte

func readMutants() (all []mutant, err error) { return all, json.Unmarshal(mutantsJSON, &all) }

// apply returns the text of the file with the mutant.
func (m mutant) apply(root string) (string, error) {
	raw, err := os.ReadFile(filepath.Join(root, m.File))
	if err != nil {
		return "", err
	}
	if n := strings.Count(string(raw), m.Was); n != 1 {
		return "", fmt.Errorf("%s: %s has %q %d times, want once", m.Name, m.File, m.Was, n)
	}
	return strings.Replace(string(raw), m.Was, m.Instead, 1), nil
}

// mutantTime is how long tests may take with a mutant.
const mutantTime = 5 * time.Minute

// tryMutants runs tests with each mutant, in the root of the module. It returns 1 if they do not notice one, and 3 if
// one could not be tried.
func tryMutants(ctx context.Context, out io.Writer) int {
	all, err := readMutants()
	if err != nil {
		_, _ = fmt.Fprintln(out, err)
		return 3
	}
	code := 0
	for _, m := range all {
		said, err := m.try(ctx)
		switch {
		case err != nil:
			_, _ = fmt.Fprintf(out, "%s: %v\n", m.Name, err)
			code = 3
		case said == "":
			_, _ = fmt.Fprintf(out, "%s: nothing notices it\n", m.Name)
			code = max(code, 1)
		default:
			_, _ = fmt.Fprintf(out, "%s: noticed\n", m.Name)
		}
	}
	return code
}

// try returns what tests say with a mutant, "" if they pass.
func (m mutant) try(ctx context.Context) (string, error) {
	text, err := m.apply(".")
	if err != nil {
		return "", err
	}
	dir, err := os.MkdirTemp("", "mutant-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	file, err := filepath.Abs(m.File)
	if err != nil {
		return "", err
	}
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{file: filepath.Join(dir, "mutant.go")}})
	if err != nil {
		return "", err
	}
	if err := errors.Join(os.WriteFile(filepath.Join(dir, "mutant.go"), []byte(text), 0o600),
		os.WriteFile(filepath.Join(dir, "overlay.json"), overlay, 0o600)); err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(ctx, mutantTime)
	defer cancel()
	args := []string{"test", "-overlay", filepath.Join(dir, "overlay.json"), "-count=1"}
	if m.Test == "" {
		args = append(args, "-run", "TestLaw", "./laws/queue")
	} else {
		args = append(args, "./"+m.Test)
	}
	said, err := exec.CommandContext(ctx, "go", args...).CombinedOutput()
	switch {
	case err == nil:
		return "", nil
	case strings.Contains(string(said), "[build failed]"):
		return "", fmt.Errorf("it does not build: %s", said)
	}
	return string(said) + " ", nil
}
