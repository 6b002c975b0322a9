package gql_test

import (
	"bytes"
	"context"
	"os"
	"testing"

	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/qontract/gql"
)

func library(t testing.TB) any {
	t.Helper()
	raw, err := os.ReadFile("testdata/library.json")
	if err != nil {
		t.Fatal(err)
	}
	v, err := bundle.ParseValue(raw)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func parse(t testing.TB, snapshot any) *bundle.Bundle {
	t.Helper()
	b, err := bundle.Parse(asJSON(snapshot), nil)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// checkElements checks that the items of a root field are the elements of its files.
func checkElements(t *testing.T, e *gql.Engine, b *bundle.Bundle, q *gql.Query, text string) {
	t.Helper()
	full := e.Execute(context.Background(), q)
	data, _ := full.Data.(*bundle.Object)
	for _, root := range q.Roots() {
		files := b.Datafiles()
		switch root.Kind {
		case gql.RootDatafiles:
		case gql.RootResources:
			files = b.Resources()
		default:
			continue
		}
		items := []any{}
		failed := 0
		for _, f := range files {
			el := e.Element(context.Background(), q, root, f)
			if el.Present {
				items = append(items, el.Value)
			}
			failed += len(el.Errors)
		}
		want := any(nil)
		if data != nil {
			want, _ = data.Get(root.Key)
		}
		if want == nil {
			if failed == 0 && len(full.Errors) == 0 {
				t.Errorf("%s: %s is null without an error", text, root.Key)
			}
			continue
		}
		if got := canonical(items); !bytes.Equal(got, canonical(want)) {
			t.Errorf("%s: elements of %s\n got %s\nwant %s", text, root.Key, got, canonical(want))
		}
	}
}

// same reports whether a position and all positions below it read the same of two versions
// of a file.
func same(p *gql.Position, old, changed any) bool {
	if !p.Same(old, changed) {
		return false
	}
	for _, c := range p.Children {
		if !same(c.Pos, old, changed) {
			return false
		}
	}
	return true
}

// checkFootprint checks that some position sees the change if the answer to a query
// differs.
func checkFootprint(t *testing.T, base, head *bundle.Bundle, s *gql.Schema, q *gql.Query, path bundle.Path,
	text string) (differs, seen bool) {
	t.Helper()
	before := gql.New(base, s).Execute(context.Background(), q)
	after := gql.New(head, s).Execute(context.Background(), q)
	differs = !bytes.Equal(before.JSON(), after.JSON())
	old, _ := base.Datafile(path)
	changed, ok := head.Datafile(path)
	if !ok || old == nil {
		return differs, true
	}
	for _, c := range q.Footprint().Children {
		unlike := !same(c.Pos, old.Object(), changed.Object())
		seen = seen || unlike
		if like := len(c.Pos.Changed(old.Object(), changed.Object())) == 0; like != c.Pos.Same(old.Object(),
			changed.Object()) {
			t.Errorf("%s: Changed and Same disagree about %s", text, path)
		}
	}
	for _, f := range base.Datafiles() {
		f.EachHolder(path, func(key string) { seen = seen || q.Scalars()[key] })
	}
	if differs && !seen {
		t.Errorf("%s: %s was changed\n from %s\n   to %s\nand no position sees it\nbefore %s\n after %s", text, path,
			canonical(old.Object()), canonical(changed.Object()), before.JSON(), after.JSON())
	}
	return differs, seen
}

// TestLaws checks both laws with random bundles, queries and changes.
func TestLaws(t *testing.T) {
	graphql := library(t)
	s, err := gql.NewSchema(graphql)
	if err != nil {
		t.Fatal(err)
	}
	valid, differing, unseen := 0, 0, 0
	for seed := range uint64(rounds(60)) {
		w := newWorld(graphql, seed)
		snapshot := w.snapshot(graphql)
		base := parse(t, snapshot)
		path := "/" + pick(w, "author/1", "author/2", "book/1", "shelf/1") + ".yml"
		data, _ := snapshot.Get("data")
		file, _ := data.(*bundle.Object).Get(path)
		changed, ok := w.mutate(file).(*bundle.Object)
		for range w.IntN(3) {
			if ok {
				changed, ok = w.mutate(changed).(*bundle.Object)
			}
		}
		if !ok || changed.String("$schema") == "" {
			continue
		}
		data.(*bundle.Object).Set(path, changed)
		head := parse(t, snapshot)
		for range 40 {
			text := w.query()
			q, err := s.Compile(gql.Request{Query: text})
			if err != nil {
				continue
			}
			valid++
			checkElements(t, gql.New(base, s), base, q, text)
			narrow := gql.New(base, s)
			narrow.UseMentions(bundle.IndexMentions(base))
			checkElements(t, narrow, base, q, text)
			differs, seen := checkFootprint(t, base, head, s, q, bundle.Path(path), text)
			if differs {
				differing++
			}
			if !seen {
				unseen++
			}
			if t.Failed() {
				t.Fatalf("seed %d", seed)
			}
		}
	}
	t.Logf("%d valid queries, %d with another answer, %d proven to be the same", valid, differing, unseen)
	if valid < 100 || differing == 0 || unseen == 0 {
		t.Error("the random queries are not worth much")
	}
}
