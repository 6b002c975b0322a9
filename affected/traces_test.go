package affected

import (
	"context"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/qontract/gql"
	"github.com/app-sre/prcheck/settings"
	"github.com/app-sre/prcheck/trace"
)

// A program is an integration as far as it can be seen from outside: it asks a
// side and gets an answer, over and over.
type program func(ask func(trace.Side, gql.Request) string)

// fixed asks always the same.
func fixed(seed uint64) program {
	return func(ask func(trace.Side, gql.Request) string) {
		r := rand.New(rand.NewPCG(seed, 2))
		for range 1 + r.IntN(3) {
			ask(trace.Head, gql.Request{Query: shopQueries[r.IntN(len(shopQueries))]})
		}
	}
}

// adaptive asks what the answers so far make it ask: another query, a variable
// that an answer gave, or base as well.
func adaptive(seed uint64) program {
	return func(ask func(trace.Side, gql.Request) string) {
		said := fmt.Sprint(seed)
		for range 1 + seed%5 {
			h := fnv.New64a()
			_, _ = h.Write([]byte(said))
			r := rand.New(rand.NewPCG(h.Sum64(), seed))
			side, req := trace.Head, gql.Request{Query: shopQueries[r.IntN(len(shopQueries))]}
			if r.IntN(4) == 0 {
				side = trace.Base
			}
			if r.IntN(3) == 0 {
				req = gql.Request{
					Query:     "query One($n: String) { products(name: $n) { name cents supplier { name } } }",
					Operation: "One",
					Variables: bundle.NewObject(bundle.Member{Key: "n", Value: nameIn(said)}),
				}
			}
			said += ask(side, req)
		}
	}
}

// nameIn returns the last name that an answer holds.
func nameIn(said string) string {
	if i := strings.LastIndex(said, `"name":"`); i >= 0 {
		name, _, _ := strings.Cut(said[i+len(`"name":"`):], `"`)
		return name
	}
	return "lamp"
}

// watch runs a program over two bundles. It returns all that it saw and the
// trace of it.
func watch(t *testing.T, p program, base, head *bundle.Bundle) (string, *trace.Trace) {
	t.Helper()
	e, err := NewComparison(base, head, nil, Options{}).newEngines()
	if err != nil {
		t.Fatal(err)
	}
	var seen strings.Builder
	recorder := trace.NewRecorder(base.SHA256(), head.SHA256())
	p(func(side trace.Side, req gql.Request) string {
		engine, path, sha := e.head, "/graphqlsha/"+head.SHA256(), head.SHA256()
		if side == trace.Base {
			engine, path, sha = e.base, "/graphqlsha/"+base.SHA256(), base.SHA256()
		}
		res := engine.Answer(context.Background(), req)
		body := string(res.JSON())
		recorder.Note(trace.Exchange{Path: path, SHA256: sha, Request: &req, Response: res, Status: res.Status,
			Body: []byte(body)})
		fmt.Fprintf(&seen, "%s %s %v\n%s\n", side, req.Query, req.Variables, body)
		return body
	})
	return seen.String(), recorder.Trace(trace.TaskKey{Integration: "x"}, time.Time{})
}

