package reconciler

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"github.com/app-sre/prcheck/integration/sharding"
	"github.com/app-sre/prcheck/internal/shellwords"
	"github.com/app-sre/prcheck/settings"
)

// processMetrics is the address at which the process of a deployment serves metrics.
const processMetrics = ":9090"

// fillProcess fills in what only the process of a deployment has: further flags and the address
// of metrics. It returns the name of the integration.
func (f *runFlags) fillProcess(flags *pflag.FlagSet, getenv func(string) string) (name string, err error) {
	if name = getenv("INTEGRATION_NAME"); name == "" {
		return "", errors.New("NAME is missing, and so is the variable INTEGRATION_NAME")
	}
	if err := f.fillExtra(flags, getenv("INTEGRATION_EXTRA_ARGS"), getenv("SHARD_KEY")); err != nil {
		return "", fmt.Errorf("the variable INTEGRATION_EXTRA_ARGS: %w", err)
	}
	if !flags.Changed("metrics") {
		f.metrics = processMetrics
	}
	return name, nil
}

// fillExtra sets the flags of a text that the command line does not have.
func (f *runFlags) fillExtra(flags *pflag.FlagSet, text, shard string) error {
	words, err := shellwords.Split(withoutKey(text, shard))
	if err != nil {
		return err
	}
	var args []string
	for _, w := range words {
		arg := ""
		for _, part := range w {
			if part.Variable != "" {
				return fmt.Errorf("it names the variable $%s, which nobody fills in", part.Variable)
			}
			arg += part.Text
		}
		args = append(args, arg)
	}
	given := map[string]bool{}
	flags.Visit(func(flag *pflag.Flag) { given[flag.Name] = true })
	err = flags.ParseAll(args, func(flag *pflag.Flag, value string) error {
		switch {
		case flag.Name == "dry-run" || flag.Name == "no-dry-run":
			return errors.New("the variable DRY_RUN decides whether anything is written")
		case flag.Name == "flags-from" || flag.Name == "help":
			return fmt.Errorf("--%s can only stand on the command line", flag.Name)
		case given[flag.Name]:
			return nil
		}
		return flags.Set(flag.Name, value)
	})
	switch {
	case err != nil && isKeyOption(err.Error()):
		return fmt.Errorf("%w: such an option can only repeat SHARD_KEY, at the end", err)
	case err != nil:
		return err
	case flags.NArg() > 0:
		return fmt.Errorf("%.40q is no flag", flags.Arg(0))
	}
	return nil
}

// keyOptions returns the options that pass the key of a shard to integrations of
// qontract-reconcile.
func keyOptions() []string {
	var out []string
	for _, s := range []settings.Strategy{settings.PerAWSAccount, settings.PerOpenShiftCluster,
		settings.PerOCMOrganization} {
		out = append(out, sharding.KeyOption(s))
	}
	return out
}

// withoutKey returns the arguments without the option at their end that repeats the key of the
// shard, as deployments write it: not quoted, whatever is in the key.
func withoutKey(text, shard string) string {
	for _, option := range keyOptions() {
		if rest, ok := strings.CutSuffix(text, option+" "+shard); ok && shard != "" &&
			(rest == "" || strings.HasSuffix(rest, " ")) {
			return rest
		}
	}
	return text
}

// isKeyOption reports whether an error is about an option that passes the key of a shard.
func isKeyOption(message string) bool {
	for _, option := range keyOptions() {
		if strings.HasSuffix(message, "unknown flag: "+option) {
			return true
		}
	}
	return false
}
