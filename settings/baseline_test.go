package settings

import (
	"fmt"
	"testing"
	"time"
)

func TestTransientAndBaseline(t *testing.T) {
	s, err := Read("prcheck.yaml", []byte(`version: 1
transient: ['^Data changed']
max_baseline_seconds: 90
integrations:
  own: {transient: ['409: Conflict', x]}
  plain: {}
`))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"own":     "[^Data changed 409: Conflict x]",
		"plain":   "[^Data changed]",
		"unnamed": "[^Data changed]",
	} {
		if got := fmt.Sprint(s.For(name).Transient); got != want {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
	}
	if got := s.Baseline(); got != 90*time.Second {
		t.Errorf("got %s on base", got)
	}
	never, err := Read("prcheck.yaml", []byte("version: 1\nmax_baseline_seconds: 0\n"))
	if err != nil || never.Baseline() != 0 || (&Settings{}).Baseline() != DefaultBaseline {
		t.Errorf("got %s and %s on base, %v", never.Baseline(), (&Settings{}).Baseline(), err)
	}
}
