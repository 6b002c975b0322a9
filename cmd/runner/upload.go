package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"

	"github.com/app-sre/prcheck/internal/cli"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/runner"
	"github.com/app-sre/prcheck/source"
)

// begin stores plan, bundles and settings, which are held to the plan by whoever
// reads them. A name that has been used is taken up again while its first Job is
// there, the very same one: without it, nobody knows which Job left the results
// that lie there.
func (s submission) begin(ctx context.Context, env cli.Env, p *plan.Plan) error {
	first, err := s.jobOf(p, 0).Manifest()
	if err != nil {
		return cli.Usage(err)
	}
	old, err := source.Object(ctx, s.at+"/"+planName)
	if err != nil {
		return err
	}
	if old == nil {
		return s.upload(ctx, env, p)
	}
	if used, err := plan.Read(bytes.NewReader(old)); err != nil || used.Digest != p.Digest {
		return cli.Usage(fmt.Errorf("%s has been used for another plan: give the Job another --name", s.at))
	}
	there, err := s.cluster.Has(ctx, first)
	if err == nil && !there {
		err = cli.Usage(fmt.Errorf("%s has been used, and its Job is gone: give the Job another --name", s.at))
	}
	if err == nil {
		_, _ = fmt.Fprintf(env.Stderr, "runner: taking up the Job %s/%s\n", first.Namespace, first.Name) // only a note
	}
	return err
}

// upload stores the files, the plan last: it says that all is there.
func (s submission) upload(ctx context.Context, env cli.Env, p *plan.Plan) error {
	files, err := s.files(ctx, env, p)
	if err != nil {
		return err
	}
	for _, f := range files {
		if err := source.Put(ctx, s.at+"/"+f.name, f.raw); err != nil {
			return err
		}
	}
	return nil
}

type storedFile struct {
	name string
	raw  []byte
}

// files are the settings, the bundles and the plan, each held to the plan.
func (s submission) files(ctx context.Context, env cli.Env, p *plan.Plan) ([]storedFile, error) {
	flags := s.submitFlags.run
	rules, err := flags.rules(ctx, env, p)
	if err != nil {
		return nil, err
	}
	var out []storedFile
	if p.Config != "" {
		out = append(out, storedFile{"prcheck.yaml", rules.Text()})
	}
	open := rules.With(source.In(env))
	for _, b := range []struct {
		name, flag string
		side       plan.Side
	}{{"base.json", flags.base, p.Base}, {"head.json", flags.head, p.Head}} {
		ref := flags.reference(b.flag, b.side)
		raw, err := open.Bytes(ctx, ref)
		if err == nil {
			err = cli.Invalid(runner.CheckBundle(b.side, ref, fmt.Sprintf("%x", sha256.Sum256(raw))))
		}
		if err != nil {
			return nil, err
		}
		out = append(out, storedFile{b.name, raw})
	}
	var raw bytes.Buffer
	if err := plan.Write(&raw, p); err != nil {
		return nil, err
	}
	return append(out, storedFile{planName, raw.Bytes()}), nil
}
