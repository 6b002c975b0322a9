package classes_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/internal/shared"
	"github.com/app-sre/prcheck/natives/openapi"
	"github.com/app-sre/prcheck/natives/openapi/classes"
	"github.com/app-sre/prcheck/natives/openapi/resources"
)

// corpus returns the documents of the shared specifications, without the examples.
func corpus(t testing.TB) []*openapi.Document {
	t.Helper()
	dir := shared.Path(t, "data", "specs")
	set := openapi.NewSet(files(dir), openapi.Limits{})
	var out []*openapi.Document
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || !strings.HasSuffix(name, ".json") || strings.Contains(name, "/examples/") {
			return err
		}
		d, err := set.Document(name)
		out = append(out, d)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func corpusTypes(t testing.TB) []*resources.Type {
	t.Helper()
	index := resources.NewIndex(corpus(t))
	if mistakes := index.Mistakes(); mistakes != nil {
		t.Fatal(mistakes)
	}
	return index.Types()
}

// All types of the shared specifications are classified, no reference of them is broken, and
// each listed property is explained as it is listed.
func TestCorpus(t *testing.T) {
	types := corpusTypes(t)
	if len(types) < 80 {
		t.Errorf("got %d types only", len(types))
	}
	for _, one := range types {
		c, err := classes.New(one)
		if err != nil {
			t.Fatal(err)
		}
		all, isCut, err := c.All()
		if err != nil || isCut {
			t.Fatal(isCut, err)
		}
		for i, p := range all {
			if i%17 != 0 { // some of them are enough
				continue
			}
			for _, name := range []string{p.Path, p.Pattern} {
				got, err := c.Explain(name)
				if err != nil {
					t.Fatalf("%s %s: %v", one.ID(), name, err)
				}
				if got.Path != p.Path || got.Class() != p.Class() || got.Cyclic != p.Cyclic ||
					fmt.Sprint(got.List) != fmt.Sprint(p.List) && got.List.Kind != p.List.Kind {
					t.Errorf("%s %s: explained as %+v, listed as %+v", one.ID(), name, got, p)
				}
			}
		}
	}
}

// A tally counts what the examples of services say about classes.
type tally struct {
	bodies, sent, patched   int
	wrongRead, wrongPatched []string
}

// The classes are compared with what the examples of the services send: no property that is
// sent is read-only, and none that is patched create-only.
func TestBelievedClasses(t *testing.T) {
	var all tally
	for _, one := range corpusTypes(t) {
		if err := all.add(t, one); err != nil {
			t.Fatal(err)
		}
	}
	fmt.Printf("examples: %d bodies, %d properties sent, %d called read-only; %d patched, %d called create-only\n",
		all.bodies, all.sent, len(all.wrongRead), all.patched, len(all.wrongPatched))
	if len(all.wrongRead)+len(all.wrongPatched) > 0 {
		t.Errorf("sent and called read-only: %q; patched and called create-only: %q", all.wrongRead, all.wrongPatched)
	}
	if all.bodies < 33 || all.sent < 100 || all.patched < 29 {
		t.Errorf("the examples are not all read: %+v", all)
	}
}

func (a *tally) add(t *testing.T, one *resources.Type) error {
	c, err := classes.New(one)
	if err != nil {
		return err
	}
	seen, patched := map[string]bool{}, map[string]bool{}
	for _, verb := range []string{"put", "patch"} {
		operation := one.Document.Root.Get("paths").Get(one.Path).Get(verb)
		name := bodyName(one.Document, operation)
		for _, ref := range operation.Get("x-ms-examples").Items() {
			raw, err := one.Document.Place(ref).Follow()
			if errors.Is(err, fs.ErrNotExist) || err != nil {
				continue // not all services have their examples here
			}
			body := raw.Value.Get("parameters").Get(name)
			if body == nil {
				continue
			}
			a.bodies++
			for _, pointer := range leaves(body) {
				p, err := c.Explain(pointer)
				var missing *classes.PathError
				if errors.As(err, &missing) {
					continue // an example may be wrong
				}
				if err != nil {
					return err
				}
				if verb == "patch" && !patched[p.Path] {
					patched[p.Path] = true
					a.patched++
					if p.CreateOnly != nil {
						a.wrongPatched = append(a.wrongPatched, one.ID()+" "+p.Path)
					}
				}
				if !seen[p.Path] {
					seen[p.Path] = true
					a.sent++
					if p.ReadOnly != nil {
						a.wrongRead = append(a.wrongRead, one.ID()+" "+p.Path)
					}
				}
			}
		}
	}
	return nil
}

// bodyName returns the name of the parameter that is the body of an operation.
func bodyName(d *openapi.Document, operation *openapi.Value) string {
	for _, v := range operation.Get("parameters").Items() {
		p, err := d.Place(v).Follow()
		if err == nil && p.Value.Get("in").Text() == "body" {
			return p.Value.Get("name").Text()
		}
	}
	return ""
}

// leaves returns the JSON pointers of the scalars of a value.
func leaves(v *openapi.Value) []string {
	if v.Kind < openapi.Array {
		return []string{""}
	}
	var out []string
	for _, item := range v.Items() {
		last := "/" + path.Base(item.Pointer())
		for _, inner := range leaves(item) {
			if pointer := last + inner; !slices.Contains(out, pointer) {
				out = append(out, pointer)
			}
		}
	}
	return out
}
