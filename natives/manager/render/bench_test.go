package render

import (
	"fmt"
	"testing"
)

// BenchmarkObjects renders an integration with 1,000 shards.
func BenchmarkObjects(b *testing.B) {
	it := plain(nil)
	it.Shards = nil
	for i := range 1000 {
		it.Shards = append(it.Shards, Shard{Shards: "1000", ID: fmt.Sprint(i), Suffix: fmt.Sprint("-", i)})
	}
	b.ReportAllocs()
	for b.Loop() {
		if objects, mistakes := Objects(it, nil, Options{}); len(objects) != 1000 {
			b.Fatal(mistakes)
		}
	}
}
