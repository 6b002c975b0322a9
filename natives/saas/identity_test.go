package saas

import (
	"testing"

	"github.com/app-sre/prcheck/internal/shared"
)

// A uidCase is a case of the area target_uid.
type uidCase struct {
	Input struct {
		Saas, RT, Cluster, Namespace string
		Name                         *string
		FIPS                         bool
	}
	Expected struct{ UID string }
}

func TestUIDCases(t *testing.T) {
	shared.Each(t, "target_uid", func(t *testing.T, c uidCase) {
		in := c.Input
		target := Target{Name: in.Name, Template: &Template{Name: in.RT, File: &File{Name: in.Saas, fips: in.FIPS}},
			Namespace: Namespace{Name: in.Namespace, Cluster: &Cluster{Name: in.Cluster}}}
		if got := target.UID(); got != c.Expected.UID {
			t.Errorf("got %s, want %s", got, c.Expected.UID)
		}
	})
}

// The key of images names all of them, sorted.
func TestStateKeyOfImages(t *testing.T) {
	target := Target{Ref: "main", Template: &Template{Name: "r", File: &File{Name: "s"}},
		Images:    []Image{{"quay.io", "b", "y"}, {"quay.io", "a", "x"}},
		Namespace: Namespace{Name: "n", Cluster: &Cluster{Name: "c"}, Environment: &Environment{Name: "e"}}}
	if got, want := target.StateKey(SignalImages), "s/r/c/n/e/quay.io/a/x/quay.io/b/y"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := target.StateKey(SignalUpstream); got != "" {
		t.Errorf("a target without upstream has the key %q", got)
	}
}

// Names of objects are cut after 56 characters, and have no dash at their end.
func TestCombo(t *testing.T) {
	for _, c := range [][3]string{
		{"My-Saas", "Prod", "my-saas-prod"},
		{"saas-openshift-cert-manager-routes", "app-sre-production-xxxxxxxxxxxxxxxxxxxx",
			"saas-openshift-cert-manager-routes-app-sre-production-xx"},
		{"saas-openshift-cert-manager-routes", "app-sre-production-x-------------------",
			"saas-openshift-cert-manager-routes-app-sre-production-x"},
	} {
		if got := (Cell{File: &File{Name: c[0]}, Environment: c[1]}).Combo(); got != c[2] {
			t.Errorf("got %q, want %q", got, c[2])
		}
	}
}
