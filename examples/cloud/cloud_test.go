package cloud_test

import (
	"testing"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/qontract/validator"
)

// The checkout has no mistakes.
func TestCheckout(t *testing.T) {
	b := open(t, ".")
	report, err := validator.Check(t.Context(), b, validator.Options{Scope: validator.All})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range report.Findings {
		t.Errorf("%+v", f)
	}
	if all, err := integration.List(b, nil); err != nil || len(all) != 1 {
		t.Errorf("got %v, %v, want one integration", all, err)
	}
}

// open returns the bundle of the checkout in a folder.
func open(t *testing.T, folder string) *bundle.Bundle {
	t.Helper()
	b, err := bundle.Parse(bundleOf(t, folder), nil)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
