package simulation

import (
	"context"
	"maps"
	"net/http"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/internal/shared"
	"github.com/app-sre/prcheck/natives/generic"
	"github.com/app-sre/prcheck/natives/generic/cloudtest"
	"github.com/app-sre/prcheck/state/statetest"
)

// importAs imports a resource with what stands in it into the data.
func (w *world) importAs(id string) error {
	n := generic.Importer(generic.ImportOptions{ID: id, WithChildren: true, Folder: "cloud",
		Save: func(all []generic.Imported) error {
			for _, one := range all {
				w.put("/"+one.File, cloudtest.Fields{"type": one.Entry.Type, "resourceId": one.Entry.ResourceID,
					"body": one.Entry.Body})
			}
			return nil
		}})
	return n.Run(w.t.Context(), w.environment(nil), integration.Actors{State: w.state,
		Endpoint: func(context.Context, integration.EndpointRef) (http.RoundTripper, error) { return wire{world: w}, nil }})
}

// The plan is empty after an import of resources of Azure that have no mark, by Azure's own
// specifications.
func TestImportFromAzure(t *testing.T) {
	tree := os.DirFS(shared.Path(t, "data", "specs", "azure-2019-11-05", "specification"))
	synctest.Test(t, func(t *testing.T) {
		w := newAzure(t, tree, azureFiles...)
		w.Slow(40*time.Second, 10*time.Second)
		for file, e := range azureEntries() {
			w.put(file, e)
		}
		w.must()
		maps.DeleteFunc(w.data.Data, func(file string, _ cloudtest.Fields) bool { return azureEntries()[file] != nil })
		w.state, w.query = statetest.NewMemory(), nil
		ids := w.IDs()
		for _, id := range ids {
			w.Edit(id, func(body map[string]any) {
				tags, _ := body["tags"].(map[string]any)
				maps.DeleteFunc(tags, func(name string, _ any) bool { return strings.HasPrefix(name, "qontract-") })
			})
		}
		for _, id := range ids {
			if isChild := strings.Count(id, "/") > 8; isChild {
				continue
			}
			if err := w.importAs(id); err != nil {
				t.Fatalf("%s: %v", id, err)
			}
		}
		w.Forget()
		for range 3 {
			time.Sleep(15 * time.Minute)
			w.must()
			if len(w.Writes()) > 0 || len(w.deeds) > 0 {
				t.Fatalf("%v %v\n%s", w.Writes(), w.deeds, w.log.String())
			}
		}
		if n := len(w.data.Data); n < len(ids) {
			t.Errorf("%d datafiles for %d resources", n, len(ids))
		}
	})
}
