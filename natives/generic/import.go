package generic

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/natives/generic/cloud"
	"github.com/app-sre/prcheck/natives/generic/family"
	"github.com/app-sre/prcheck/natives/generic/hooks"
	"github.com/app-sre/prcheck/natives/generic/importer"
	"github.com/app-sre/prcheck/natives/generic/rest"
	"github.com/app-sre/prcheck/natives/native"
	"github.com/app-sre/prcheck/natives/openapi/resources"
	"github.com/app-sre/prcheck/natives/reconcile"
	"github.com/app-sre/prcheck/settings"
)

// ImportOptions say which resource data are written about.
type ImportOptions struct {
	Options
	ID           string // of the resource
	API          string // name or datafile of its API; "" if only one has a type for the id
	Type         string // with the version; "" if only one fits
	WithChildren bool   // also what stands in it
	Folder       string // of the datafiles, below that of the data
	// Save takes the datafiles, before the state learns of the resources.
	Save func([]Imported) error
}

// An Imported is a datafile about a resource that is there.
type Imported struct {
	File  string // with slashes, below the folder of the data
	Text  []byte
	ID    string
	Entry importer.Entry // what the text says
	// Unmarked says that the resource could have a mark and has none. A run takes it for ours only if the
	// state knows of the import, or if the entry allows to adopt it.
	Unmarked bool

	key    reconcile.Key
	record record
	part   native.Part
}

// Importer returns a native that imports a resource: its dry run and its run write data, and
// its run also notes in the state that the resource is ours, as it is.
func Importer(o ImportOptions) integration.Native {
	if o.Families == nil {
		o.Families = family.Of
	}
	if o.Hooks == nil {
		o.Hooks = hooks.Default()
	}
	g := &generic{Options: o.Options, reads: &rest.Throttle{}}
	g.reader = &cloud.Reader{Families: o.Families, Hooks: o.Hooks}
	return importing{g, o}
}

type importing struct {
	*generic
	options ImportOptions
}

// Name implements [integration.Native].
func (i importing) Name() string { return Name }

// CheckSettings implements [integration.Checker]: the settings are those of the integration.
func (i importing) CheckSettings(own settings.Own) error {
	_, err := readSettings(own)
	return err
}

// DryRun implements [integration.Native].
func (i importing) DryRun(ctx context.Context, env integration.Environment) error {
	all, err := i.read(ctx, env, nil)
	if err != nil {
		return errors.Join(integration.ErrNothingDone, err)
	}
	return i.options.Save(all)
}

// Run implements [integration.Native].
func (i importing) Run(ctx context.Context, env integration.Environment, act integration.Actors) error {
	key, err := makeKey(ctx, act.State)
	if err != nil {
		return err
	}
	all, err := i.read(ctx, env, key)
	if err != nil {
		return errors.Join(integration.ErrNothingDone, err)
	}
	if err := i.options.Save(all); err != nil || act.State == nil {
		return err
	}
	for _, one := range all {
		if err := native.Know(ctx, act.State, one.part,
			map[reconcile.Key]reconcile.Record{one.key: {Applied: one.record, Unmarked: one.Unmarked}}); err != nil {
			return fmt.Errorf("the data are written, but %w", err)
		}
	}
	return nil
}

// A source is where imported resources are.
type source struct {
	*service
	api    *cloud.API
	owner  reconcile.Owner
	folder string
	key    []byte // of the hashes of secrets
}

// read reads the resource and what stands in it.
func (i importing) read(ctx context.Context, env integration.Environment, key []byte) ([]Imported, error) {
	m, err := i.reader.Read(ctx, env.Query)
	if err != nil {
		return nil, err
	}
	api, of, at, err := i.find(m)
	if err != nil {
		return nil, reconcile.Config(err)
	}
	set, err := readSettings(env.Settings.Own)
	if err != nil {
		return nil, reconcile.Config(err)
	}
	t, why := set.target(api, at.Root, readsOf(m))
	if why != "" {
		return nil, reconcile.Config(fmt.Errorf("the settings of %s %s", env.Integration, why))
	}
	if env.Endpoint == nil {
		return nil, reconcile.Config(errNoEndpoint)
	}
	transport, err := env.Endpoint(ctx, t.EndpointRef)
	if err != nil {
		return nil, err
	}
	s := &source{api: api, owner: reconcile.Owner{Integration: env.Integration, Caller: set.Instance},
		folder: i.options.Folder, key: key}
	if s.service, err = i.open(env, native.Part{Shard: at.Root, Target: t}, transport, i.reads); err != nil {
		return nil, err
	}
	return s.resource(ctx, of, at, i.options.WithChildren)
}

// find finds the API and the type that an id is about.
func (i importing) find(m *cloud.Model) (*cloud.API, *resources.Type, family.Address, error) {
	var found []match
	var problems []error
	for _, a := range m.APIs {
		if i.options.API != "" && i.options.API != a.Name && i.options.API != a.File {
			continue
		}
		if !a.Mistake.IsZero() {
			problems = append(problems, fmt.Errorf("%s: %s", a.File, a.Mistake.Message))
			continue
		}
		f := i.Families(a.Family)
		for _, t := range a.Specs().Types() {
			if i.options.Type != "" && !strings.EqualFold(i.options.Type, t.ID()) && !strings.EqualFold(i.options.Type, t.Name) {
				continue
			}
			if t.Family != f.Types {
				continue
			}
			if at, err := f.Locate(t, family.Reference{ID: i.options.ID}); err == nil {
				found = append(found, match{a, t, at})
			}
		}
	}
	found = mostSpecific(found)
	switch {
	case len(found) == 1:
		return found[0].api, found[0].of, found[0].at, nil
	case len(found) > 1:
		var names []string
		for _, one := range found {
			names = append(names, one.api.Name+" "+one.of.ID())
		}
		slices.Sort(names)
		return nil, nil, family.Address{}, fmt.Errorf("%.200q can be of several types: choose one of %s with --api "+
			"and --type", i.options.ID, strings.Join(slices.Compact(names), ", "))
	}
	problems = append(problems,
		fmt.Errorf("no API of the data has a type with the address %.200q: %d APIs were looked at; check the id, --api "+
			"and --type", i.options.ID, len(m.APIs)))
	return nil, nil, family.Address{}, errors.Join(problems...)
}

// A match is a type that an id may be of.
type match struct {
	api *cloud.API
	of  *resources.Type
	at  family.Address
}

// mostSpecific returns the matches whose address has the fewest parameters, each type once.
func mostSpecific(all []match) []match {
	best := -1
	var out []match
	for _, one := range all {
		fixed := strings.Count(one.of.Path, "/") - strings.Count(one.of.Path, "{")
		switch {
		case fixed > best:
			best, out = fixed, []match{one}
		case fixed == best && !slices.ContainsFunc(out, func(o match) bool {
			return o.api == one.api && o.of.ID() == one.of.ID()
		}):
			out = append(out, one)
		}
	}
	return out
}
