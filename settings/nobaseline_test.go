package settings_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/settings"
)

// An integration may say that its failures are not compared with base.
func TestNoBaseline(t *testing.T) {
	read := func(value string) (*settings.Settings, error) {
		return settings.Read("prcheck.yaml", []byte("version: 1\nintegrations:\n  a: {baseline: "+value+"}\n  b: {}\n"))
	}
	none, err := read("none")
	if err != nil || !none.For("a").NoBaseline || none.For("b").NoBaseline || none.For("c").NoBaseline {
		t.Errorf("got %+v, %v", none, err)
	}
	compare, err := read("compare")
	if err != nil || compare.For("a").NoBaseline || !slices.Contains(none.DifferingKeys(compare, "a"), "baseline") {
		t.Errorf("got %+v, %v", compare, err)
	}
	if _, err := read("never"); err == nil || !strings.Contains(err.Error(), "integrations.a.baseline") {
		t.Errorf("got %v", err)
	}
}
