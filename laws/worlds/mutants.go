package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// A mutant is prcheck with one rule broken. The law must find it.
type mutant struct {
	name  string
	edits []textEdit
}

// A textEdit replaces a text of a file of the module, which must be there once.
type textEdit struct{ file, old, new string }

// mutants are the rules that are broken by hand.
func mutants() []mutant {
	return []mutant{
		{"base in head's tree", []textEdit{{"runner/places.go", "return r.Places.OnBase(ctx, r.userOf(t))", "return r.Places.OnHead(ctx, r.userOf(t))"}}},
		{"added files ignored", []textEdit{
			{"planner/rules/reads.go", "	r := f.reads(it.Name)\n	if f.mayRead", "	if f.New[p] {\n		return false\n	}\n	r := f.reads(it.Name)\n	if f.mayRead"}}},
		{"listings ignored", []textEdit{
			{"state/files/world.go", `return "folder " + digestNames(append(slices.Clone(names), w.OthersIn(name)...))`, `return "folder" + digestNames(names[:0])`},
			{"planner/rules/reads.go", "for at := p; (f.New[p] || f.Gone[p]) && at != \".\"; {", "for at := p; p == \"\" && at != \".\"; {"}}},
		{"vain look-ups ignored", []textEdit{
			{"state/files/world.go", `if now := w.Found(r.Path, r.Lists); now != r.Found || now == unknown {`, `if now := w.Found(r.Path, r.Lists); r.Found != "missing" && (now != r.Found || now == unknown) {`}}},
		{"links not followed", []textEdit{
			{"state/files/world.go", `if now := w.Found(r.Path, r.Lists); now != r.Found || now == unknown {`, `if now := w.Found(r.Path, r.Lists); r.Found[:3] != "120" && (now != r.Found || now == unknown) {`}}},
		{"data read from disk ignored", []textEdit{
			{"planner/rules/reads.go", "	return known.mayOpen(p)\n", "	return false\n"},
			{"planner/rules/reads.go", "	if f.mayRead(r, p) {", "	if !f.IsData(p) && f.mayRead(r, p) {"}}},
		{"undeclared ignored files shared", []textEdit{
			{"runner/place/place.go", "for _, name := range p.Environment {", "shared, _ := p.Others()\n	for _, name := range shared {"},
			{"runner/reads.go", "func (r *run) whyNotAsOnBase(t plan.Task) string {", "func (r *run) whyNotAsOnBase(t plan.Task) string {\n	return \"\"\n}\n\nfunc (r *run) unused(t plan.Task) string {"}}},
	}
}

// runMutants builds each mutant and looks for a pair that shows that it is broken.
func runMutants(o options, out *os.File) error {
	survived := 0
	for _, m := range mutants() {
		found, err := o.try(m)
		if err != nil {
			return fmt.Errorf("%s: %w", m.name, err)
		}
		word := "caught"
		if !found {
			survived++
			word = "SURVIVED"
		}
		fmt.Fprintf(out, "%-34s %s\n", m.name, word)
	}
	if survived > 0 {
		return fmt.Errorf("%d mutants survived %d pairs", survived, o.pairs)
	}
	return nil
}

// try builds a mutant and reports whether the law finds it.
func (o options) try(m mutant) (found bool, err error) {
	dir, err := os.MkdirTemp("", "mutant-")
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if raw, err := exec.Command("sh", "-c", `git ls-files -z --cached --others --exclude-standard | xargs -0 cp --parents -t "$0"`, dir).CombinedOutput(); err != nil {
		return false, fmt.Errorf("copying the module: %w: %s", err, raw)
	}
	for _, e := range m.edits {
		name := filepath.Join(dir, e.file)
		raw, err := os.ReadFile(name)
		if err != nil {
			return false, err
		}
		if n := strings.Count(string(raw), e.old); n != 1 {
			return false, fmt.Errorf("%s has %d times %q", e.file, n, e.old)
		}
		if err := os.WriteFile(name, []byte(strings.Replace(string(raw), e.old, e.new, 1)), 0o600); err != nil {
			return false, err
		}
	}
	build := exec.Command("go", "build", "-o", filepath.Join(dir, "mutant"), "./cmd/runner")
	build.Dir = dir
	if raw, err := build.CombinedOutput(); err != nil {
		return false, fmt.Errorf("building it: %w: %s", err, raw)
	}
	o.runner = filepath.Join(dir, "mutant")
	for i := range o.pairs {
		f := o.onePair(o.seed + uint64(i))
		if f.wrongSkips+f.falseGreens > 0 {
			return true, nil
		}
	}
	return false, nil
}
