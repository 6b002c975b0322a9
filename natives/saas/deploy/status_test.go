package deploy

import (
	"testing"

	"github.com/app-sre/prcheck/integration"
)

// The status of a cell tells each object, and that all are as the data say after a run.
func TestStatus(t *testing.T) {
	s := newScene(t)
	s.mustRun(t, "shop/stage")
	all, err := s.native().(integration.StatusReader).Status(t.Context(), s.env(t, "shop/stage", nil))
	if err != nil || len(all) == 0 {
		t.Fatalf("%v %+v", err, all)
	}
	for _, st := range all {
		if len(st.Conditions) != 3 || st.Conditions[1].Status != integration.True {
			t.Errorf("%s stands as %+v", st.Key, st.Conditions)
		}
	}
}
