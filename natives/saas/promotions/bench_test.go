package promotions

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sort"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/natives/saas"
	"github.com/app-sre/prcheck/natives/saas/ledger"
)

// A counted bucket counts what is read, and finds keys without a walk over all.
type counted struct {
	*scene
	keys         []string
	reads, lists atomic.Int64
}

func (c *counted) Get(ctx context.Context, key string) ([]byte, string, error) {
	c.reads.Add(1)
	return c.scene.Get(ctx, key)
}

func (c *counted) Keys(_ context.Context, prefix string) ([]string, error) {
	c.lists.Add(1)
	from := sort.SearchStrings(c.keys, prefix)
	to := from
	for to < len(c.keys) && strings.HasPrefix(c.keys[to], prefix) {
		to++
	}
	return c.keys[from:to], nil
}

// BenchmarkLoopOverLedgers measures a dry run over 3,000 targets whose ledgers had 200 runs each, in two worlds:
// nothing is newer, and a newer commit ran at the publisher of every target.
func BenchmarkLoopOverLedgers(b *testing.B) {
	for _, newer := range []bool{false, true} {
		b.Run(fmt.Sprintf("newer=%v", newer), func(b *testing.B) {
			s := newScene(b, 300, 5)
			query := s.query()
			m, err := saas.Read(b.Context(), query, saas.Settings{})
			if err != nil {
				b.Fatal(err)
			}
			begin := s.now.Add(-200 * time.Hour)
			largest := 0
			for _, t := range m.Targets() {
				book := ledger.New(t.UID(), t.Label())
				for i := range 200 {
					book = book.Append(ledger.Run{Commit: sha(1000 + i), At: begin.Add(time.Duration(i) * time.Hour),
						Result: ledger.Good, Config: "0123456789abcdef"})
				}
				book = book.Append(ledger.Run{Commit: sha(1), At: s.now.Add(-time.Hour), Result: ledger.Good}).Bounded()
				if newer && len(t.Promotion.Publish) > 0 {
					book = book.Append(ledger.Run{Commit: sha(2), At: s.now.Add(-time.Minute), Result: ledger.Good})
				}
				book.Generation, book.Writer = 1, "begin"
				raw, err := json.Marshal(book)
				if err != nil {
					b.Fatal(err)
				}
				key, err := ledger.Key(t.UID())
				if err != nil {
					b.Fatal(err)
				}
				s.bucket[key], largest = raw, max(largest, len(raw))
			}
			if newer {
				s.code = []string{sha(2), sha(1)}
			}
			c := &counted{scene: s, keys: slices.Sorted(maps.Keys(s.bucket))}
			env := s.envOver(query)
			env.Bucket = func(context.Context, string) (integration.BucketReader, error) { return c, nil }
			for b.Loop() {
				s.log.Reset()
				if err := s.native().DryRun(b.Context(), env); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(c.reads.Load())/float64(b.N), "reads/op")
			b.ReportMetric(float64(c.lists.Load())/float64(b.N), "lists/op")
			b.ReportMetric(float64(largest), "bytes/book")
		})
	}
}
