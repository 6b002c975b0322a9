package deploy

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/integration/services"
	"github.com/app-sre/prcheck/natives/reconcile"
	"github.com/app-sre/prcheck/natives/saas"
	"github.com/app-sre/prcheck/natives/saas/render"
	"github.com/app-sre/prcheck/plan"
)

// The codes of what is found here.
const (
	CodeUnknown plan.FindingCode = "SAAS_UNKNOWN" // a service does not answer, so nobody knows
	CodeHeld    plan.FindingCode = "SAAS_HELD"    // a saas file cannot be used, or is deprecated
	CodeGate    plan.FindingCode = "SAAS_GATE"    // the promotion gate of a target is closed
	CodeCluster plan.FindingCode = "SAAS_CLUSTER" // a cluster cannot be used
	CodeChange  plan.FindingCode = "SAAS_CHANGE"  // what a change alters in the objects of a target
	CodeCompare plan.FindingCode = "SAAS_COMPARE" // where the commits of a change can be compared
	CodePartly  plan.FindingCode = "SAAS_PARTLY"  // what a dry run did not check
	CodeOpaque  plan.FindingCode = "SAAS_OPAQUE"  // a target that cannot be rendered without the values of its secrets
)

// A repositoryKey is a repository as a saas file of a side reaches it.
type repositoryKey struct{ side, url, file string }

// A filesKey names files of a repository.
type filesKey struct {
	repositoryKey
	commit, path string
	deep         bool
}

// key returns how a target reaches its repository.
func (s *side) key(t *target) repositoryKey {
	return repositoryKey{s.name, t.Template.URL, t.Template.File.Path}
}

// repository returns the repository of a target with its credentials.
func (s *side) repository(ctx context.Context, t *target) (services.Repository, error) {
	return s.run.repositories.ask(s.key(t), func() (services.Repository, error) {
		return s.run.credentials(s).Repository(ctx, t.Template)
	})
}

// resolve finds the commits of all targets: each repository is asked once for all branches.
func (s *side) resolve(ctx context.Context) {
	branches := map[repositoryKey][]string{}
	first := map[repositoryKey]*target{}
	var keys []repositoryKey
	for _, c := range s.cells {
		for _, t := range c.targets {
			k := s.key(t)
			switch {
			case saas.IsCommit(t.Ref):
				t.commit = t.Ref
				continue
			case t.Delete || t.Broken != "" || c.closed != "" || slices.Contains(branches[k], t.Ref):
				continue
			}
			if first[k] == nil {
				first[k], keys = t, append(keys, k)
			}
			branches[k] = append(branches[k], t.Ref)
		}
	}
	s.run.each(ctx, len(keys), func(ctx context.Context, i int) {
		_, _ = s.run.heads.ask(keys[i], func() (map[string]string, error) { // the error stays with the answer
			of, err := s.repository(ctx, first[keys[i]])
			if err != nil {
				return nil, err
			}
			heads, err := s.run.services.Repositories.Heads(ctx, of, branches[keys[i]])
			return heads, explained(err, s.run.credentials(s).WithheldRepository(first[keys[i]].Template))
		})
	})
	for _, c := range s.cells {
		for _, t := range c.targets {
			if t.commit == "" && !t.Delete && t.Broken == "" && c.closed == "" {
				var err error
				if t.commit, err = s.commit(t); err != nil {
					t.err = err
				}
			}
		}
	}
}

// errNotAsked says that a repository was not asked.
var errNotAsked = reconcile.Transient(errors.New("the repository was not asked"))

// commit returns the commit that a branch points to.
func (s *side) commit(t *target) (string, error) {
	heads, err := s.run.heads.ask(s.key(t), func() (map[string]string, error) { return nil, errNotAsked })
	switch {
	case errors.Is(err, services.ErrNotThere):
		return "", &render.TargetMistake{Code: saas.CodeRef,
			Message: fmt.Sprintf("there is no repository %.200s, or it needs credentials", t.Template.URL)}
	case err != nil:
		return "", fmt.Errorf("asking %.200s for the commit of %.100q: %w", t.Template.URL, t.Ref, err)
	case !saas.IsCommit(heads[t.Ref]):
		return "", &render.TargetMistake{Code: saas.CodeRef, Pointer: "/ref",
			Message: fmt.Sprintf("the repository %.200s has no branch %.100q", t.Template.URL, t.Ref)}
	}
	return heads[t.Ref], nil
}