// A trace proves a skip exactly when the program would see again what it saw
// when it passed, whatever it asks and whatever happened to base since. Under
// static, fixed queries are skipped exactly when no answer changed.
func TestRecallInTheShop(t *testing.T) {
	raw, err := os.ReadFile("../testdata/shop/base.json")
	if err != nil {
		t.Fatal(err)
	}
	var proven, doubted, static, changed, unaffected int
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 3))
		then := parseShop(t, shop(t, raw), nil)
		thenHead := damaged(t, r, raw, r.IntN(3))
		now := damaged(t, r, raw, r.IntN(2)) // base has moved on, or not
		nowHead := damaged(t, r, raw, r.IntN(3))
		w := NewComparison(now, nowHead, bundle.Compare(now, nowHead), Options{})
		checkUnaffected(t, w, &unaffected)
		for n := range uint64(20) {
			p := adaptive(seed*20 + n)
			saw, recorded := watch(t, p, then, thenHead)
			sees, _ := watch(t, p, now, nowHead)
			proof, why := w.FindProof(context.Background(), []*trace.Trace{recorded})
			switch {
			case proof != nil && saw != sees:
				t.Fatalf("seed %d, program %d: proven, but it sees something else:\n%s\n%s", seed, n, saw, sees)
			case proof == nil && saw == sees && then.SHA256() != thenHead.SHA256(): // or it is not known which side was asked
				t.Fatalf("seed %d, program %d: in doubt (%s), but it sees the same", seed, n, why)
			case proof != nil:
				proven++
			default:
				doubted++
			}

			q := fixed(seed*20 + n)
			_, recorded = watch(t, q, then, thenHead)
			onBase, _ := watch(t, q, now, now)
			onHead, _ := watch(t, q, nowHead, nowHead)
			why = w.CompareRequests(context.Background(), recorded)
			if (why == "") != (onBase == onHead) {
				t.Fatalf("seed %d, program %d: unchanged says %q, answers alike: %v", seed, n, why, onBase == onHead)
			}
			if why == "" {
				static++
				continue
			}
			changed++
			w.judgeRecorded(t, recorded)
		}
	}
	t.Logf("adaptive: %d proven, %d in doubt; static: %d unchanged, %d changed; %d unaffected", proven, doubted, static,
		changed, unaffected)
	if unaffected == 0 || proven == 0 || doubted == 0 || static == 0 || changed == 0 {
		t.Error("want some of each")
	}
}

// checkUnaffected holds what needs no evaluation to what evaluation says.
func checkUnaffected(t *testing.T, w *Comparison, n *int) {
	t.Helper()
	e, err := w.fullEngines()
	if err != nil {
		t.Fatal(err)
	}
	for _, query := range shopQueries {
		req := gql.Request{Query: query}
		if !w.isUnaffected(req) {
			continue
		}
		*n++
		base, head := e.base.Answer(context.Background(), req), e.head.Answer(context.Background(), req)
		if string(base.JSON()) != string(head.JSON()) {
			t.Fatalf("unaffected, but the answers differ: %s\n%s\n%s", query, base.JSON(), head.JSON())
		}
	}
}

// judgeRecorded takes the recorded queries as declared ones: with list order
// significant they are skipped only when all data is the same. What else is in
// an answer, the schemas it was made from, does not count then.
func (c *Comparison) judgeRecorded(t *testing.T, recorded *trace.Trace) {
	t.Helper()
	queries, err := c.RecordedQueries(recorded)
	if err != nil {
		t.Fatal(err)
	}
	d := c.Decide(context.Background(), Subject{Queries: queries, Order: settings.OrderSignificant}, true)
	if d.Action == plan.Run {
		return
	}
	e, err := c.fullEngines()
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range queries {
		base, head := e.base.Execute(context.Background(), q.base), e.head.Execute(context.Background(), q.head)
		if string(base.DataJSON()) != string(head.DataJSON()) {
			t.Fatalf("data changed, but it is to %s: %s\n%s", d.Action, d.Sentence(), q.Text)
		}
	}
}

// damaged is the shop with so many changes.
func damaged(t *testing.T, r *rand.Rand, raw []byte, times int) *bundle.Bundle {
	t.Helper()
	s := shop(t, raw)
	for range times {
		vandalize(r, s)
	}
	return parseShop(t, s, nil)
}

// A trace of a task that asked nothing proves nothing under static either.
func TestUnchangedNeedsRequests(t *testing.T) {
	b := parseCorners(t, corners, nil)
	w := NewComparison(b, b, bundle.Compare(b, b), Options{})
	if why := w.CompareRequests(context.Background(), &trace.Trace{}); why != "nothing was asked while it was recorded" {
		t.Errorf("got %q", why)
	}
}
