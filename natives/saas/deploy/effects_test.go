package deploy

import (
	"fmt"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/natives/manifests"
	"github.com/app-sre/prcheck/natives/reconcile"
)

// By the data alone, the fields of an object are told but for the places of secrets of either side.
func TestAltersWithoutSecrets(t *testing.T) {
	entry := func(replicas int, password string, masked ...string) reconcile.Item {
		o := manifests.Object{"kind": "Deployment", "metadata": manifests.Object{"name": "a"},
			"spec": manifests.Object{"replicas": replicas, "note": password}}
		return reconcile.Item{Body: body{Object: o, Named: o, Masked: masked}}
	}
	for _, c := range []struct {
		base, head reconcile.Item
		want       string
	}{
		{entry(1, "canary-1", "/spec/note"), entry(2, "canary-1", "/spec/note"), "/spec/replicas 1 2 false"},
		{entry(1, "canary-1", "/spec/note"), entry(1, "canary-2", "/spec/note"), "/spec/note   true"},
		{entry(1, "canary-1", "/spec/note"), entry(1, "plain"), "/spec/note   true"},
		{entry(1, "plain"), entry(1, "canary-1", "/spec/note"), "/spec/note   true"},
		{entry(1, "plain"), entry(1, "other"), `/spec/note "plain" "other" false`},
	} {
		changes, isKnown := alters(c.base, c.head)
		var words []string
		for _, change := range changes {
			words = append(words, fmt.Sprintf("%s %s %s %v", change.Path, change.From, change.To, change.Secret))
			if strings.Contains(fmt.Sprintf("%+v %s %s", change, change.From, change.To), "canary") {
				t.Errorf("a secret stands in %+v", change)
			}
		}
		if got := strings.Join(words, "; "); got != c.want || !isKnown {
			t.Errorf("got %q (known: %v), want %q", got, isKnown, c.want)
		}
	}
	kind, name := label("main/shop-stage/Deployment.apps/web", entry(1, "").Body)
	if kind != "Deployment.apps" || name != "shop-stage/web" {
		t.Errorf("got %q, %q", kind, name)
	}
}