// render renders a target.
func (s *side) render(ctx context.Context, t *target) {
	switch {
	case t.Broken != "":
		t.err = errors.New(t.Broken)
		return
	case t.Delete:
		t.err = nil
		return
	case t.commit == "":
		return // the error says why
	}
	in := render.Input{
		Target: t.Target, Commit: t.commit, HashLength: s.model.HashLength, Blocks: s.model.Blocks, Helm: s.run.services.Helm,
		Allowed: func(ref integration.SecretRef) error { return s.allowed(t, ref) },
		Files: func(ctx context.Context, _, commit, path string, deep bool) (map[string][]byte, error) {
			return s.filesOf(ctx, t, commit, path, deep)
		},
	}
	if s.run.services.Registry != nil {
		in.Digest = func(ctx context.Context, image string) (string, error) { return s.digest(ctx, t, image) }
	}
	if s.run.writes { // a dry run reads no secret that a template uses
		in.Secret = s.secret
	}
	t.out, t.err = render.Render(ctx, in)
}

// filesOf returns files of the repository of a target.
func (s *side) filesOf(ctx context.Context, t *target, commit, path string, deep bool) (map[string][]byte, error) {
	k := filesKey{s.key(t), commit, path, deep}
	return s.run.files.ask(k, func() (map[string][]byte, error) {
		of, err := s.repository(ctx, t)
		if err != nil {
			return nil, err
		}
		read := func(ctx context.Context, _, commit, path string, deep bool) (map[string][]byte, error) {
			files, err := s.run.services.Repositories.Files(ctx, of, commit, path, deep)
			return files, explained(err, s.run.credentials(s).WithheldRepository(t.Template))
		}
		return render.Cached(s.run.store, read)(ctx, t.Template.URL, commit, path, deep)
	})
}

// digest returns the digest of an image of a target.
func (s *side) digest(ctx context.Context, t *target, image string) (string, error) {
	return s.run.digests.ask(s.name+" "+t.Template.File.Path+" "+image, func() (string, error) {
		of, err := s.run.credentials(s).Image(ctx, t.Template.File, image)
		if err != nil {
			return "", err
		}
		digest, err := s.run.services.Registry.Digest(ctx, of)
		return digest, explained(err, s.run.credentials(s).WithheldImage(t.Template.File, image))
	})
}

// explained returns the error of a service that got no credentials because of a reason. What such a
// service says is not there may be there.
func explained(err error, withheld string) error {
	switch {
	case err == nil || withheld == "":
		return err
	case errors.Is(err, services.ErrNotThere):
		return fmt.Errorf("without credentials it is not there, and %s", withheld)
	}
	return fmt.Errorf("%w; %s", err, withheld)
}

// allowed returns an error for a secret that the saas file of a target does not allow. In a change that of
// base must allow its path, too.
func (s *side) allowed(t *target, ref integration.SecretRef) error {
	switch {
	case saas.AllowedSecret(s.run.credentials(s).Base, t.Target, ref.Path):
		return nil
	case saas.AllowedSecret(nil, t.Target, ref.Path):
		return integration.ErrUntrusted
	}
	return &render.TargetMistake{Code: saas.CodeSecret,
		Message: fmt.Sprintf("allowedSecretParameterPaths does not allow the path %.200s", ref.Path)}
}

// secret reads a secret.
func (s *side) secret(ctx context.Context, ref integration.SecretRef) (string, error) {
	if s.run.env.Secret == nil {
		return "", reconcile.Config(errors.New("there is no source of secrets"))
	}
	return s.run.env.Secret(ctx, ref)
}
