package render

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/doubles/kubetest"
	"github.com/app-sre/prcheck/natives/manifests"
)

// A real API server accepts, with strict checks, all that is rendered in the default mode and
// in parity mode.
func TestServersAcceptWhatIsRendered(t *testing.T) {
	real := kubetest.Start(t)
	accepts(t, real, Service())
	pods, err := ParsePodTemplate("pods.yml",
		[]byte(strings.Replace(ownTemplate, "${{APP_INTERFACE_PROJECT_ID}}", "${{SLEEP_DURATION_SECS}}", 1)))
	if err != nil {
		t.Fatal(err)
	}
	for seed := range uint64(60) {
		it := randomIntegration(rand.New(rand.NewPCG(seed, 2)))
		o := Options{Parity: seed%3 == 0, GovSlack: seed%5 == 0}
		if seed%7 == 0 {
			o.Pod = pods
		}
		objects, mistakes := Objects(it, nil, o)
		if len(objects) == 0 {
			t.Fatalf("%+v: %v", it, mistakes)
		}
		for _, object := range objects {
			accepts(t, real, object)
		}
	}
}

// accepts lets the server try to apply an object.
func accepts(t *testing.T, real *kubetest.Real, object manifests.Object) {
	t.Helper()
	raw, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	resource := manifests.Named(object["kind"].(string))
	at := "/apis/" + resource.Group + "/" + resource.Version
	if resource.Group == "" {
		at = "/api/" + resource.Version
	}
	path := fmt.Sprintf("%s/namespaces/default/%s/%s?dryRun=All&fieldManager=test&fieldValidation=Strict", at,
		resource.Plural, object["metadata"].(fields)["name"])
	code, answer := real.Send(t, "admin", http.MethodPatch, path, "application/apply-patch+yaml", string(raw))
	if code != http.StatusOK && code != http.StatusCreated {
		t.Errorf("%d: %s\n%s", code, answer, raw)
	}
}
