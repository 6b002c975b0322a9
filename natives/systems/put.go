package systems

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"strings"

	"github.com/hashicorp/vault/api"

	"github.com/app-sre/prcheck/integration"
)

// PutSecret puts a value into a field of a secret, and leaves its other fields. may says which requests may be sent
// to the store: only whoever may write has one. Somebody else who writes the same secret at that moment is not
// overwritten.
func (s *Systems) PutSecret(ctx context.Context, ref integration.SecretRef, value string,
	may func(*http.Request) bool) error {
	if err := checkRef(ref); err != nil {
		return err
	}
	if value == "" || len(value) > maxSecret || ref.Version != "" {
		return wrong(fmt.Sprintf("a secret has from 1 to %d bytes, and is written without a version", maxSecret))
	}
	s.learn(value)
	v, isVault := s.source.(*vault)
	if !isVault {
		return wrong("values can be written to Vault alone: name it under secrets in prcheck.yaml")
	}
	defer s.forget(ref)
	return v.write(ctx, ref, value, may)
}

// write puts a value into a field of a secret.
func (v *vault) write(ctx context.Context, ref integration.SecretRef, value string,
	may func(*http.Request) bool) error {
	mount, path, err := v.place(ref)
	if err != nil {
		return err
	}
	c, err := v.clients()
	if err != nil {
		return err
	}
	if _, err := v.login(ctx, c, noLogin); err != nil {
		return err
	}
	permission := fmt.Sprintf("let the policy of the login create and update %s/data/%s", mount, path)
	found, err := c.read.KVv2(mount).Get(ctx, path)
	version, fields := 0, map[string]any{}
	switch {
	case errors.Is(err, api.ErrSecretNotFound):
	case err != nil:
		return v.explain(ctx, err, permission)
	default:
		if fields = maps.Clone(found.Data); fields == nil {
			fields = map[string]any{}
		}
		if found.VersionMetadata != nil {
			version = found.VersionMetadata.Version
		}
	}
	writer, err := v.newClient(func(req *http.Request) bool {
		return strings.HasPrefix(req.URL.Path, "/v1/"+mount+"/data/") && may(req)
	})
	if err != nil {
		return err
	}
	writer.SetToken(c.read.Token())
	fields[ref.Field] = value
	_, err = writer.KVv2(mount).Put(ctx, path, fields, api.WithCheckAndSet(version))
	if statusOf(err) == http.StatusBadRequest {
		return asTransient(fmt.Errorf("somebody else wrote the secret at this moment, or %s does not take it; the next run "+
			"tries again", v.settings.Server))
	}
	if err != nil {
		return v.explain(ctx, err, permission)
	}
	return nil
}
