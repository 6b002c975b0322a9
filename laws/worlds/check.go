//go:build unix

package main

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// A violation is what the law forbids.
type violation struct {
	Wrong   string  `json:"wrong"` // "false green" or "wrong skip"
	Program string  `json:"program"`
	Place   place   `json:"place"`
	Round   int     `json:"round"` // 1 or 2
	Base    outcome `json:"base"`
	Head    outcome `json:"head"`
}

// String returns the violation as one line.
func (v violation) String() string {
	return fmt.Sprintf("%s of %s (%s, round %d): exit code %d on base, %d on head: %q and %q", v.Wrong, v.Program, v.Place,
		v.Round, v.Base.Code, v.Head.Code, v.Base.Lines, v.Head.Lines)
}

// A finding is what the check of one pair in one place found.
type finding struct {
	counts
	violations []violation
	unchecked  []string // the first line of what prcheck said
	whys       []string // why the plan runs programs needlessly
	verdicts   []verdict
}

// counts are numbers that are added up.
type counts struct {
	pairs, runs, skips, reuses int
	wrongSkips, falseGreens    int
	// programs that read nothing new since they passed, and those that ran all the same
	unchanged, needless                 int
	overStrict, falseReds, notChecked   int
	greens, faults                      int // verdicts that are green, and programs with a fault that is new
	prechecks, truths, gits, prechecked time.Duration
}

// add adds other counts, with their durations.
func (c *counts) add(o counts) {
	for i, p := range c.fields() {
		*p += *o.fields()[i]
	}
	c.prechecks, c.truths, c.gits, c.prechecked = c.prechecks+o.prechecks, c.truths+o.truths, c.gits+o.gits,
		c.prechecked+o.prechecked
}

// fields returns the numbers.
func (c *counts) fields() []*int {
	return []*int{&c.pairs, &c.runs, &c.skips, &c.reuses, &c.wrongSkips, &c.falseGreens, &c.unchanged, &c.needless,
		&c.overStrict, &c.falseReds, &c.notChecked, &c.greens, &c.faults}
}

// A law checks pairs with some tools.
type law struct {
	tools
	temp string // folder for repositories
}

// check checks a pair in a place: both rounds.
func (l law) check(ctx context.Context, p pair, in place) (f finding, err error) {
	root, err := os.MkdirTemp(l.temp, "pair-")
	if err != nil {
		return f, err
	}
	defer os.RemoveAll(root)
	f.pairs = 1
	base, heads := l.withKey(p.base()), p.heads()
	c, err := watch(&f.gits, func() (*checkout, error) { return newCheckout(ctx, root, base) })
	if err != nil {
		return f, err
	}
	onBase, err := l.truth(ctx, &f, p, in, c, "main", base)
	if err != nil {
		return f, err
	}
	var before truth
	for i, head := range heads {
		head = l.withKey(head)
		if _, err := watch(&f.gits, func() (int, error) {
			return 0, c.advance(ctx, head, in == job || p.Rounds[i].Commit)
		}); err != nil {
			return f, err
		}
		onHead, err := l.truth(ctx, &f, p, in, c, "change", head)
		if err != nil {
			return f, err
		}
		v, err := watch(&f.prechecks, func() (verdict, error) { return l.precheck(ctx, c, in, root, i+1) })
		if err != nil {
			return f, err
		}
		f.prechecked += v.user
		f.verdicts = append(f.verdicts, v)
		f.judge(p, in, i+1, onBase, onHead)
		if i == 1 {
			f.spare(p, in, base, head, before, onHead)
		}
		before = onHead
	}
	return f, nil
}

// withKey returns a tree whose settings name the public key.
func (t tools) withKey(files tree) tree {
	files = maps.Clone(files)
	s := files["prcheck.yaml"]
	s.Text = strings.Replace(s.Text, "KEY", t.public, 1)
	files["prcheck.yaml"] = s
	return files
}

// truth lets git check out a side, and runs the programs there.
func (l law) truth(ctx context.Context, f *finding, p pair, in place, c *checkout, branch string,
	now tree) (truth, error) {
	dir, err := os.MkdirTemp(filepath.Dir(c.dir), branch+"-")
	if err != nil {
		return truth{}, err
	}
	if _, err := watch(&f.gits, func() (int, error) { return 0, c.side(ctx, dir, branch, now) }); err != nil {
		return truth{}, err
	}
	commit, err := command(ctx, dir, environment(c.home), "git", "rev-parse", "HEAD")
	if err != nil {
		return truth{}, err
	}
	return watch(&f.truths, func() (truth, error) { return truthOf(ctx, p, in, dir, c.home, commit, now) })
}

// judge holds the last verdict against the truth.
func (f *finding) judge(p pair, in place, round int, base, head truth) {
	v := f.verdicts[len(f.verdicts)-1]
	if v.Code != 0 && v.Code != 1 {
		f.notChecked++
		f.unchecked = append(f.unchecked, firstError(v.Said))
		return
	}
	bad, same := 0, 0
	for _, prog := range p.Programs {
		b, h := base.outcomes[prog.Name], head.outcomes[prog.Name]
		_, ran := v.Ran[prog.Name]
		switch {
		case ran:
			f.runs++
		case v.Reused[prog.Name]:
			f.reuses++
		default:
			f.skips++
		}
		switch {
		case h.Code == 0:
			continue
		case b == h:
			same++
			continue
		}
		bad++
		if v.Code == 0 || !ran { // a skip is wrong even where another integration makes the check red
			f.violations = append(f.violations, violation{wrongName(ran), prog.Name, in, round, b, h})
		}
	}
	f.faults += bad
	for _, x := range f.violations {
		if x.Round == round && x.Wrong == "wrong skip" {
			f.wrongSkips++
		} else if x.Round == round {
			f.falseGreens++
		}
	}
	switch {
	case v.Code == 0:
		f.greens++
	case bad == 0 && same > 0:
		f.overStrict++
	case bad == 0:
		f.falseReds++
	}
}

// wrongName names a violation.
func wrongName(ran bool) string {
	if ran {
		return "false green"
	}
	return "wrong skip"
}

// spare counts the programs that passed in the first round and see the same in the second
// one, and those of them that ran again. Programs whose queries head edits always run.
func (f *finding) spare(p pair, in place, base, head tree, before, now truth) {
	first, second := f.verdicts[0], f.verdicts[1]
	if second.Code > 1 {
		return
	}
	for _, prog := range p.Programs {
		if first.Ran[prog.Name] != "passed" || before.seen[prog.Name] != now.seen[prog.Name] {
			continue
		}
		if slices.ContainsFunc(prog.queries(), func(name string) bool { return base[name] != head[name] }) {
			continue
		}
		f.unchanged++
		if _, ran := second.Ran[prog.Name]; ran {
			f.needless++
			f.whys = append(f.whys, fmt.Sprintf("%s: %s", in, second.Why[prog.Name]))
		}
	}
}

// firstError returns the first line that says why nothing was checked.
func firstError(said string) string {
	lines := strings.Split(strings.TrimSpace(said), "\n")
	if i := slices.IndexFunc(lines, func(l string) bool {
		return strings.HasPrefix(l, "runner: ") && !strings.Contains(l, "comparing")
	}); i >= 0 {
		return lines[i]
	}
	return lines[0]
}

// watch adds the time that a step takes.
func watch[T any](to *time.Duration, step func() (T, error)) (T, error) {
	began := time.Now()
	out, err := step()
	*to += time.Since(began)
	return out, err
}
