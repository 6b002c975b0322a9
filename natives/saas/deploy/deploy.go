package deploy

import (
	"context"
	"errors"
	"math"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/integration/services"
	"github.com/app-sre/prcheck/natives/manifests"
	"github.com/app-sre/prcheck/natives/native"
	"github.com/app-sre/prcheck/natives/reconcile"
	"github.com/app-sre/prcheck/natives/saas"
	"github.com/app-sre/prcheck/natives/saas/render"
	"github.com/app-sre/prcheck/settings"
)

// Name is the name of the native.
const Name = "saas-deploy"

// Services are what targets are rendered with. Without repositories nothing is rendered: the
// data alone are checked.
type Services struct {
	Repositories services.Repositories
	Registry     services.Registry // nil: images are not looked for
	Helm         render.HelmFunc   // nil: the program helm is not there
}

// New returns the native.
func New(s Services) integration.Native { return deployer{s} }

// A deployer is the native.
type deployer struct{ services Services }

// Name implements [integration.Native].
func (deployer) Name() string { return Name }

// Close implements [io.Closer]: it removes the files of its repositories.
func (d deployer) Close() error { return services.Close(d.services.Repositories) }

// CheckSettings implements [integration.Checker].
func (deployer) CheckSettings(own settings.Own) error {
	_, err := readSettings(own)
	return err
}

// DryRun implements [integration.Native].
func (d deployer) DryRun(ctx context.Context, env integration.Environment) error {
	r := d.open(ctx, env, nil)
	r.reportChange()
	return native.Make(r.integration()).DryRun(ctx, r.inner())
}

// Run implements [integration.Native].
func (d deployer) Run(ctx context.Context, env integration.Environment, act integration.Actors) error {
	r := d.open(ctx, env, &act)
	return r.apply(ctx, native.Make(r.integration()), act)
}

// Status implements [integration.StatusReader].
func (d deployer) Status(ctx context.Context, env integration.Environment) ([]integration.Status, error) {
	r := d.open(ctx, env, nil)
	asked, ok := native.Make(r.integration()).(integration.StatusReader)
	if !ok {
		return nil, errors.New("nobody tells how objects stand")
	}
	return asked.Status(ctx, r.inner())
}

// describe returns how an object stands. Texts of a service may repeat values of secrets, so of an object that has some
// only the words for programs are told.
func describe(_ context.Context, _ integration.Environment, _ native.Part, s reconcile.Step, _ *reconcile.Result,
	_ integration.Status) integration.Status {
	var is *manifests.Live
	if s.Thing != nil {
		l, _ := s.Thing.Body.(live)
		is = l.Live
	}
	out := manifests.StatusOf(s, is)
	if b, ok := s.Item.Body.(body); ok && (b.Secrets || len(b.Masked) > 0) {
		for i := range out.Conditions {
			out.Conditions[i].Message = ""
		}
	}
	return out
}

// apply makes the objects as head says, and then writes the records of promotions.
func (r *run) apply(ctx context.Context, of integration.Native, act integration.Actors) error {
	err := of.Run(ctx, r.inner(), act)
	if env := r.env; env.Approve.Adopt || env.Approve.TakeOver {
		return err // it wrote nothing but marks
	}
	if err == nil && !r.hasFailed() {
		err = r.verify(ctx)
	}
	return errors.Join(err, r.publish(ctx, act, err))
}

// limits are those of deletions where the settings say nothing: a template loses objects more
// often than other data do.
func limits() *reconcile.Limits {
	return &reconcile.Limits{Max: math.MaxInt32, Percent: 50, Floor: 10}
}

// integration returns what keeps the objects of both sides.
func (r *run) integration() native.Recipe {
	return native.Recipe{
		Name: Name, Class: reconcile.Listing, Offline: true, Limits: limits(),
		Desired: r.desired, Current: r.current, Compare: r.compare, Try: r.try, Doer: r.doer, Prepare: r.prepare,
		Settle: r.settle, Alters: alters, Sets: sets, Label: label, Describe: describe, Momentary: true,
		Remembers: func(any) any { return nil }, // the digest on the object says what was applied
	}
}

// inner returns the environment of the native that keeps objects: its queries are answered with
// the name of the side.
func (r *run) inner() integration.Environment {
	env := r.env
	env.Query = named(headSide)
	if env.Base != nil {
		env.Base = named(baseSide)
	}
	return env
}

// The sides.
const (
	headSide = "head"
	baseSide = "base"
)

// named answers each query with the name of a side.
func named(side string) integration.QueryFunc {
	return func(context.Context, string, map[string]any) ([]byte, error) { return []byte(side), nil }
}

// desired returns what a side says.
func (r *run) desired(ctx context.Context, query integration.QueryFunc,
	_ settings.Integration) (native.Desired, error) {
	name, err := query(ctx, "", nil)
	if err != nil {
		return native.Desired{}, err
	}
	s := r.head
	if string(name) == baseSide {
		s = r.base
	}
	if s.err != nil {
		return native.Desired{}, s.err
	}
	return s.desired(), nil
}

// credentials returns what services get for the data of a side.
func (r *run) credentials(s *side) saas.Credentials {
	out := saas.Credentials{Settings: r.settings.Settings, Secret: r.env.Secret}
	if s == r.head && r.base != nil {
		out.Base = r.base.model
		if out.Base == nil {
			out.Base = &saas.Model{} // nobody knows what base says
		}
	}
	return out
}

// UsesHosts implements [integration.HostUser].
func (deployer) UsesHosts(ctx context.Context, query integration.QueryFunc,
	it settings.Integration) ([]integration.HostUse, error) {
	s, err := readSettings(it.Own)
	if err != nil {
		return nil, err
	}
	return saas.UsesHosts(ctx, query, s.Settings, false)
}

// Watches implements [integration.Watcher].
func (deployer) Watches(ctx context.Context, query integration.QueryFunc, it settings.Integration) ([]string, error) {
	s, err := readSettings(it.Own)
	if err != nil {
		return nil, err
	}
	return saas.Watches(ctx, query, s.Settings)
}
