package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// show prints the first violations, and one difference of each other class.
func show(out io.Writer, o options, s *sum) {
	for _, c := range classes {
		left := o.shown
		if c != violation {
			left = min(left, 1)
		}
		for _, d := range s.Differences {
			if left == 0 || d.Class != c {
				continue
			}
			left--
			_, _ = fmt.Fprintf(out,
				"%s of %s, merge request %d, in %s:\n  %.400q\n  %.400q\n  go run ./laws/secrets --native %s --seed %d --from %d --pairs 1 --edits %q\n",
				d.Class, d.Native, d.Index, d.Where, d.First, d.Second, d.Native, o.seed, d.Index, strings.Join(d.Edits, ","))
		}
	}
}

// commitOf returns the commit of the checkout that the law was started in, "" if there is none.
func commitOf(ctx context.Context) string {
	out, err := command(context.WithoutCancel(ctx), ".", "git", "describe", "--always", "--dirty", "--exclude=*")
	if err != nil {
		return ""
	}
	return out
}

// write writes the table of all that was counted.
func write(out io.Writer, o options, names []string, all map[string]*sum, commit string, took time.Duration) {
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	row := func(name string, of func(*sum) int) {
		_, _ = fmt.Fprint(t, name)
		for _, n := range names {
			_, _ = fmt.Fprintf(t, "\t%d", of(all[n]))
		}
		_, _ = fmt.Fprintln(t)
	}
	_, _ = fmt.Fprintln(t, "\t"+strings.Join(names, "\t"))
	row("merge requests", func(s *sum) int { return s.Requests })
	row("read a secret of the change", func(s *sum) int { return s.Read })
	row("read a credential of base", func(s *sum) int { return s.Owned })
	row("sent a request", func(s *sum) int { return s.Sent })
	row("lines on the wire", func(s *sum) int { return s.Lines })
	row("with findings", func(s *sum) int { return s.Findings })
	row("with effects", func(s *sum) int { return s.Effects })
	row("failed", func(s *sum) int { return s.Failed })
	for _, c := range classes {
		row(string(c), func(s *sum) int { return s.Classes[c] })
	}
	_ = t.Flush()
	for _, n := range names {
		var codes []string
		for _, code := range slices.Sorted(maps.Keys(all[n].Codes)) {
			codes = append(codes, fmt.Sprintf("%s %d", code, all[n].Codes[code]))
		}
		_, _ = fmt.Fprintf(out, "findings of %s: %s\n", n, strings.Join(codes, ", "))
	}
	_, _ = fmt.Fprintf(out, "seconds %.1f, seed %d, commit %s\n", took.Seconds(), o.seed, commit)
}
