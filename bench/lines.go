//go:build unix

package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
)

// A bench measures with programs that are built.
type bench struct {
	options
	root, dir, bin string
	notes          io.Writer
	worlds         map[int]*world // by the number of datafiles
}

// The changes between base and head of a world.
const changes = 10

// world makes a world in a folder of its own.
func (b *bench) world(ctx context.Context, files, changed int) (*world, error) {
	_, _ = fmt.Fprintf(b.notes, "bench: making a checkout with %d datafiles\n", files) // only a message
	dir, err := os.MkdirTemp(b.dir, "world-")
	if err != nil {
		return nil, err
	}
	return newWorld(ctx, dir, b.bin, files, changed, b.integrations)
}

// program returns a command of ours in the checkout of a world, with a cache of its own.
func (b *bench) program(w *world, cache string, argv ...string) command {
	argv[0] = filepath.Join(b.bin, argv[0])
	return command{dir: w.dir, argv: argv, env: []string{"XDG_CACHE_HOME=" + filepath.Join(w.dir, "..", cache), "CI="}}
}

// planOf returns the command that plans from base to head.
func (b *bench) planOf(w *world, base, head string, more ...string) command {
	return b.program(w, "cache",
		append([]string{"planner", "plan", "--base", base, "--head", head, "--out", filepath.Join(w.dir, "..", "plan.json")},
			more...)...)
}

// installed returns the first of some programs that is installed, "" if none is.
func installed(names ...string) string {
	for _, name := range names {
		if found, err := exec.LookPath(name); err == nil {
			return found
		}
	}
	return ""
}

// peer measures another program; its time is 0 if it is not installed.
func (b *bench) peer(ctx context.Context, name, dir string, argv ...string) (peer, error) {
	found := installed(argv[0])
	if found == "" {
		return peer{name: name}, nil
	}
	argv[0] = found
	seconds, err := command{dir: dir, argv: argv, exits: []int{1}}.cpu(ctx, b.runs, true)
	return peer{name, seconds}, err
}

// revisions measures plans of two revisions, also of the large world.
func (b *bench) revisions(ctx context.Context, small *world) ([]line, error) {
	warm, err := b.planOf(small, "git:base", "git:head").cpu(ctx, b.runs, true)
	if err != nil {
		return nil, err
	}
	diff, err := b.peer(ctx, "git diff", small.dir, "git", "diff", "--raw", "--no-renames", "base", "head")
	if err != nil {
		return nil, err
	}
	large, err := b.worldOf(ctx, 5*b.files)
	if err != nil {
		return nil, err
	}
	five, err := b.planOf(large, "git:base", "git:head").cpu(ctx, b.runs, true)
	if err != nil {
		return nil, err
	}
	cold := b.planOf(small, "git:base", "git:head")
	cold.before = func() error { return os.RemoveAll(filepath.Join(small.dir, "..", "cache")) }
	first, err := cold.cpu(ctx, b.runs, false)
	return []line{
		{measured: warm, unit: "s", peers: []peer{diff}, budget: 0.12},
		{measured: five, unit: "s", peers: []peer{{"the smaller one", warm}}, ratioTo: "the smaller one", budget: 2},
		{measured: first, unit: "s", budget: 2.2},
	}, err
}

// workingTree measures a plan of the working tree.
func (b *bench) workingTree(ctx context.Context, w *world) ([]line, error) {
	tree, err := b.planOf(w, "git:base", "dir:.").cpu(ctx, b.runs, true)
	if err != nil {
		return nil, err
	}
	status, err := b.peer(ctx, "git status", w.dir, "git", "status", "--porcelain")
	return []line{{measured: tree, unit: "s", peers: []peer{status}, ratioTo: "git status", budget: 2.5}}, err
}

// precheck measures a plan of the working tree and its run.
func (b *bench) precheck(ctx context.Context, w *world) ([]line, error) {
	tasks := b.program(w, "cache", "runner", "precheck", "--base", "git:base", "--config", "unrecorded.yaml", "--state",
		"none", "--logs", filepath.Join(w.dir, "..", "logs"), "--progress", "none")
	seconds, err := tasks.cpu(ctx, b.runs, true)
	return []line{{measured: seconds, unit: "s", budget: 0.8}}, err
}

// The same comparison by the usual tools of other languages.
const (
	inNode   = `const fs=require("fs"),f=p=>JSON.parse(fs.readFileSync(p)).data,a=f(process.argv[1]),b=f(process.argv[2]);let n=0;for(const k in b)if(JSON.stringify(a[k])!==JSON.stringify(b[k]))n++;console.log(n)`
	inPython = `import json,sys;a,b=(json.load(open(p))["data"] for p in sys.argv[1:]);print(sum(a.get(k)!=v for k,v in b.items()))`
)

// bundles measures the comparison of two large bundle files.
func (b *bench) bundles(ctx context.Context, w *world) ([]line, error) {
	diff, err := b.program(w, "cache", "planner", "diff", "--base", w.base, "--head", w.head).cpu(ctx, b.runs, true)
	if err != nil {
		return nil, err
	}
	var peers []peer
	for _, p := range []struct {
		name string
		argv []string
	}{
		{"cmp", []string{"cmp", "-l", w.base, w.head}},
		{"Node", []string{"node", "-e", inNode, w.base, w.head}},
		{"Python", []string{"python3", "-c", inPython, w.base, w.head}},
	} {
		if p.name == "cmp" {
			p.argv = []string{"cmp", "-s", w.base, w.base + ".copy"}
			if err := copyFile(w.base+".copy", w.base); err != nil {
				return nil, err
			}
		}
		found, err := b.peer(ctx, p.name, w.dir, p.argv...)
		if err != nil {
			return nil, err
		}
		peers = append(peers, found)
	}
	return []line{
		{measured: diff, unit: "s", peers: peers, ratioTo: "cmp", budget: 4.5},
		{unit: "s", peers: peers[:1], ratioTo: "cmp", budget: 2.5, absent: "not built, see decision 72"},
	}, nil
}

// copyFile copies a file.
func copyFile(to, from string) error {
	raw, err := os.ReadFile(from) //nolint:gosec // a file of ours
	if err != nil {
		return err
	}
	return os.WriteFile(to, raw, 0o600) //nolint:gosec // a file of ours
}

// states measures a plan with a state beside the same plan without.
func (b *bench) states(ctx context.Context, w *world) ([]line, error) {
	config := []string{"--config", filepath.Join(w.dir, "prcheck.yaml")}
	without, err := b.planOf(w, w.base, w.head, config...).cpu(ctx, b.runs, true)
	if err != nil {
		return nil, err
	}
	place := filepath.Join(w.dir, "..", "state")
	with, err := b.planOf(w, w.base, w.head, append(config, "--state", place)...).cpu(ctx, b.runs, true)
	return []line{{
		measured: with, unit: "s",
		peers: []peer{{"without --state", without}}, ratioTo: "without --state", budget: 2,
	}}, err
}

// memories measures the private memory of plans from bundle files.
func (b *bench) memories(ctx context.Context, w *world) ([]line, error) {
	most, err := b.planOf(w, w.base, w.head, "--config", filepath.Join(w.dir, "prcheck.yaml")).private(ctx)
	if err != nil {
		return nil, err
	}
	bundle, err := os.Stat(w.base)
	if err != nil {
		return nil, err
	}
	budget, err := w.memoryBudget()
	if err != nil {
		return nil, err
	}
	return []line{{
		measured: most, unit: "MB", budget: budget,
		note: fmt.Sprintf("(each bundle has %d MB)", bundle.Size()>>20),
	}}, nil
}
