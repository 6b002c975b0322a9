package effects_test

import (
	"strings"
	"testing"

	"github.com/app-sre/prcheck/internal/mask"
	"github.com/app-sre/prcheck/runner/effects"
	"github.com/app-sre/prcheck/settings"
)

// BenchmarkFinder measures how fast output is read: a log of which one line in twenty
// announces an effect, by all ready rules, with two secrets to mask.
func BenchmarkFinder(b *testing.B) {
	log := []byte(strings.Repeat(strings.Repeat(record+"collecting the keys of app-sre from https://example.org/graphql\n",
		19)+record+"['delete_user', 'app-sre', 'jane']\n", 50))
	rules := ready(settings.EffectsOfReconcile, settings.EffectsOfTerraform, settings.EffectsOfVaultManager,
		settings.EffectsOfKubectl)
	masker := mask.New([]string{"s3cret-of-jane", "glpat-0123456789abcdef"})
	b.SetBytes(int64(len(log)))
	for b.Loop() {
		f := effects.NewFinder(rules, masker)
		_, _ = f.Write(log)
		if e := f.Effects(); len(e.Items) != 1 {
			b.Fatal(e)
		}
	}
}
