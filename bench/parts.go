//go:build unix

package main

import (
	"context"
	"fmt"
)

// A part measures some rows of the table together, because they share data or a ratio.
type part struct {
	paths   []string // the names of the rows
	files   int      // datafiles of the world that is measured; 0 if the part needs none
	measure func(context.Context, *world) ([]line, error)
}

// parts returns the parts of the table, in the order of its rows.
func (b *bench) parts() []part {
	small, large := b.files, 5*b.files
	out := []part{
		{[]string{
			fmt.Sprintf("plan of two revisions, %d datafiles, warm", small),
			fmt.Sprintf("plan of two revisions, %d datafiles, warm", large),
			fmt.Sprintf("plan of two revisions, %d datafiles, nothing cached", small),
		}, small, b.revisions},
		{[]string{
			fmt.Sprintf("plan of two revisions with any file a program, %d datafiles, warm", small),
			fmt.Sprintf("plan of two revisions with any file a program, %d datafiles, warm", large),
		}, small, b.anyProgram},
		{[]string{"plan of the working tree, warm"}, small, b.workingTree},
		{[]string{fmt.Sprintf("precheck with %d tasks of /bin/true, nothing recorded", b.integrations)}, small, b.precheck},
		{[]string{
			fmt.Sprintf("precheck with %d tasks of /bin/true that are recorded", b.integrations),
			fmt.Sprintf("precheck with %d tasks of /bin/true that start in views", b.integrations),
			fmt.Sprintf("precheck with %d tasks of /bin/true that start in views and are remembered", b.integrations),
		}, small, b.recorded},
		{[]string{
			fmt.Sprintf("diff of two bundles, 2 × %d datafiles, nothing remembered", large),
			fmt.Sprintf("diff of two bundles, 2 × %d datafiles, base's index remembered and checked", large),
		}, large, b.bundles},
		{[]string{fmt.Sprintf("plan of bundle files with --state, %d integrations with queries", b.integrations)}, small,
			b.states},
		{[]string{fmt.Sprintf("private memory of a plan of bundle files, %d datafiles", large)}, large, b.memories},
		{[]string{
			fmt.Sprintf("server, %d datafiles, %d clients, queries that never repeat: a request", small, clients),
			fmt.Sprintf("server, %d datafiles, %d clients: the most memory of the process", small, clients),
		}, small, b.servers},
	}
	if !b.benchmarks {
		return out
	}
	for _, files := range []int{small, large} {
		out = append(out, part{costPaths(files), 0, func(ctx context.Context, _ *world) ([]line, error) {
			return b.costs(ctx, files)
		}})
	}
	out = append(out, part{recordingPaths, 0, func(ctx context.Context, _ *world) ([]line, error) {
		return b.recording(ctx)
	}})
	for _, p := range packages {
		out = append(out, part{[]string{p.path}, 0, func(ctx context.Context, _ *world) ([]line, error) {
			return b.benchmark(ctx, p)
		}})
	}
	return out
}

// lines measures the rows that are wanted.
func (b *bench) lines(ctx context.Context) ([]line, error) {
	var out []line
	for _, p := range b.parts() {
		if !b.wantsAny(p.paths) {
			continue
		}
		w, err := b.worldOf(ctx, p.files)
		if err != nil {
			return nil, err
		}
		some, err := p.measure(ctx, w)
		if err != nil {
			return nil, err
		}
		for i, path := range p.paths {
			if some[i].path = path; b.wants(path) {
				out = append(out, some[i])
			}
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("no row is named like %q: without -only all rows are printed", b.only.String())
	}
	return out, nil
}

// wants reports whether a row is printed.
func (b *bench) wants(path string) bool { return b.only == nil || b.only.MatchString(path) }

func (b *bench) wantsAny(paths []string) bool {
	for _, path := range paths {
		if b.wants(path) {
			return true
		}
	}
	return false
}

// worldOf returns the world with so many datafiles, which is made once; nil for 0.
func (b *bench) worldOf(ctx context.Context, files int) (*world, error) {
	if w := b.worlds[files]; w != nil || files == 0 {
		return w, nil
	}
	w, err := b.world(ctx, files, changes)
	if err == nil {
		b.worlds[files] = w
	}
	return w, err
}
