//go:build unix

package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"text/tabwriter"
)

// growths measures how the time of a plan grows with the number of datafiles, and with that of
// changes.
func (b *bench) growths(ctx context.Context, out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	_, _ = fmt.Fprintln(w, "datafiles\tchanges\trevisions, warm\trevisions, cold\tworking tree, warm\tbundle "+
		"files\tdiff of files\tprivate memory of bundle files, MB\tasked, MB\t")
	for _, files := range b.growth {
		for _, changed := range []int{10, 100, 1000} {
			if changed > 10 && files != b.growth[0] || changed >= files {
				continue // the growth in changes is measured for the first number of datafiles
			}
			if err := b.growthRow(ctx, w, files, changed); err != nil {
				return err
			}
		}
	}
	return w.Flush()
}

// growthRow measures one row.
func (b *bench) growthRow(ctx context.Context, out io.Writer, files, changed int) error {
	w, err := b.world(ctx, files, changed)
	if err != nil {
		return err
	}
	defer os.RemoveAll(filepath.Dir(w.dir))
	cold := b.planOf(w, "git:base", "git:head")
	cold.before = func() error { return os.RemoveAll(filepath.Join(w.dir, "..", "cache")) }
	_, _ = fmt.Fprintf(out, "%d\t%d\t", files, changed) // the error is that of Flush
	for _, m := range []struct {
		c    command
		warm bool
	}{
		{b.planOf(w, "git:base", "git:head"), true},
		{cold, false},
		{b.planOf(w, "git:base", "dir:."), true},
		{b.planOf(w, w.base, w.head, "--config", filepath.Join(w.dir, "prcheck.yaml")), true},
		{b.program(w, "cache", "planner", "diff", "--base", w.base, "--head", w.head), true},
	} {
		seconds, err := m.c.cpu(ctx, b.runs, m.warm)
		if err != nil {
			return err
		}
		_, _ = fmt.Fprintf(out, "%s\t", number(seconds))
	}
	most, err := b.planOf(w, w.base, w.head, "--config", filepath.Join(w.dir, "prcheck.yaml")).private(ctx)
	if err != nil {
		return err
	}
	asked, err := w.memoryBudget()
	_, _ = fmt.Fprintf(out, "%.0f\t%.0f\t\n", most, asked)
	return err
}
