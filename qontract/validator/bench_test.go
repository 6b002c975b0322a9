package validator

import (
	"path/filepath"
	"testing"

	"github.com/app-sre/prcheck/internal/shared"
	"github.com/app-sre/prcheck/qontract/bundle"
)

// BenchmarkJSONSchemas decodes every datafile and checks it against its JSON schema, on one
// processor.
func BenchmarkJSONSchemas(b *testing.B) {
	head, err := bundle.Open(filepath.Join(shared.Path(b, "data", "bundles"), "generated-300-head.json"), nil)
	if err != nil {
		b.Fatal(err)
	}
	c := &checker{head: head, types: readTypes(head.GraphQL()), library: newLibrary(head)}
	c.compileSchemasOf(c.selectAll())
	bytes := 0
	for _, f := range head.Datafiles() {
		bytes += len(f.Raw())
	}
	b.SetBytes(int64(bytes))
	b.ReportAllocs()
	for b.Loop() {
		for _, f := range head.Datafiles() {
			if _, found := c.checkFile(Finding{}, f.Decode()); len(found) > 0 {
				b.Fatal(found)
			}
		}
	}
	b.ReportMetric(float64(b.N*len(head.Datafiles()))/b.Elapsed().Seconds(), "files/s")
}
