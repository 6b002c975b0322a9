package manager

import (
	"fmt"
	"testing"
)

// large returns data with 140 integrations and 1,000 shards.
func large(t testing.TB) *testData {
	t.Helper()
	d := example(t)
	delete(d.Data, "/accounts/production.yml")
	delete(d.Data, "/accounts/staging.yml")
	for i := range 86 {
		d.Data[fmt.Sprintf("/accounts/%d.yml", i)] = object{"$schema": "/aws/account-1.yml",
			"name": fmt.Sprintf("account-%d", i)}
	}
	for i := range 138 {
		name := fmt.Sprintf("integration-%d", i)
		it := d.copyOf(managerFile, "/integrations/"+name+".yml", object{"name": name})
		if i < 9 {
			it["managed"].([]any)[0].(object)["sharding"] = object{"strategy": "per-aws-account"}
		}
	}
	return d
}

// The desired state of 140 integrations with 1,000 shards is made in well under a second: by
// far most of the time goes into the objects.
func BenchmarkDesired(b *testing.B) {
	query, settings := large(b).query(b), settingsOf(b, "")
	for b.Loop() {
		got, err := desired(b.Context(), query, settings)
		if err != nil {
			b.Fatal(err)
		}
		if n := len(got.Parts[0].Items); n < 990 {
			b.Fatalf("got %d items", n)
		}
	}
}
