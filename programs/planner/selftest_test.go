package planner

import (
	"context"
	"testing"

	"github.com/app-sre/prcheck/planner"
	"github.com/app-sre/prcheck/planner/selftest"
	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/settings"
)

// A server that serves something else than the files breaks the law of sources; the real one
// keeps it, and is asked.
func TestSelftestServed(t *testing.T) {
	base, err := bundle.Open("../../testdata/shop/base.json", nil)
	if err != nil {
		t.Fatal(err)
	}
	head, err := bundle.Open("../../testdata/shop/head.json", base)
	if err != nil {
		t.Fatal(err)
	}
	in := planner.Input{Base: base, Head: head, Settings: &settings.Settings{}}
	for _, c := range []struct {
		name   string
		open   func(ctx context.Context, base, head *bundle.Bundle) (selftest.Opened, error)
		status selftest.Status
		asked  int
	}{
		{"no server", nil, selftest.Held, 10},
		{"a server", openServed, selftest.Held, 15},
		{"a server that has base twice", func(ctx context.Context, base, _ *bundle.Bundle) (selftest.Opened, error) {
			opened, err := openServed(ctx, base, head)
			opened.Head, opened.HeadServer = opened.Base, opened.BaseServer
			return opened, err
		}, selftest.Broken, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			var o selftest.Replacements
			if c.open != nil {
				o.Sources = []selftest.Source{{Name: "from a server", Open: c.open}}
			}
			results, err := selftest.Check(t.Context(), in, o)
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range results {
				if r.Law == "sources" && (r.Status != c.status || c.asked > 0 && r.Checked != c.asked) {
					t.Errorf("got %+v, want %s after %d comparisons", r, c.status, c.asked)
				}
			}
		})
	}
}
