package pipelines

import (
	"context"
	"encoding/json"

	"github.com/app-sre/prcheck/natives/saas"
	"github.com/app-sre/prcheck/natives/saas/pipelines/decide"
)

// target returns a target for the decision, with the signal of the data alone.
func (a *asker) target(t *saas.Target) (decide.WatchedTarget, error) {
	content, err := json.Marshal(t.Content())
	if err != nil {
		return decide.WatchedTarget{}, err
	}
	of := decide.ConfigSource{Hash: t.Hash(), Content: content, Ref: t.Ref, Auto: t.Promotion != nil && t.Promotion.Auto}
	if a.settings.Trace {
		of.Repository, of.Commit = a.settings.Repository, a.env.Commit
	}
	return decide.WatchedTarget{
		UID: t.UID(), Key: t.StateKey(saas.SignalConfig), Label: t.Label(), Delete: t.Delete, Hotfix: a.isHotfix(t),
		Signals: []decide.Signal{of.Signal()}, File: t.Place.File, Pointer: t.Place.Pointer,
	}, nil
}

// commit returns the commit that a target deploys, or why nobody knows it.
func (a *asker) commit(t *saas.Target) (sha, unknown string) {
	if saas.IsCommit(t.Ref) {
		return t.Ref, ""
	}
	of := a.heads[a.settings.RepositorySource(t.Template)]
	switch {
	case of == nil:
		return "", t.Template.URL + " was not asked"
	case of.err != nil:
		return "", of.err.Error()
	}
	return of.heads[t.Ref], ""
}

// isHotfix reports whether what a target deploys is a hotfix of its repository.
func (a *asker) isHotfix(t *saas.Target) bool {
	sha, _ := a.commit(t)
	for _, version := range a.model.Component(t).Hotfix {
		if version == t.Ref || version == sha && sha != "" {
			return true
		}
	}
	return false
}

// look returns the other signals of a target. What is applied saves requests: images whose tag is
// applied are not asked for.
func (a *asker) look(ctx context.Context, t *saas.Target, applied decide.Values) []decide.Signal {
	if t.Delete {
		return nil
	}
	switch {
	case t.Upstream != nil:
		return []decide.Signal{a.upstream(t)}
	case len(t.Images) > 0:
		return []decide.Signal{a.image(ctx, t, applied[decide.Image])}
	case !saas.IsCommit(t.Ref):
		head, unknown := a.commit(t)
		return []decide.Signal{decide.CommitSource{URL: t.Template.URL, Branch: t.Ref, Head: head, Unknown: unknown}.Signal()}
	}
	return nil
}

// upstream returns the signal of the job of a target.
func (a *asker) upstream(t *saas.Target) decide.Signal {
	up := t.Upstream
	out := decide.UpstreamSource{URL: t.Template.URL, Ref: t.Ref, Server: up.ServerURL, Job: up.Job}
	if of := a.builds[saas.Source{Address: up.ServerURL, Secret: up.Token}]; of == nil {
		out.Unknown = up.ServerURL + " was not asked"
	} else if of.err != nil {
		out.Unknown = of.err.Error()
	} else {
		var isThere bool
		out.Builds, isThere = of.builds[up.Job]
		out.NotThere = !isThere
	}
	return out.Signal()
}

// image returns the signal of the images of a target.
func (a *asker) image(ctx context.Context, t *saas.Target, applied string) decide.Signal {
	out := decide.ImageSource{URL: t.Template.URL, Branch: t.Ref, HashLength: t.Template.HashLength,
		Patterns: t.Template.File.ImagePatterns}
	if out.HashLength == 0 {
		out.HashLength = a.model.HashLength
	}
	out.Head, out.Unknown = a.commit(t)
	for _, i := range t.Images {
		out.Images = append(out.Images, i.Address())
	}
	out.Exists = func(image string) (bool, string) {
		if out.Tag() == applied {
			return true, ""
		}
		return a.exists(ctx, image, t.Template.File)
	}
	return out.Signal()
}
