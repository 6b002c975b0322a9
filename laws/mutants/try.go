package main

import (
	"bytes"
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
	importers []string // packages of the module that import it
	timeout   time.Duration
}

// newBench returns the bench of a package whose tests pass.
func newBench(ctx context.Context, path string) (bench, error) {
	raw, err := output(ctx, "go", "list", "-f", `{{.ImportPath}} {{join .Imports " "}}`, "./...")
	if err != nil {
		return bench{}, err
	}
	b := bench{}
	for line := range strings.Lines(string(raw)) {
		words := strings.Fields(line)
		if strings.HasSuffix(words[0], "/"+path) {
			b.path = words[0]
		}
	}
	if b.path == "" {
		return b, fmt.Errorf("there is no package %q", path)
	}
	for line := range strings.Lines(string(raw)) {
		if words := strings.Fields(line); slices.Contains(words[1:], b.path) {
			b.importers = append(b.importers, words[0])
		}
	}
	began := time.Now()
	if v, err := b.test(ctx, "", append([]string{b.path}, b.importers...)...); err != nil || v != survived {
		return b, errors.Join(err, fmt.Errorf("the tests of %s, or of a package that imports it, fail without a change", path))
	}
	b.timeout = time.Minute + 5*time.Since(began)
	return b, nil
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
	v, err := b.test(ctx, overlaid, b.path)
	if v == survived && err == nil && len(b.importers) > 0 {
		v, err = b.test(ctx, overlaid, b.importers...)
	}
	return v, err
}

// test runs the short tests of packages.
func (b bench) test(ctx context.Context, overlay string, packages ...string) (verdict, error) {
	args := []string{"test", "-vet=off", "-failfast"}
	if b.only != "" {
		args = append(args, "-run", "^"+b.only+"$")
	} else {
		args = append(args, "-short")
	}
	if overlay != "" {
		args = append(args, "-overlay", overlay)
	}
	if b.timeout > 0 {
		args = append(args, "-timeout", b.timeout.String())
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
