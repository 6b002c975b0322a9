package admission_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/app-sre/prcheck/natives/generic/admission"
	"github.com/app-sre/prcheck/natives/generic/cloud"
	"github.com/app-sre/prcheck/natives/generic/cloudtest"
)

// wide returns a specification whose type has 1,000 properties, and a body with all of them.
func wide(b *testing.B) (*cloudtest.World, func(n int) string) {
	b.Helper()
	groups, body := map[string]any{}, map[string]any{}
	for i := range 20 {
		properties, values := map[string]any{}, map[string]any{}
		for j := range 50 {
			properties[fmt.Sprintf("p%d", j)] = map[string]any{"type": "string", "pattern": "^[a-z0-9]+$",
				"x-ms-mutability": []string{"create", "read", "update"}}
			values[fmt.Sprintf("p%d", j)] = fmt.Sprintf("v%d", j)
		}
		groups[fmt.Sprintf("g%d", i)] = map[string]any{"type": "object", "properties": properties}
		body[fmt.Sprintf("g%d", i)] = values
	}
	var document map[string]any
	if err := json.Unmarshal([]byte(cloudtest.Specification), &document); err != nil {
		b.Fatal(err)
	}
	store := document["definitions"].(map[string]any)["Store"].(map[string]any)["properties"].(map[string]any)
	store["properties"] = map[string]any{"type": "object", "properties": groups}
	raw, err := json.Marshal(document)
	if err != nil {
		b.Fatal(err)
	}
	w := cloudtest.New("https://arm.example")
	w.Resources[cloudtest.Spec] = string(raw)
	return w, func(n int) string {
		body["g0"].(map[string]any)["p0"] = fmt.Sprintf("v%d", n)
		raw, err := json.Marshal(map[string]any{"location": "westus", "properties": body})
		if err != nil {
			b.Fatal(err)
		}
		return string(raw)
	}
}

// A review of a change of one of 1,000 properties. The first one, which reads the schemas,
// counts as well.
func BenchmarkReview(b *testing.B) {
	w, body := wide(b)
	m, err := new(cloud.Reader).Read(b.Context(), w.Query(b))
	if err != nil {
		b.Fatal(err)
	}
	k, err := admission.NewKnown(m, "")
	if err != nil {
		b.Fatal(err)
	}
	h := admission.NewHandler(k, admission.Options{})
	var took []time.Duration
	for n := 0; b.Loop(); n++ {
		raw := question("UPDATE", spec(body(n)), spec(body(n+1)))
		begin := time.Now()
		if _, got := post(b, h, raw); !got.Response.Allowed || got.Response.Warnings != nil {
			b.Fatalf("got %+v", got)
		}
		took = append(took, time.Since(begin))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "p99-ms")
	b.ReportMetric(float64(took[len(took)-1].Microseconds())/1000, "max-ms")
}
