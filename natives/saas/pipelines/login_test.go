package pipelines

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/app-sre/prcheck/integration/services"
	"github.com/app-sre/prcheck/natives/saas/saastest"
)

// A guarded registry has the images that one login opens.
type guarded struct {
	*testScene
	opens services.Login

	mu  sync.Mutex
	got []string
}

func (g *guarded) Digest(_ context.Context, image services.Image) (string, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	name, _, _ := strings.Cut(image.Name, ":")
	g.got = append(g.got, fmt.Sprintf("%s %s:%s", name, image.Login.User, image.Login.Password))
	if image.Login != g.opens {
		return "", errDown
	}
	return "sha256:0", nil
}

// loginScene returns a scene in which stage of shop waits for an image.
func loginScene(t *testing.T, opens services.Login) (*testScene, *guarded) {
	w := saastest.New()
	w.Set(saastest.File, []any{map[string]any{"org": saastest.Ref(saastest.QuayOrg), "name": "shop"}}, "resourceTemplates",
		0, "targets", 0, "images")
	s := newTestScene(t, w)
	return s, &guarded{testScene: s, opens: opens}
}

// A registry gets the login of the settings, whatever secret the data name; without one the
// fields user and token of that secret; and nothing if its host is not named.
func TestLoginsOfRegistries(t *testing.T) {
	for own, want := range map[string]string{
		"{records: s3://records, hosts: [quay.io], logins: {quay.io: {user: robot, path: ours/quay, field: token}}}": "robot:secret-ours/quay",
		"{records: s3://records, logins: {quay.io: {user: robot, path: ours/quay, field: token}}}":                   "robot:secret-ours/quay",
		"{records: s3://records, hosts: [quay.io]}":                                                                  "secret-app/image:secret-app/image",
		"{records: s3://records}": ":",
	} {
		user, password, _ := strings.Cut(want, ":")
		s, registry := loginScene(t, services.Login{User: user, Password: password})
		s.own = own
		s.begin()
		all := s.services()
		all.Registry = registry
		if err := New(all).DryRun(t.Context(), s.env()); err != nil {
			t.Errorf("%s: %v", own, err)
		}
		if got := slices.Compact(registry.got); !slices.Equal(got, []string{"quay.io/acme/shop " + want}) {
			t.Errorf("%s: the registry got %q, want %q", own, got, want)
		}
		if strings.Contains(s.log.String(), "secret-") {
			t.Errorf("%s: the log has a secret", own)
		}
	}
}

// A registry that refuses the login leaves the image unknown: the cell waits, and the run fails.
func TestRegistryRefusesLogin(t *testing.T) {
	s, registry := loginScene(t, services.Login{User: "other"})
	s.own = "{records: s3://records, logins: {quay.io: {user: robot, path: ours/quay, field: token}}}"
	s.begin()
	all := s.services()
	all.Registry = registry
	err := New(all).DryRun(t.Context(), s.env())
	if err == nil || strings.Contains(err.Error(), "secret-") || !strings.Contains(s.unit("shop/stage").Hold+err.Error(),
		"quay.io/acme/shop") {
		t.Errorf("got %v, %+v", err, s.unit("shop/stage"))
	}
}
