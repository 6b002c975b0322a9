//go:build unix

package main

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// An upset is what disturbs the first check of a pair.
type upset string

// The upsets. After each of them the files are those of the second round, and a second check, which
// nobody disturbs, uses the state and the cache that the first one left.
const (
	edited   upset = "edited"   // the files become those of the second round while it runs
	restored upset = "restored" // they are those of the first round for a moment while it runs
	killed   upset = "killed"   // its process dies
	wiped    upset = "wiped"    // all its processes die at once
	between  upset = "between"  // the files change between the plan and the run
	resumed  upset = "resumed"  // a run of a plan dies, the files change, and the run is resumed
	damaged  upset = "damaged"  // afterwards somebody spoils a file of the kept worlds or of the state
)

// A disturbance is an upset with what else is drawn for it.
type disturbance struct {
	upset upset
	after time.Duration // since the check began
	draw  *rand.Rand
}

// drawDisturbance draws what disturbs a pair.
func drawDisturbance(p pair) disturbance {
	r := rand.New(rand.NewPCG(p.Seed^0x5eed, uint64(p.Index))) //nolint:gosec // it repeats what a seed made
	return disturbance{
		upset: pick(r, edited, edited, restored, restored, restored, killed, wiped, between, resumed, damaged),
		after: time.Duration(r.IntN(500)) * time.Millisecond, draw: r,
	}
}

// disturb checks a pair whose first check is disturbed. It breaks the law if the second check does,
// and if the first one is green although the files of both rounds have the same new fault.
func (l law) disturb(ctx context.Context, p pair, in place) (f finding, err error) {
	root, err := os.MkdirTemp(l.temp, "pair-")
	if err != nil {
		return f, err
	}
	defer removeBusy(root)
	f.pairs = 1
	d, heads := drawDisturbance(p), p.heads()
	base, first, second := l.withKey(p.base()), l.withKey(heads[0]), l.withKey(heads[1])
	other := second // what lies there meanwhile
	if d.upset == restored {
		first, other = second, first
	}
	c, err := watch(&f.gits, func() (*checkout, error) { return newCheckout(ctx, root, base) })
	if err != nil {
		return f, err
	}
	onBase, err := l.truth(ctx, &f, p, in, c, "main", base)
	if err != nil {
		return f, err
	}
	if err := c.advance(ctx, first, in == job || p.Rounds[0].Commit); err != nil {
		return f, err
	}
	before, err := l.truth(ctx, &f, p, in, c, "change", first)
	if err != nil {
		return f, err
	}
	v, err := watch(&f.prechecks, func() (verdict, error) { return l.upsetCheck(ctx, c, in, root, d, other) })
	if err != nil {
		return f, err
	}
	if err := c.advance(ctx, second, in == job || p.Rounds[1].Commit); err != nil {
		return f, err
	}
	if d.upset == damaged {
		spoil(d.draw, filepath.Join(c.home, ".cache", "prcheck", "worlds-1", "trees"), filepath.Join(root, "state"))
	}
	after, err := l.truth(ctx, &f, p, in, c, "change", second)
	if err != nil {
		return f, err
	}
	// On one's own machine a check is one of the files that it finds when it begins, which may be those
	// of the moment. In a job it is one of the commit, with the ignored files of the moment.
	isMoment := d.upset == restored && (in == local || !maps.Equal(ignoredFiles(first), ignoredFiles(other)))
	for _, prog := range p.Programs {
		b, h1, h2 := onBase.outcomes[prog.Name], before.outcomes[prog.Name], after.outcomes[prog.Name]
		if v.Code == 0 && !isMoment && h1 == h2 && h1.Code != 0 && h1 != b {
			f.violations = append(f.violations, violation{"false green", prog.Name, in, 1, b, h1})
			f.falseGreens++
		}
	}
	if v, err = watch(&f.prechecks, func() (verdict, error) { return l.precheck(ctx, c, in, root, 2) }); err != nil {
		return f, err
	}
	f.prechecked += v.user
	f.verdicts = append(f.verdicts, v)
	f.judge(p, in, 2, onBase, after)
	return f, nil
}

