package validator_test

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/internal/shared"
	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/qontract/validator"
)

// TestCleanBundles checks that there are no findings in bundles that qontract-validator
// accepts.
func TestCleanBundles(t *testing.T) {
	for _, name := range []string{"app-interface-base", "app-interface-head", "generated-300-base", "generated-300-head"} {
		t.Run(name, func(t *testing.T) {
			b, err := bundle.Open(filepath.Join(shared.Path(t, "data", "bundles"), name+".json"), nil)
			if err != nil {
				t.Fatal(err)
			}
			r, err := validator.Check(context.Background(), b, validator.Options{Scope: validator.All})
			if err != nil {
				t.Fatal(err)
			}
			var text strings.Builder
			if err := r.WriteText(&text, nil); err != nil {
				t.Fatal(err)
			}
			if got := text.String(); got != "" {
				t.Errorf("got findings in a clean bundle:\n%s", got)
			}
		})
	}
}
