package broken

import (
	"cmp"
	"context"
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

// A Mutant is a way to break a package. The text stands in the file once.
type Mutant struct {
	Name, File, Was, Instead string
	Test                     string // the package whose tests must notice it; "" for the law
}

// Read reads a list of mutants.
func Read(raw []byte) (all []Mutant, err error) { return all, json.Unmarshal(raw, &all) }

// Apply returns the text of the file with the mutant. root is that of the module.
func (m Mutant) Apply(root string) (string, error) {
	raw, err := os.ReadFile(filepath.Join(root, m.File))
	if err != nil {
		return "", err
	}
	if n := strings.Count(string(raw), m.Was); n != 1 {
		return "", fmt.Errorf("%s: %s has %q %d times, want once", m.Name, m.File, m.Was, n)
	}
	return strings.Replace(string(raw), m.Was, m.Instead, 1), nil
}

// Try runs tests with each mutant, in the root of the module. law is the package whose law must notice a mutant without
// a package of its own. It returns 1 if nothing notices a mutant, and 3 if one could not be tried.
func Try(ctx context.Context, out io.Writer, raw []byte, law string) int {
	all, err := Read(raw)
	if err != nil {
		_, _ = fmt.Fprintln(out, err)
		return 3
	}
	code := 0
	for _, m := range all {
		said, err := m.try(ctx, law)
		switch {
		case err != nil:
			_, _ = fmt.Fprintf(out, "%s: %v\n", m.Name, err)
			code = 3
		case said == "":
			_, _ = fmt.Fprintf(out, "%s: nothing notices it\n", m.Name)
			code = max(code, 1)
		default:
			_, _ = fmt.Fprintf(out, "%s: noticed: %.120q\n", m.Name, said)
		}
	}
	return code
}

// patience is how long tests may take with a mutant.
const patience = 5 * time.Minute

// try returns what tests say with a mutant, "" if they pass.
func (m Mutant) try(ctx context.Context, law string) (string, error) {
	text, err := m.Apply(".")
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
	broken, overlay := filepath.Join(dir, "mutant.go"), filepath.Join(dir, "overlay.json")
	list, err := json.Marshal(map[string]any{"Replace": map[string]string{file: broken}})
	if err != nil {
		return "", err
	}
	if err := errors.Join(os.WriteFile(broken, []byte(text), 0o600), os.WriteFile(overlay, list, 0o600)); err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	args := []string{"test", "-overlay", overlay, "-count=1"}
	if m.Test == "" {
		args = append(args, "-run", "^TestLaw$", "./"+law)
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
	return cmp.Or(strings.TrimSpace(string(said)), "it does not end"), nil
}
