package manifests_test

import (
	"encoding/json"
	"testing"

	"github.com/app-sre/prcheck/natives/manifests"
)

// A quiet loop over 1,000 shards reads and compares each object.
func BenchmarkQuiet(b *testing.B) {
	want := manifest(b, manifests.Deployment)
	raw, err := json.Marshal(lived(b, want))
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		is, err := manifests.Read(manifests.Deployment, raw, options)
		if err != nil {
			b.Fatal(err)
		}
		if d, err := manifests.Diff(want, is, options); err != nil || len(d.Changes) > 0 {
			b.Fatalf("got %+v, %v", d, err)
		}
	}
}
