package main

import (
	"cmp"
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
	Test                     string // the package whose tests must notice it; "" for the laws
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

// mutantTime is how long the laws may take with a mutant.
const mutantTime = 5 * time.Minute

// tryMutants runs the laws with each mutant, in the root of the module. It returns 1 if no law notices one of them.
func tryMutants(ctx context.Context, out io.Writer, worlds uint64) int {
	all, err := readMutants()
	if err != nil {
		_, _ = fmt.Fprintln(out, err)
		return 3
	}
	code := 0
	for _, m := range all {
		said, err := m.try(ctx, worlds)
		switch {
		case err != nil:
			_, _ = fmt.Fprintf(out, "%s: %v\n", m.Name, err)
			code = 3
		case said == "":
			_, _ = fmt.Fprintf(out, "%s: no law notices it\n", m.Name)
			code = max(code, 1)
		default:
			_, _ = fmt.Fprintf(out, "%s: %.120s\n", m.Name, said)
		}
	}
	return code
}

// try returns what the laws say with a mutant, "" if they hold.
func (m mutant) try(ctx context.Context, worlds uint64) (string, error) {
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
	if m.Test != "" {
		return m.test(ctx, filepath.Join(dir, "overlay.json"))
	}
	program := filepath.Join(dir, "laws")
	if said, err := exec.CommandContext(ctx, "go", "build", "-overlay", filepath.Join(dir, "overlay.json"), "-o", program,
		"./laws/owners").CombinedOutput(); err != nil {
		return "", fmt.Errorf("it does not build: %s", said)
	}
	said, err := exec.CommandContext(ctx, program, "--worlds", fmt.Sprint(worlds)).CombinedOutput()
	if err == nil {
		return "", nil
	}
	return cmp.Or(strings.TrimSpace(string(said)), "it does not end"), nil
}

// test returns what the tests of a package say with a mutant, "" if they pass.
func (m mutant) test(ctx context.Context, overlay string) (string, error) {
	said, err := exec.CommandContext(ctx, "go", "test", "-overlay", overlay, "-count=1", "./"+m.Test).CombinedOutput()
	switch {
	case err == nil:
		return "", nil
	case strings.Contains(string(said), "[build failed]"):
		return "", fmt.Errorf("it does not build: %s", said)
	}
	return cmp.Or(strings.TrimSpace(string(said)), "it does not end"), nil
}
