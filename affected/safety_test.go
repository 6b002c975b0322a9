package affected

import (
	"bufio"
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/bundle"
	"github.com/app-sre/prcheck/gql"
	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/plan"
)

// No integration is skipped whose full evaluation differs between base and
// head: every recorded query over every recorded pair of bundles, each as the
// query of an integration.
func TestNoWrongSkip(t *testing.T) {
	dir := sharedDir(t)
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
			var c counts
			for _, req := range queries {
				c.check(t, base, head, req)
			}
			t.Logf("%+v: over-selection %.1f %%", c, 100*float64(c.tooMuch)/float64(max(1, c.run)))
			if c.run == 0 && pair != "app-interface" || c.skipped == 0 {
				t.Errorf("got %+v, want some of each", c)
			}
		})
	}
}

// counts tell how often a judgement was right.
type counts struct {
	run, skipped, fields, state, tooMuch, doubts int
}

// check judges one query over one pair and compares with evaluating it whole.
func (c *counts) check(t *testing.T, base, head *bundle.Bundle, req gql.Request) {
	t.Helper()
	w := NewWorld(base, head, bundle.Compare(base, head))
	e, err := w.engines()
	if err != nil {
		t.Fatal(err)
	}
	compiled, err := e.baseSchema.Compile(req)
	if err != nil {
		return // made for the types of another bundle
	}
	s := Subject{Queries: []Query{{Name: "q", Text: req.Query, base: compiled, head: compiled}}}
	d := plan.Decision{Decision: plan.Skip, Rung: plan.RungSchema}
	w.Judge(context.Background(), s, true, &d)

	before, after := e.base.Execute(context.Background(), compiled), e.head.Execute(context.Background(), compiled)
	same := Digest([]any{before.Data}, integration.OrderIgnored) == Digest([]any{after.Data}, integration.OrderIgnored)
	switch {
	case d.Decision == plan.Skip && !same:
		t.Errorf("skipped at %s (%s), but the answers differ:\n%s", d.Rung, d.Reason, req.Query)
	case d.Decision == plan.Skip:
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
				t.Errorf("runs at %s (%s), but the answers are the same:\n%s", d.Rung, d.Reason, req.Query)
			}
		}
	}
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

func sharedDir(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("PRCHECK_SHARED")
	if dir == "" {
		dir = filepath.Join("..", "..", "shared")
	}
	dir = filepath.Join(dir, "data")
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("the recorded bundles and queries are not here: %v", err)
	}
	return dir
}
