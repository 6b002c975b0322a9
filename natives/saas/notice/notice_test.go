package notice_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/app-sre/prcheck/natives/saas/ledger"
	"github.com/app-sre/prcheck/natives/saas/notice"
)

var begin = time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)

// However a book grows, also at one moment, and whenever somebody looks, each event is told once, and what was before
// the first look is not.
func TestEachEventIsToldOnce(t *testing.T) {
	for seed := range uint64(500) {
		random := rand.New(rand.NewPCG(seed, 1))
		b := ledger.New("u", "shop/web").Append(ledger.Run{Commit: "old", At: begin.Add(-time.Hour), Result: ledger.Good})
		mark := notice.Mark{At: begin}
		memory := notice.Memory{Runs: mark, Checks: mark, Entries: mark}
		told, events, now := map[string]int{}, 0, begin
		look := func() {
			var news []notice.Notice
			news, memory = notice.Of(b, memory)
			for _, n := range news {
				if told[n.ID]++; n.Commit == "old" || n.Target != "shop/web" {
					t.Fatalf("seed %d: told %+v", seed, n)
				}
			}
		}
		for i := range 40 {
			now = now.Add(time.Duration(random.IntN(3)) * time.Second) // often none
			commit := fmt.Sprintf("c%d", i)
			switch events++; random.IntN(3) {
			case 0:
				b = b.Append(ledger.Run{Commit: commit, At: now, Result: ledger.Failed, Why: "x"})
			case 1:
				b = b.Append(ledger.Run{Commit: commit, At: now, Result: ledger.Good, Check: &ledger.Check{Result: ledger.Good,
					Done: now}})
				events++
			case 2:
				b = b.Say(ledger.Entry{At: now, Verb: ledger.Rejected, Commit: commit, Who: "jane"})
			}
			if random.IntN(2) == 0 {
				look()
			}
		}
		look()
		look()
		if len(told) != events {
			t.Fatalf("seed %d: %d of %d events were told", seed, len(told), events)
		}
		for id, n := range told {
			if n != 1 {
				t.Fatalf("seed %d: %s was told %d times", seed, id, n)
			}
		}
	}
}

// A run is no success before its verification is one.
func TestStatesOfRun(t *testing.T) {
	good, bad := &ledger.Check{Result: ledger.Good, Done: begin}, &ledger.Check{Result: ledger.Failed, Done: begin}
	for _, c := range []struct {
		run  ledger.Run
		want string
	}{
		{ledger.Run{Result: ledger.Good}, "success"},
		{ledger.Run{Result: ledger.Good, Check: &ledger.Check{}}, "pending"},
		{ledger.Run{Result: ledger.Good, Check: good}, "success success"},
		{ledger.Run{Result: ledger.Good, Check: bad}, "pending failure"},
		{ledger.Run{Result: ledger.Failed, Check: &ledger.Check{}}, "failure"},
		{ledger.Run{Result: ledger.Ended}, ""},
	} {
		c.run.Commit, c.run.At = "c", begin
		news, _ := notice.Of(ledger.New("u", "shop/web").Append(c.run), notice.Memory{})
		var got []string
		for _, n := range news {
			got = append(got, n.State())
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%+v: got %q, want %q", c.run, got, c.want)
		}
	}
}

// A wait is told when it begins, and again when it began anew; a commit that soaks in the place of another one is no
// news.
func TestWaits(t *testing.T) {
	var m notice.Memory
	soak := func(commit string) []notice.Wait { return []notice.Wait{{UID: "u", Code: "soak", Commit: commit}} }
	for i, c := range []struct {
		waits []notice.Wait
		want  int
	}{{soak("a"), 1}, {soak("a"), 0}, {soak("b"), 0}, {nil, 0}, {soak("b"), 1},
		{[]notice.Wait{{UID: "u", Code: "rejected", Commit: "a"}}, 1},
		{[]notice.Wait{{UID: "u", Code: "rejected", Commit: "b"}}, 1},
		{[]notice.Wait{{UID: "u", Code: "unknown", Outage: "x"}}, 0}} {
		var news []notice.Notice
		if news, m = notice.Began(c.waits, m, begin); len(news) != c.want {
			t.Errorf("%d: told %+v, want %d", i, news, c.want)
		}
	}
}
