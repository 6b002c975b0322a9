package classes_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/app-sre/prcheck/internal/shared"
	"github.com/app-sre/prcheck/natives/openapi"
	"github.com/app-sre/prcheck/natives/openapi/classes"
	"github.com/app-sre/prcheck/natives/openapi/resources"
)

// The largest shared specifications of both families.
var largest = []struct{ name, file string }{
	{"arm", "azure-2019-11-05/specification/compute/resource-manager/Microsoft.Compute/stable/2019-07-01/compute.json"},
	{"kubernetes", "kubernetes-openapi-v3/apis__apps__v1_openapi.json"},
}

// Reading a specification: its text, and the types that its addresses describe.
func BenchmarkRead(b *testing.B) {
	dir := shared.Path(b, "data", "specs")
	for _, one := range largest {
		b.Run(one.name, func(b *testing.B) {
			info, err := os.Stat(filepath.Join(dir, filepath.FromSlash(one.file)))
			if err != nil {
				b.Fatal(err)
			}
			b.SetBytes(info.Size())
			for b.Loop() {
				d, err := openapi.NewSet(files(dir), openapi.Limits{}).Document(one.file)
				if err != nil {
					b.Fatal(err)
				}
				if len(resources.NewIndex([]*openapi.Document{d}).Types()) == 0 {
					b.Fatal("no types")
				}
			}
		})
	}
}

// Classifying all properties of all types of a specification. The metric is for one type.
func BenchmarkClassify(b *testing.B) {
	dir := shared.Path(b, "data", "specs")
	for _, one := range largest {
		b.Run(one.name, func(b *testing.B) {
			types := 0
			for b.Loop() {
				b.StopTimer() // schemas are kept once they are read
				d, err := openapi.NewSet(files(dir), openapi.Limits{}).Document(one.file)
				if err != nil {
					b.Fatal(err)
				}
				index := resources.NewIndex([]*openapi.Document{d})
				b.StartTimer()
				for _, t := range index.Types() {
					c, err := classes.New(t)
					if err != nil {
						b.Fatal(err)
					}
					if _, _, err := c.All(); err != nil {
						b.Fatal(err)
					}
					types++
				}
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(types), "µs/type")
		})
	}
}

// Explaining one property of a specification that was not read before.
func BenchmarkExplainCold(b *testing.B) {
	dir := shared.Path(b, "data", "specs")
	for b.Loop() {
		set := openapi.NewSet(files(dir), openapi.Limits{})
		c, err := classes.New(typeAt(b, set, largest[1].file, "/apis/apps/v1/namespaces/{namespace}/deployments/{name}"))
		if err != nil {
			b.Fatal(err)
		}
		if _, err := c.Explain("spec.template.spec.containers[].ports"); err != nil {
			b.Fatal(err)
		}
	}
}
