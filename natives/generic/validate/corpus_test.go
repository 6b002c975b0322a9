package validate_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/internal/shared"
	"github.com/app-sre/prcheck/natives/generic/rules"
	"github.com/app-sre/prcheck/natives/generic/validate"
	"github.com/app-sre/prcheck/natives/openapi"
	"github.com/app-sre/prcheck/natives/openapi/classes"
	"github.com/app-sre/prcheck/natives/openapi/resources"
	"github.com/app-sre/prcheck/plan"
)

// The bodies that services show as examples of PUT are allowed by their own specifications, but
// for secrets, which no data should have.
func TestExamplesAreValid(t *testing.T) {
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
	bodies, wrong := 0, 0
	for _, one := range resources.NewIndex(documents).Types() {
		operation := one.Document.Root.Get("paths").Get(one.Path).Get("put")
		for _, ref := range operation.Get("x-ms-examples").Items() {
			example, err := one.Document.Place(ref).Follow()
			if err != nil {
				continue // not all services have their examples here
			}
			body := example.Value.Get("parameters").Get(bodyName(one.Document, operation))
			if body == nil {
				continue
			}
			c, err := classes.New(one, shipped)
			if err != nil {
				t.Fatal(err)
			}
			typ, err := validate.NewType(one, rules.Of(c, nil), nil)
			if err != nil {
				t.Fatal(err)
			}
			bodies++
			for _, f := range typ.Check(validate.Body{Value: body.Decode()}) {
				if f.Severity == plan.SeverityError && f.Code != validate.CodeSecret || f.Code == validate.CodeRange {
					wrong++
					t.Errorf("%s %s: %s %s: %s (%v)", one.ID(), example.Document.Name, f.Code, f.Pointer, f.Message, f.Value)
				}
			}
		}
	}
	fmt.Printf("examples: %d bodies of PUT, %d mistakes\n", bodies, wrong)
	if bodies < 25 || wrong > 0 {
		t.Errorf("of %d bodies %d values are called mistakes", bodies, wrong)
	}
}

// bodyName returns the name of the parameter that is the body of an operation.
func bodyName(d *openapi.Document, operation *openapi.Value) string {
	for _, p := range operation.Get("parameters").Items() {
		if end, err := d.Place(p).Follow(); err == nil && end.Value.Get("in").Text() == "body" {
			return end.Value.Get("name").Text()
		}
	}
	return ""
}
