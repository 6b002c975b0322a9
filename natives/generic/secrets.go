package generic

import (
	"context"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/natives/generic/rules"
)

// readSecrets reads the secrets that have no version: only their value tells whether they
// changed.
func (e *entry) readSecrets(ctx context.Context, env integration.Environment) error {
	e.secrets, e.unknown = map[string]string{}, nil
	for _, s := range e.of.Secrets {
		switch {
		case s.Secret.Version != "":
		case env.Base != nil || env.Secret == nil:
			for _, at := range rules.Places(e.rules, e.desired, s.At) {
				e.unknown = append(e.unknown, at.Name)
			}
		default:
			value, err := env.Secret(ctx, s.Secret)
			if err != nil {
				return err
			}
			e.secrets[s.At] = value
		}
	}
	return nil
}
