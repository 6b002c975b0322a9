package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// A verdict says whether tests noticed a change.
type verdict int

const (
	uncompiled verdict = iota
	noticed
	survived
)

// A bench tries the changes of one package.
type bench struct {
	path      string   // of the package
	only      string   // the only test that is asked; "" is all short ones
	importers []string // packages of the module that import it, the quickest tests first
	timeout   time.Duration
	patience  time.Duration // the timeout of the importers
}

// baseTime is how long the tests of a package may take without a change, on a machine that others use as well.
const baseTime = "1h"

// newBench returns the bench of a package whose tests pass. If own, those that import it are not asked.
func newBench(ctx context.Context, path string, own bool) (bench, error) {
	raw, err := output(ctx, "go", "list", "-f", `{{.Module.Path}} {{.ImportPath}} {{join .Imports " "}}`, "./...")
	if err != nil {
		return bench{}, err
	}
	b := bench{}
	for line := range strings.Lines(string(raw)) {
		if words := strings.Fields(line); words[1] == words[0]+"/"+path {
			b.path = words[1]
		}
	}
	if b.path == "" {
		return b, fmt.Errorf("there is no package %q", path)
	}
	for line := range strings.Lines(string(raw)) {
		if words := strings.Fields(line); !own && slices.Contains(words[2:], b.path) {
			b.importers = append(b.importers, words[1])
		}
	}
	raw, err = output(ctx, "go", append([]string{"test", "-vet=off", "-short", "-count=1", "-timeout", baseTime, b.path},
		b.importers...)...)
	if err != nil {
		return b, fmt.Errorf("the tests of %s, or of a package that imports it, fail without a change: %w\n%s", path, err,
			raw)
	}
	took := durations(string(raw))
	slices.SortFunc(b.importers, func(x, y string) int { return cmp.Compare(took[x], took[y]) })
	b.timeout = time.Minute + 10*took[b.path]
	for _, importer := range b.importers {
		b.patience = max(b.patience, time.Minute+10*took[importer])
	}
	return b, nil
}

// durations returns how long the tests of each package took, of what the go command prints of tests that pass.
func durations(printed string) map[string]time.Duration {
	out := map[string]time.Duration{}
	for line := range strings.Lines(printed) {
		if words := strings.Fields(line); len(words) > 2 && words[0] == "ok" {
			out[words[1]], _ = time.ParseDuration(words[2])
		}
	}
	return out
}

// try makes one change and asks the tests.
func (b bench) try(ctx context.Context, s site) (verdict, error) {
	folder, err := os.MkdirTemp("", "mutant-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(folder)
	source, err := os.ReadFile(s.file)
	if err != nil {
		return 0, err
	}
	at, err := filepath.Abs(s.file)
	if err != nil {
		return 0, err
	}
	changed := filepath.Join(folder, filepath.Base(s.file))
	overlay, err := json.Marshal(map[string]map[string]string{"Replace": {at: changed}})
	if err != nil {
		return 0, err
	}
	text := slices.Concat(source[:s.start], []byte(s.instead), source[s.end:])
	overlaid := filepath.Join(folder, "overlay.json")
	if err := errors.Join(os.WriteFile(changed, text, 0o600), os.WriteFile(overlaid, overlay, 0o600)); err != nil {
		return 0, err
	}
	v, err := b.test(ctx, overlaid, b.timeout, b.path)
	if v == survived && err == nil && len(b.importers) > 0 {
		v, err = b.test(ctx, overlaid, b.patience, b.importers...)
	}
	return v, err
}

// test runs the short tests of packages, one package after the other, until one fails.
func (b bench) test(ctx context.Context, overlay string, timeout time.Duration, packages ...string) (verdict, error) {
	args := []string{"test", "-vet=off", "-failfast", "-overlay", overlay, "-timeout", timeout.String()}
	if b.only != "" {
		args = append(args, "-run", "^"+b.only+"$")
	} else {
		args = append(args, "-short")
	}
	raw, err := output(ctx, "go", append(args, packages...)...)
	var exit *exec.ExitError
	switch {
	case err == nil:
		return survived, nil
	case ctx.Err() != nil || !errors.As(err, &exit):
		return 0, err
	case bytes.Contains(raw, []byte("[build failed]")) || bytes.Contains(raw, []byte("[setup failed]")):
		return uncompiled, nil
	}
	return noticed, nil
}

// output runs a program and returns what it prints.
func output(ctx context.Context, name string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.WaitDelay = time.Second
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	return out.Bytes(), err
}
