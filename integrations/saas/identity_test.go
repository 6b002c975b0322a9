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
