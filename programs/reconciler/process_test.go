package reconciler

import (
	"testing"

	"github.com/spf13/pflag"

	"github.com/app-sre/prcheck/internal/cli"
)

// The process of a deployment has its metrics at a port of its own, and a key of a shard may have
// blanks.
func TestProcess(t *testing.T) {
	for _, c := range []struct {
		name, extra, shard string
		args               []string
		metrics, bundle    string
	}{
		{"nothing is said", "", "", nil, ":9090", ""},
		{"by the variable", "--metrics :80 --bundle a.json", "", nil, ":80", "a.json"},
		{"by a flag", "--metrics :80 --bundle a.json", "", []string{"--metrics", "", "--bundle=b.json"}, "", "b.json"},
		{"a key with a blank and a quote", "--bundle a.json --account-name it's my key", "it's my key", nil, ":9090",
			"a.json"},
		{"a key alone", " --cluster-name c1", "c1", nil, ":9090", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := runFlags{form: cli.OneOf("text", "json")}
			flags := pflag.NewFlagSet("reconcile", pflag.ContinueOnError)
			f.register(flags)
			f.registerRounds(flags)
			if err := flags.Parse(c.args); err != nil {
				t.Fatal(err)
			}
			env := map[string]string{"INTEGRATION_NAME": "it", "INTEGRATION_EXTRA_ARGS": c.extra, "SHARD_KEY": c.shard}
			name, err := f.fillProcess(flags, func(name string) string { return env[name] })
			if name != "it" || err != nil || f.metrics != c.metrics || f.bundle != c.bundle {
				t.Errorf("got %q, %v, metrics %q, bundle %q; want metrics %q, bundle %q", name, err, f.metrics, f.bundle, c.metrics,
					c.bundle)
			}
		})
	}
}
