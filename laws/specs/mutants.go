package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// A mutant is a way to break the engine: one text of a file of the product, and what stands there instead.
type mutant struct {
	name, file, text, instead string
	only                      string // the types that show it; "" is all
}

// mutants are the broken engines that the laws must catch.
var mutants = []mutant{
	{"a PUT without what GET does not answer", "natives/generic/threeway/plan.go",
		"m.plan.PutBody = m.carry(place{}, m.in.Known, result).v", "m.plan.PutBody = result.v", ""},
	{"drift replaces", "natives/generic/threeway/plan.go",
		"m.in.AllowReplace && slices.ContainsFunc(p.Violations, Objection.isOfData)", "m.in.AllowReplace", ""},
	{"failed is green in the second run", "natives/generic/entry.go", "		stands = standingOf(live, e.pending)\n", "",
		""},
	{"items are compared whole", "natives/generic/threeway/holds.go", "return isList && isAlso && !isWhole &&",
		"return false && isList && isAlso && !isWhole &&", ""},
	{"ids are compared by letter", "natives/generic/rules/class.go", "			r.Format = body.ARMText\n", "", ""},
	{"lists are by position", "natives/openapi/classes/details.go",
		"c.setOfFamily,\n\t\tc.keyOfItems}", "c.setOfFamily}", ""},
	{"zones are in order", "natives/openapi/classes/details.go",
		"c.setOfFamily,\n\t\tc.keyOfItems}", "c.keyOfItems}", ""},
	{"texts with secret names stay in the state", "natives/generic/threeway/trace.go", "rule.Masked && isText, ",
		"rule.Masked && isText && false, ", ""},
	{"no declared class", "natives/openapi/classes/createonly.go", "isDeclared && canCreate && !canUpdate:",
		"false && isDeclared && canCreate && !canUpdate:", ""},
	{"locations can change", "natives/openapi/resources/family.go", `CreateOnly: []string{"location"},`, "", ""},
	{"a mark where tags are read-only", "natives/generic/cloud/specs.go", "return err == nil && p.ReadOnly == nil",
		"return err == nil && (p.ReadOnly == nil || true)", ""},
	{"an old value is a mismatch", "natives/generic/rest/verify.go", "isNew := w.live.Found && w.isNewer()",
		"isNew := true", ""},
}

// catch lets the laws catch each mutant, and prints which they did.
func catch(ctx context.Context, out io.Writer, o options) error {
	top, err := exec.CommandContext(ctx, "git", "rev-parse", "--show-toplevel").Output()
	if err != nil {
		return err
	}
	temp, err := os.MkdirTemp("", "specs")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	survived := 0
	for _, m := range mutants {
		if !strings.Contains(m.name, o.only) {
			continue
		}
		program, err := m.build(ctx, strings.TrimSpace(string(top)), temp)
		if err != nil {
			return fmt.Errorf("mutant %q: %w", m.name, err)
		}
		said, err := exec.CommandContext(ctx, program, "--specs", o.specs, "--seeds", fmt.Sprint(o.seeds), "--seed", fmt.Sprint(o.seed), "--only", m.only, "--shown", "1").Output() //nolint:gosec // built here
		var failed *exec.ExitError
		first, _, _ := strings.Cut(string(said), "\n")
		switch {
		case err == nil:
			survived++
			first = "survived"
		case !errors.As(err, &failed) || failed.ExitCode() != 1:
			return fmt.Errorf("mutant %q: %w", m.name, err)
		}
		const wide = 150
		_, _ = fmt.Fprintf(out, "%-42s  %s\n", m.name, first[:min(len(first), wide)]) // it is for people
	}
	if survived > 0 {
		return fmt.Errorf("%w: %d mutants survived", errBroken, survived)
	}
	return nil
}

// build builds the laws with a mutant. The files of the checkout are not touched.
func (m mutant) build(ctx context.Context, top, temp string) (string, error) {
	name := filepath.Join(top, m.file)
	raw, err := os.ReadFile(name) //nolint:gosec // a file of the checkout
	if err != nil {
		return "", err
	}
	if n := strings.Count(string(raw), m.text); n != 1 {
		return "", fmt.Errorf("%s has the text %d times, not once: adapt the mutant", m.file, n)
	}
	changed := filepath.Join(temp, "changed.go")
	if err := os.WriteFile(changed, []byte(strings.Replace(string(raw), m.text, m.instead, 1)), 0o600); err != nil {
		return "", err
	}
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{name: changed}})
	if err != nil {
		return "", err
	}
	list := filepath.Join(temp, "overlay.json")
	if err := os.WriteFile(list, overlay, 0o600); err != nil {
		return "", err
	}
	program := filepath.Join(temp, "specs")
	build := exec.CommandContext(ctx, "go", "build", "-overlay", list, "-o", program, "./laws/specs") //nolint:gosec // paths of our own
	build.Dir = top
	if said, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, said)
	}
	return program, nil
}
