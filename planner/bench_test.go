//go:build unix

package planner_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/app-sre/prcheck/planner"
)

// BenchmarkPlan opens a pair of bundles of ten thousand datafiles with ten
// changes and plans a hundred integrations with queries. Its peer decodes the
// pair with encoding/json and compares the datafiles, which is the least that a
// planner does that works on decoded bundles; the ratio of the two is reported.
//
// To compare with qontract-server's own way, keep the files with -work, or
// write them to a folder that stays, and let Node do JSON.parse of both and
// microdiff(base.data, head.data, {cyclesFix: false}); take the CPU time of
// either (process.cpuUsage, and the cpu-ms/op of the benchmark).
func BenchmarkPlan(b *testing.B) {
	dir := b.TempDir()
	settings := fleetFiles(b, dir, 10_000)
	var peer, ours float64
	b.Run("decode-and-compare", func(b *testing.B) {
		clock := startClock(b)
		for b.Loop() {
			if n := decodeAndCompare(b, dir); n != 10 {
				b.Fatalf("%d files differ", n)
			}
		}
		peer = clock.stop()
	})
	b.Run("plan", func(b *testing.B) {
		clock := startClock(b)
		for b.Loop() {
			if p, err := planner.Make(b.Context(), fleetInput(b, dir, settings)); err != nil || len(p.Integrations) != 100 {
				b.Fatal(err)
			}
		}
		ours = clock.stop()
		if peer > 0 {
			b.ReportMetric(peer/ours, "times-faster")
		}
	})
	b.Run("verify", func(b *testing.B) {
		p, err := planner.Make(b.Context(), fleetInput(b, dir, settings))
		if err != nil {
			b.Fatal(err)
		}
		for b.Loop() {
			r, err := planner.Verify(b.Context(), fleetInput(b, dir, settings), p)
			if err != nil || len(r.Refuted) > 0 {
				b.Fatal(r.Refuted, err)
			}
		}
	})
	b.Run("plan-with-inputs", func(b *testing.B) { // as with a state in which no result is found, and a memory of base
		memory := kept{}
		warm := fleetInput(b, dir, settings)
		warm.Results, warm.Memory = results{}, memory
		if _, err := planner.Make(b.Context(), warm); err != nil {
			b.Fatal(err)
		}
		clock := startClock(b)
		tasks := 0
		for b.Loop() {
			in := fleetInput(b, dir, settings)
			in.Results, in.Memory = results{}, memory
			p, err := planner.Make(b.Context(), in)
			if err != nil {
				b.Fatal(err)
			}
			tasks = len(p.Tasks)
		}
		b.ReportMetric(float64(tasks), "tasks")
		if with := clock.stop(); ours > 0 {
			b.ReportMetric(with/ours, "times-plan")
		}
	})
}

// BenchmarkVerify replays the plan of 140 integrations over ten thousand datafiles.
func BenchmarkVerify(b *testing.B) {
	dir := b.TempDir()
	settings := fleetOf(b, dir, 10_000, 140)
	p, err := planner.Make(b.Context(), fleetInput(b, dir, settings))
	if err != nil || len(p.Integrations) != 140 {
		b.Fatal(err)
	}
	clock := startClock(b)
	for b.Loop() {
		r, err := planner.Verify(b.Context(), fleetInput(b, dir, settings), p)
		if err != nil || len(r.Refuted) > 0 {
			b.Fatal(r.Refuted, err)
		}
	}
	clock.stop()
}

// kept is a memory.
type kept map[string][]byte

func (k kept) Recall(key string) ([]byte, bool) {
	raw, ok := k[key]
	return raw, ok
}

func (k kept) Remember(key string, raw []byte) { k[key] = raw }

// decodeAndCompare returns how many datafiles differ.
func decodeAndCompare(b *testing.B, dir string) int {
	sides := map[string]map[string]any{}
	for _, name := range []string{"base.json", "head.json"} {
		raw, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			b.Fatal(err)
		}
		var whole any
		if err := json.Unmarshal(raw, &whole); err != nil {
			b.Fatal(err)
		}
		sides[name] = whole.(map[string]any)["data"].(map[string]any)
	}
	base, head := sides["base.json"], sides["head.json"]
	n := 0
	for path, file := range base {
		if other, ok := head[path]; !ok || !reflect.DeepEqual(file, other) {
			n++
		}
	}
	for path := range head {
		if _, ok := base[path]; !ok {
			n++
		}
	}
	return n
}
