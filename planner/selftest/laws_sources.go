package selftest

import (
	"context"
	"errors"
	"fmt"

	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/qontract/bundle"
)

// checkSources opens both bundles anew: apart, put together from their files, and so that
// head shares nothing with base.
func checkSources(ctx context.Context, t *tester, base, head *bundle.Bundle) (finding, error) {
	want, err := t.decisions(ctx, base, head)
	if err != nil {
		return finding{}, err
	}
	b, err := variantOf(base).bundle(nil)
	if err != nil {
		return finding{}, err
	}
	var f finding
	for _, like := range []*bundle.Bundle{nil, b} {
		h, err := variantOf(head).bundle(like)
		if err != nil {
			return f, err
		}
		how := "opened again from their files"
		if like == nil {
			how += ", each alone"
		}
		g, err := t.compare(ctx, want, b, h, how, nil)
		g.checked += f.checked
		if f = g; err != nil || f.broken != nil {
			return f, err
		}
	}
	for _, s := range t.Sources {
		g, err := t.compareSource(ctx, s, want, base, head)
		if ctx.Err() != nil || g.broken != nil {
			return g, ctx.Err()
		}
		f.checked += g.checked
		if err != nil {
			f.why = fmt.Sprintf("not compared %s: %v", s.Name, err)
		}
	}
	return f, nil
}

// compareSource compares the decisions with those about the bundles of another source. A
// server does not tell all of the types, and answers with errors are judged differently
// there, so what these concern is left out.
func (t *tester) compareSource(ctx context.Context, s Source, want map[string]plan.Decision,
	base, head *bundle.Bundle) (f finding, err error) {
	if d := bundle.Compare(base, head); len(d.Schemas)+len(d.GraphQL) > 0 {
		return f, errors.New("head changes JSON schemas or GraphQL types")
	}
	if base.SHA256() == head.SHA256() {
		return f, nil
	}
	opened, err := s.Open(ctx, base, head)
	if err != nil {
		return f, err
	}
	in := t.plain(opened.Base, opened.Head)
	in.BaseServer, in.HeadServer = opened.BaseServer, opened.HeadServer
	p, err := t.Make(ctx, in)
	if err = errors.Join(err, opened.Close()); err != nil {
		return f, err
	}
	got := byName(p)
	for _, name := range sortedNames(want) {
		a, b := want[name], got[name]
		if len(a.Evidence.Doubts)+len(b.Evidence.Doubts) > 0 {
			continue
		}
		f.checked++
		if !isSameWork(a, b) {
			f.broken = &Counterexample{Integration: name, What: fmt.Sprintf("as it is: %s; %s: %s", describe(a), s.Name,
				describe(b))}
			return f, nil
		}
	}
	return f, nil
}
