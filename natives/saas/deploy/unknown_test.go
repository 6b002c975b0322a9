package deploy

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/natives/saas/saastest"
)

// A service that does not answer says the same about both sides. Still it fails a change that
// alters the cell, since nobody knows what the change does, and no other change.
func TestUnknownOfChange(t *testing.T) {
	parameters := func(s *scene) { s.Target(saastest.File, 0, 0)["parameters"] = map[string]any{"REPLICAS": 2} }
	for _, c := range []struct {
		name, shard string
		away        func(s *scene)
		change      func(s *scene)
	}{
		{"the repository", "shop/stage", func(s *scene) { s.forge.away = true }, parameters},
		{"the secrets", "shop/stage", func(s *scene) {
			s.change = func(e *integration.Environment) {
				e.Secret = func(context.Context, integration.SecretRef) (string, error) { return "", errors.New("it is sealed") }
			}
		}, parameters},
		{"the bucket of the records", production, func(s *scene) {
			s.change = func(e *integration.Environment) {
				e.Bucket = func(context.Context, string) (integration.BucketReader, error) { return nil, errors.New("no route") }
			}
		}, func(s *scene) { s.Target(saastest.File, 0, 1)["ref"] = next }},
		{"the records", production, func(s *scene) {
			s.bucket.away = true
		}, func(s *scene) { s.Target(saastest.File, 0, 1)["parameters"] = map[string]any{"REPLICAS": 9} }},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newScene(t)
			s.mustRun(t, "shop/stage")
			before := s.Clone()
			c.away(s)
			if err := s.dryRun(t, c.shard, before); s.fails(err) || !s.says("old error SAAS_UNKNOWN") {
				t.Errorf("another change: got %v, %s", err, strings.Join(s.said, "\n"))
			}
			c.change(s)
			if err := s.dryRun(t, c.shard, before); !s.fails(err) || !s.says("SAAS_UNKNOWN", "so it must be known") {
				t.Errorf("a change of the cell: got %v, %s", err, strings.Join(s.said, "\n"))
			}
		})
	}
}

// The credentials that a change names first are not used before its merge. The mistake says so, and
// which setting helps, and does not say that the repository is not there.
func TestNewCredentials(t *testing.T) {
	for _, ref := range []string{"main", old} {
		s := newScene(t)
		s.forge.isPrivate = true
		before := s.Clone()
		s.Data["/authentication.yml"] = map[string]any{"$schema": "/app-sre/saas-file-authentication-1.yml",
			"code": map[string]any{"path": "app/new", "field": "token"}}
		s.Set(saastest.File, saastest.Ref("/authentication.yml"), "authentication")
		s.Target(saastest.File, 0, 0)["ref"] = ref
		if err := s.dryRun(t, "shop/stage",
			before); !s.fails(err) || !s.says("error SAAS_UNKNOWN", "let the setting logins have a login for github.com") ||
			s.says("there is no repository") {
			t.Errorf("%s: got %v, %s", ref, err, strings.Join(s.said, "\n"))
		}
		s.own += "\nlogins: {github.com: {path: ci, field: token}}"
		if err := s.dryRun(t, "shop/stage", before); s.fails(err) {
			t.Errorf("%s: with a login: got %v, %s", ref, err, strings.Join(s.said, "\n"))
		}
	}
}
