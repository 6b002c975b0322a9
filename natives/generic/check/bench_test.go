package check_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sync/errgroup"

	"github.com/app-sre/prcheck/affected"
	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/internal/shared"
	"github.com/app-sre/prcheck/natives/generic/check"
	"github.com/app-sre/prcheck/natives/generic/cloud"
	"github.com/app-sre/prcheck/natives/generic/cloudtest"
	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/qontract/gql"
)

// large returns data with 2,000 resources, of which a change moves some. Its specifications are
// those of real services, if the shared data are here.
func large(t testing.TB, changed int) *cloudtest.World {
	w := cloudtest.New("https://arm.example")
	const azure = "azure-2019-11-05/specification"
	dir := shared.Path(t, "data", "specs", azure)
	for _, name := range []string{
		"common-types/resource-management/v1/types.json",
		"compute/resource-manager/Microsoft.Compute/stable/2019-07-01/compute.json",
		"redis/resource-manager/Microsoft.Cache/stable/2018-03-01/redis.json",
		"storage/resource-manager/Microsoft.Storage/stable/2019-06-01/storage.json",
	} {
		raw, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
		if err != nil {
			t.Skip(err)
		}
		w.Resources["/"+name] = string(raw)
		if strings.HasPrefix(name, "common-types") {
			continue
		}
		w.Data[cloudtest.API]["specifications"] = append(w.Data[cloudtest.API]["specifications"].([]any), "/"+name)
	}
	for i := range 2000 {
		location := "westus"
		if i < changed {
			location = "eastus"
		}
		properties := object{"sku": object{"name": "Basic", "family": "C", "capacity": 1}, "enableNonSslPort": i%2 == 0,
			"redisConfiguration": object{"a": "1"}}
		w.Add(fmt.Sprintf("/r/%d.yml", i), object{"type": "Microsoft.Cache/Redis@2018-03-01", "name": fmt.Sprintf("r%d", i),
			"parent": cloudtest.Group,
			"body":   object{"location": location, "tags": object{"n": fmt.Sprint(i)}, "properties": properties}})
	}
	return w
}

func queryOf(t testing.TB, raw []byte) integration.QueryFunc {
	t.Helper()
	b, err := bundle.Parse(raw, nil)
	if err != nil {
		t.Fatal(err)
	}
	schema, err := gql.NewSchema(b.GraphQL())
	if err != nil {
		t.Fatal(err)
	}
	return affected.PartialQuerier(gql.New(b, schema))
}

// The check of 2,000 resources of which 10 change. Cold is from the bytes of both bundles; warm
// is with specifications that were read before.
func BenchmarkCheck(b *testing.B) {
	base, head := large(b, 0).Bundle(b), large(b, 10).Bundle(b)
	check10 := func(b *testing.B, reader *cloud.Reader, queries [2]integration.QueryFunc) {
		b.Helper()
		var models [2]*cloud.Model
		var both errgroup.Group
		for i, q := range queries {
			both.Go(func() (err error) {
				models[i], err = reader.Read(b.Context(), q)
				return err
			})
		}
		if err := both.Wait(); err != nil {
			b.Fatal(err)
		}
		if r := check.Run(models[0], models[1]); r.Changed != 10 || len(r.Findings) != 10 {
			b.Fatalf("got %d changed, %v", r.Changed, r.Findings[:min(3, len(r.Findings))])
		}
	}
	b.Run("cold", func(b *testing.B) {
		for b.Loop() {
			check10(b, &cloud.Reader{}, [2]integration.QueryFunc{queryOf(b, base), queryOf(b, head)})
		}
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		b.ReportMetric(float64(m.Sys)/(1<<20), "MiB-sys")
	})
	b.Run("warm", func(b *testing.B) {
		reader := &cloud.Reader{}
		queries := [2]integration.QueryFunc{queryOf(b, base), queryOf(b, head)}
		check10(b, reader, queries)
		for b.Loop() {
			check10(b, reader, queries)
		}
	})
	b.Run("models", func(b *testing.B) {
		reader := &cloud.Reader{}
		var models [2]*cloud.Model
		for i, raw := range [][]byte{base, head} {
			var err error
			if models[i], err = reader.Read(b.Context(), queryOf(b, raw)); err != nil {
				b.Fatal(err)
			}
		}
		for b.Loop() {
			check.Run(models[0], models[1])
		}
	})
}
