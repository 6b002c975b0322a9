package systems

import (
	"context"
	"fmt"
	"net/url"
	"strings"

	"github.com/app-sre/prcheck/integration"
)

// checkServer returns an error if the secret of a token says that the token is for another
// server, or does not say for which one.
func (s *Systems) checkServer(ctx context.Context, ref integration.ClusterRef) error {
	if ref.ServerField == "" {
		return nil
	}
	of := ref.Token
	of.Field = ref.ServerField
	is, err := s.address(ctx, of)
	if err != nil {
		return fmt.Errorf("the server that its token is for: secret %.200q, field %.100q: %w", of.Path, of.Field, err)
	}
	if want := strings.TrimRight(ref.Server, "/"); strings.TrimRight(is, "/") != want {
		return wrong(fmt.Sprintf("its token is for the server %.200s (secret %.200q, field %.100q), and the data say "+
			"%.200q: correct the one that is wrong",
			is, of.Path, of.Field, ref.Server))
	}
	return nil
}

// address returns an address that a secret has. It is not masked, so that people can read it.
// The field comes from the data and could name something else, which is masked and not told.
func (s *shared) address(ctx context.Context, ref integration.SecretRef) (string, error) {
	if err := checkRef(ref); err != nil {
		return "", err
	}
	k, err := s.read(ctx, ref)
	if err != nil {
		return "", err
	}
	value := strings.TrimSpace(k.value)
	u, err := url.Parse(value)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Hostname() == "" || u.User != nil ||
		u.RawQuery != "" || u.Fragment != "" {
		if _, err := s.secret(ctx, ref); err != nil {
			return "", err
		}
		return "", wrong("it is no address such as https://HOST: store the address of the cluster there")
	}
	return value, s.keep(ref, k)
}