// upsetCheck runs the first check, and disturbs it. The code of a check that gave no verdict is not 0.
func (l law) upsetCheck(ctx context.Context, c *checkout, in place, root string, d disturbance,
	other tree) (verdict, error) {
	env, err := c.variables(ctx, in, l.key)
	if err != nil {
		return verdict{}, err
	}
	state, plan := filepath.Join(root, "state"), filepath.Join(root, "plan-1")
	start := func(argv ...string) (*exec.Cmd, error) {
		cmd := exec.CommandContext(ctx, argv[0], argv[1:]...) //nolint:gosec // the program to check
		cmd.Dir, cmd.Env = c.dir, env
		apart(cmd)
		return cmd, cmd.Start()
	}
	check := []string{l.Runner, "precheck", "--progress", "none", "--state", state, "--logs",
		filepath.Join(root, "logs-1")}
	if d.upset == between || d.upset == resumed {
		base, head := "git:main", "dir:."
		if in == job {
			base, head = "git:"+c.base, "git:HEAD"
		}
		planned, err := start(l.Planner, "plan", "--base", base, "--head", head, "--state", state, "--out", plan)
		if err != nil {
			return verdict{}, err
		}
		if planned.Wait() != nil {
			return verdict{Code: planned.ProcessState.ExitCode()}, nil
		}
		check = []string{l.Runner, "run", "--progress", "none", "--plan", plan, "--state", state, "--logs",
			filepath.Join(root, "logs-1"), "--out", filepath.Join(root, "results-1")}
	}
	if d.upset == between {
		if err := c.change(other); err != nil {
			return verdict{}, err
		}
	}
	cmd, err := start(check...)
	if err != nil {
		return verdict{}, err
	}
	if err := l.upsetRun(c, cmd, d, other); err != nil {
		return verdict{}, err
	}
	_ = cmd.Wait() // the exit code tells
	if d.upset == resumed {
		if d.draw.IntN(2) == 0 {
			if err := c.change(other); err != nil {
				return verdict{}, err
			}
		}
		if cmd, err = start(append(check, "--resume")...); err != nil {
			return verdict{}, err
		}
		_ = cmd.Wait()
	}
	return verdict{Code: cmd.ProcessState.ExitCode()}, ctx.Err()
}

// upsetRun disturbs a check that runs.
func (l law) upsetRun(c *checkout, cmd *exec.Cmd, d disturbance, other tree) error {
	if d.upset == between || d.upset == damaged {
		return nil
	}
	time.Sleep(d.after)
	switch d.upset {
	case edited:
		return c.change(other)
	case restored:
		first := c.now
		if err := c.change(other); err != nil {
			return err
		}
		time.Sleep(time.Duration(50+d.draw.IntN(200)) * time.Millisecond)
		return c.change(first)
	case killed, resumed:
		_ = cmd.Process.Kill() // it may have ended
	case wiped:
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	}
	return nil
}

// change lays a tree over what lies in the checkout, and commits nothing.
func (c *checkout) change(to tree) error {
	if err := lay(c.dir, c.now, to); err != nil {
		return err
	}
	c.now = to
	return build(c.dir, to)
}

// spoil changes a file below one of some folders, or removes it. A document of the state, which is
// not the first folder, is only cut.
func spoil(r *rand.Rand, folders ...string) {
	i := r.IntN(len(folders))
	var names []string
	_ = filepath.WalkDir(folders[i], func(name string, e fs.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() && !strings.HasPrefix(e.Name(), ".") {
			names = append(names, name)
		}
		return nil
	})
	if len(names) == 0 {
		return
	}
	slices.Sort(names)
	name := names[r.IntN(len(names))]
	raw, err := os.ReadFile(name) //nolint:gosec // below a folder of the law
	if err != nil || len(raw) == 0 {
		return
	}
	at := r.IntN(len(raw))
	switch way := r.IntN(4); {
	case i > 0, way == 0:
		_ = os.Truncate(name, int64(at)) // this and all others may fail: then nothing is spoilt
	case way == 1:
		_ = os.Remove(name)
	case way == 2:
		_ = os.Chmod(name, 0o600)
		raw[at] ^= 1
		if f, err := os.OpenFile(name, os.O_WRONLY, 0); err == nil { //nolint:gosec // as above
			_, _ = f.WriteAt(raw[at:at+1], int64(at))
			_ = f.Close()
		}
	default:
		_ = os.WriteFile(filepath.Join(filepath.Dir(name), "BADnew"), raw, 0o600)
	}
}

// removeBusy removes a folder in which processes that were killed may still end.
func removeBusy(dir string) {
	for range 50 {
		if err := os.RemoveAll(dir); err == nil || errors.Is(err, fs.ErrNotExist) {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
}
