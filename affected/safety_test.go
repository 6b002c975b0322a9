package affected

import (
	"bufio"
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/internal/shared"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/qontract/gql"
	"github.com/app-sre/prcheck/settings"
)

// No integration is skipped whose full evaluation differs between base and
// head: every recorded query over every recorded pair of bundles, each as the
// query of an integration.
func TestNoWrongSkip(t *testing.T) {
	dir := shared.Path(t, "data")
	queries := recordedQueries(t, dir)
	for _, pair := range []string{"app-interface", "generated-300", "random-1"} {
		t.Run(pair, func(t *testing.T) {
			base, err := bundle.Open(filepath.Join(dir, "bundles", pair+"-base.json"), nil)
			if err != nil {
				t.Fatal(err)
			}
			head, err := bundle.Open(filepath.Join(dir, "bundles", pair+"-head.json"), base)
			if err != nil {
				t.Fatal(err)
			}
			c := counts{comparison: NewComparison(base, head, bundle.Compare(base, head), Options{})}
			for i, req := range queries {
				if !testing.Short() || i%4 == 0 {
					c.check(t, req)
				}
			}
			c.comparison, c.whole = nil, nil
			t.Logf("%+v: over-selection %.1f %%", c, 100*float64(c.tooMuch)/float64(max(1, c.run)))
			if c.run*c.apart == 0 && pair != "app-interface" || c.skipped == 0 {
				t.Errorf("got %+v, want some of each", c)
			}
		})
	}
}

// counts tell how often a judgement was right.
type counts struct {
	comparison *Comparison
	whole      *engines // that evaluate as a whole

	run, skipped, fields, state, tooMuch, doubts int
	apart                                        int // known to differ without being answered
	sharded, shards, full                        int
}

// check judges one query over one pair and compares with evaluating it whole.
func (c *counts) check(t *testing.T, req gql.Request) {
	t.Helper()
	w := c.comparison
	if c.whole == nil {
		var err error
		if c.whole, err = w.newEngines(); err != nil {
			t.Fatal(err)
		}
	}
	e := c.whole
	compiled, err := e.baseSchema.Compile(req)
	if err != nil {
		return // made for the types of another bundle
	}
	s := Subject{Queries: []CompiledQuery{{Name: "q", Text: req.Query, base: compiled, head: compiled}}}
	d := w.Decide(context.Background(), s, true)

	before, after := e.base.Execute(context.Background(), compiled), e.head.Execute(context.Background(), compiled)
	if w.isUnaffected(req) && string(before.JSON()) != string(after.JSON()) {
		t.Errorf("unaffected, but the answers differ:\n%s", req.Query)
	}
	if w.differs(context.Background(), req) {
		// An error that takes all data away may hide the difference from both answers.
		if c.apart++; before.Data != nil && string(before.JSON()) == string(after.JSON()) {
			t.Errorf("said to differ, but the answers are the same:\n%s", req.Query)
		}
	}
	same := Digest([]any{before.Data}, settings.OrderIgnored) == Digest([]any{after.Data}, settings.OrderIgnored)
	if selector, ok := anySelector(after.Data); ok && len(before.Errors)+len(after.Errors) == 0 {
		c.checkShards(t, w, s, selector, before.Data, after.Data)
	}
	switch {
	case d.Action == plan.Skip && !same:
		t.Errorf("skipped at %s (%s), but the answers differ:\n%s", d.Rung, d.Sentence(), req.Query)
	case d.Action == plan.Skip:
		c.skipped++
		if d.Rung == plan.RungFields {
			c.fields++
		} else {
			c.state++
		}
	case len(d.Evidence.Doubts) > 0:
		c.run++
		c.doubts++
	default:
		c.run++
		if same {
			c.tooMuch++
			if len(before.Errors)+len(after.Errors) == 0 {
				t.Errorf("runs at %s (%s), but the answers are the same:\n%s", d.Rung, d.Sentence(), req.Query)
			}
		}
	}
}

// checkShards judges the same with a selector and compares with attributing the
// whole answers.
func (c *counts) checkShards(t *testing.T, w *Comparison, s Subject, selector string, before, after any) {
	t.Helper()
	by := selectors(t, selector)
	s.Shards = &settings.Shards{By: by}
	d := w.Decide(context.Background(), s, true)
	want := Attribute([]any{before}, []any{after}, by, settings.OrderIgnored)
	switch {
	case d.Action == plan.Run:
		c.full++
	case want.Same != (d.Action == plan.Skip), len(want.Keys) != len(d.Evidence.Keys):
		t.Errorf("%s: got %s %q, want %+v", selector, d.Action, d.Evidence.Keys, want)
	case d.Action == plan.Shards:
		c.sharded++
		c.shards += len(d.Evidence.Keys)
		if !slices.Equal(d.Evidence.Keys, want.Keys) {
			t.Errorf("%s: got %q, want %q", selector, d.Evidence.Keys, want.Keys)
		}
	}
}

// anySelector returns a selector for the first list of an answer whose elements
// have a string, or lists with one, to tell them apart.
func anySelector(data any) (string, bool) {
	o, _ := data.(*bundle.Object)
	if o == nil {
		return "", false
	}
	for _, m := range o.Members() {
		if list, ok := m.Value.([]any); ok && len(list) > 0 {
			if below, ok := keyOf(list[0]); ok {
				return m.Key + "[*]." + below, true
			}
		}
	}
	return "", false
}

func keyOf(element any) (string, bool) {
	o, _ := element.(*bundle.Object)
	if o == nil {
		return "", false
	}
	for _, m := range o.Members() {
		if text, ok := m.Value.(string); ok && m.Key != "__typename" && text != "" {
			return m.Key, true
		}
		if list, ok := m.Value.([]any); ok && len(list) > 0 {
			if below, ok := keyOf(list[0]); ok {
				return m.Key + "[*]." + below, true
			}
		}
	}
	return "", false
}

func recordedQueries(t *testing.T, dir string) []gql.Request {
	t.Helper()
	var out []gql.Request
	seen := map[string]bool{}
	for _, name := range []string{"cases.jsonl", "random.jsonl"} {
		raw, err := os.ReadFile(filepath.Join(dir, "graphql", name))
		if err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(bytes.NewReader(raw))
		lines.Buffer(nil, len(raw)+1)
		for lines.Scan() {
			v, err := bundle.ParseValue(lines.Bytes())
			if err != nil {
				t.Fatal(err)
			}
			o, _ := v.(*bundle.Object)
			variables, _ := o.Get("variables")
			vars, _ := variables.(*bundle.Object)
			key := o.String("query") + bundle.Canonical(variables)
			if !seen[key] && !strings.HasPrefix(o.String("name"), "error-") {
				seen[key] = true
				out = append(out, gql.Request{Query: o.String("query"), Operation: o.String("operationName"), Variables: vars})
			}
		}
	}
	return out
}
