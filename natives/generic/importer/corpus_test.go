package importer

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/internal/shared"
	"github.com/app-sre/prcheck/natives/generic/family"
	"github.com/app-sre/prcheck/natives/generic/rules"
	"github.com/app-sre/prcheck/natives/generic/validate"
	"github.com/app-sre/prcheck/natives/openapi"
	"github.com/app-sre/prcheck/natives/openapi/classes"
	"github.com/app-sre/prcheck/natives/openapi/resources"
	"github.com/app-sre/prcheck/plan"
)

// After an import of what services show as examples of their answers the plan is empty, and the
// data have no mistake.
func TestExamplesAreImported(t *testing.T) {
	dir := shared.Path(t, "data", "specs")
	set := openapi.NewSet(func(name string, _ int64) ([]byte, error) { return os.ReadFile(filepath.Join(dir, name)) },
		openapi.Limits{})
	var documents []*openapi.Document
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || !strings.HasSuffix(name, ".json") || strings.Contains(name, "/examples/") {
			return err
		}
		d, err := set.Document(name)
		documents = append(documents, d)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	shipped, err := classes.Shipped()
	if err != nil {
		t.Fatal(err)
	}
	answers, refused := 0, 0
	for _, one := range resources.NewIndex(documents).Types() {
		c, err := classes.New(one, shipped)
		if err != nil {
			t.Fatal(err)
		}
		known := rules.Of(c, nil)
		for _, verb := range []string{"get", "put", "patch"} {
			for _, ref := range one.Document.Root.Get("paths").Get(one.Path).Get(verb).Get("x-ms-examples").Items() {
				example, err := one.Document.Place(ref).Follow()
				if err != nil {
					continue // not all services have their examples here
				}
				live := example.Value.Get("responses").Get("200").Get("body")
				if !live.IsObject() {
					continue
				}
				answers++
				typ, err := validate.NewType(one, known, nil)
				if err != nil {
					t.Fatal(err)
				}
				got := Strip(live.Decode(), known, family.ARM, ours)
				got.Refuse(typ)
				checkEmpty(t, live.Decode(), got, known)
				refused += len(got.Refused)
				for _, f := range typ.Check(validate.Body{Value: got.Body}) {
					if f.Severity == plan.SeverityError {
						t.Errorf("%s: the data have a mistake: %s %s: %s", one.ID(), f.Code, f.Pointer, f.Message)
					}
				}
			}
		}
	}
	fmt.Printf("examples: %d answers were imported, and %d values left out that the specification does not allow\n",
		answers, refused)
	if answers < 20 {
		t.Errorf("only %d answers", answers)
	}
}
