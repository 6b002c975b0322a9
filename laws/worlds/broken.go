//go:build unix

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// show makes a broken pair small, prints it, and writes it to the folder of --keep.
func (l law) show(ctx context.Context, out io.Writer, o options, b broken) error {
	if !o.noShrink && !o.upsets { // what happens at a time cannot be made small
		b = l.shrink(ctx, b)
	}
	_, _ = fmt.Fprintf(out, "== %s\n%s\nrepeat: %s\n", b.first, describe(b.pair), repeat(b.pair, b.place, o.upsets))
	if o.keep == "" {
		return nil
	}
	dir := filepath.Join(o.keep, fmt.Sprintf("%d-%d-%s", b.pair.Seed, b.pair.Index, b.place))
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	heads := b.pair.heads()
	for name, t := range map[string]tree{"base": b.pair.base(), "head1": heads[0], "head2": heads[1]} {
		if err := lay(filepath.Join(dir, name), nil, t); err != nil {
			return err
		}
	}
	raw, err := json.MarshalIndent(map[string]any{"pair": b.pair, "violation": b.first, "place": b.place}, "", " ")
	if err != nil {
		return err
	}
	text := b.first.String() + "\n" + describe(b.pair) + "\n" + repeat(b.pair, b.place, o.upsets) + "\n"
	if err := os.WriteFile(filepath.Join(dir, "README.txt"), []byte(text), 0o600); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "pair.json"), raw, 0o600)
}

// describe returns the programs with their settings, and what the rounds change.
func describe(p pair) string {
	var b strings.Builder
	for _, prog := range p.Programs {
		declares := ""
		if prog.Declares {
			declares = ", declared queries"
		}
		fmt.Fprintf(&b, "%s: %s%s, programs: %q\n", prog.Name, strings.Join(prog.argv(), " "), declares, prog.Uses)
		for _, step := range prog.Blocks {
			fmt.Fprintf(&b, "  %s %s (way %d) %s\n", step.ID, step.Kind, step.Way, step.Path)
		}
	}
	before := p.base()
	for i, now := range p.heads() {
		fmt.Fprintf(&b, "round %d, committed: %v\n", i+1, p.Rounds[i].Commit)
		for _, name := range slices.Sorted(maps.Keys(union(before, now))) {
			if had, has := before[name], now[name]; had != has {
				fmt.Fprintf(&b, "  %s: %s -> %s\n", name, short(before, name), short(now, name))
			}
		}
		before = now
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// union returns the files of both trees.
func union(a, b tree) tree {
	out := maps.Clone(a)
	maps.Copy(out, b)
	return out
}

// short returns a file as few words.
func short(t tree, name string) string {
	f, ok := t[name]
	switch {
	case !ok:
		return "none"
	case f.Link != "":
		return "link to " + f.Link
	case len(f.Text) > 80:
		return fmt.Sprintf("…%q (executable: %v)", f.Text[len(f.Text)-60:], f.Exec)
	}
	return fmt.Sprintf("%q (executable: %v)", f.Text, f.Exec)
}
