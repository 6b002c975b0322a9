package generic

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/natives/generic/body"
	"github.com/app-sre/prcheck/natives/generic/cloud"
	"github.com/app-sre/prcheck/natives/generic/rest"
	"github.com/app-sre/prcheck/natives/generic/rules"
	"github.com/app-sre/prcheck/natives/native"
	"github.com/app-sre/prcheck/natives/reconcile"
	"github.com/app-sre/prcheck/plan"
)

// codeStore says that the settings do not let an output go to a place of the store of secrets.
const codeStore plan.FindingCode = "OUTPUT_STORE"

// pathOutputs is what the change is named that puts values into the store of secrets.
const pathOutputs = "outputs"

// checkStores returns why the outputs of a resource may not go where they should, "" if they may.
func (s ownSettings) checkStores(r *cloud.Resource) string {
	for _, out := range r.Outputs {
		if !slices.ContainsFunc(s.OutputsBelow, func(front string) bool {
			return front != "" && strings.HasPrefix(out.To.Path, strings.TrimSuffix(front, "/")+"/")
		}) {
			return fmt.Sprintf("the settings do not let values go to the secret %.200q: add a folder that it is in to "+
				"outputs_below", out.To.Path)
		}
	}
	return ""
}

// A source of values is the live bodies of resources.
type liveOf func(ctx context.Context, of *cloud.Output) (live any, isThere bool, err error)

// take learns the values that an entry takes of others, as far as they are there.
func (e *entry) take(ctx context.Context, live liveOf) error {
	e.taken = map[string]any{}
	values := map[*cloud.Output]any{}
	for _, t := range e.of.Taken {
		for _, o := range t.Of {
			is, isThere, err := live(ctx, o)
			if err != nil {
				return err
			}
			if v, has := body.Get(is, o.At); isThere && has && v != nil {
				values[o] = v
			}
		}
		v, isKnown := t.Fill(func(o *cloud.Output) (any, bool) {
			v, known := values[o]
			return v, known
		})
		if isKnown {
			e.taken[t.At] = v
		}
	}
	return nil
}

// withTaken returns a body with the values that are known of other resources, and the places of those that are not.
func (e *entry) withTaken(v any) (out any, unknown []string, err error) {
	out = v
	for _, t := range e.of.Taken {
		value, isKnown := e.taken[t.At]
		if !isKnown {
			unknown = append(unknown, t.At)
			continue
		}
		if out, err = body.Set(out, t.At, value); err != nil {
			return nil, nil, err
		}
	}
	return out, unknown, nil
}

// waitsFor returns the error of an entry whose resource needs values that are not there.
func (e *entry) waitsFor(unknown []string) error {
	if len(unknown) == 0 {
		return nil
	}
	var of []string
	for _, t := range e.of.Taken {
		if slices.Contains(unknown, t.At) {
			for _, o := range t.Of {
				of = append(of, string(o.Of.Key)+o.At)
			}
		}
	}
	return reconcile.Transient(fmt.Errorf("it waits for %s: the service gives no such value yet", strings.Join(of, ", ")))
}

// readElsewhere reads a resource of another part, through its own endpoint and credential.
func (g *generic) readElsewhere(ctx context.Context, env integration.Environment, o *cloud.Output) (rest.Live, error) {
	set, err := readSettings(env.Settings.Own)
	if err != nil {
		return rest.Live{}, reconcile.Config(err)
	}
	r := o.Of
	t, why := set.target(r.API, r.Address.Root, map[string][]string{r.API.Endpoint: r.API.ReadActions})
	if why != "" {
		return rest.Live{}, reconcile.Config(fmt.Errorf("reading %s: the settings %s", r.Key, why))
	}
	if env.Endpoint == nil {
		return rest.Live{}, reconcile.Config(errNoEndpoint)
	}
	transport, err := env.Endpoint(ctx, t.EndpointRef)
	if err != nil {
		return rest.Live{}, err
	}
	part := native.Part{Shard: r.Root, Caller: set.Instance, At: r.API.Endpoint, Target: t,
		Items: []reconcile.Item{g.item(ctx, r, nil)}}
	s, err := g.open(env, part, transport, g.reads)
	if err != nil {
		return rest.Live{}, err
	}
	return s.readFor(ctx, o)
}

// readFor reads what answers the value of an output: the resource, or an action that only reads.
func (s *service) readFor(ctx context.Context, o *cloud.Output) (rest.Live, error) {
	e := s.entries[o.Of.Key]
	if e == nil {
		return rest.Live{}, nil
	}
	t := rest.Target{Address: e.of.Address, Type: e.of.TypeID(), Plain: e.of.Plain, Find: s.finder(e, nil)}
	live, err := s.client.Read(ctx, t)
	if err != nil || !live.Found || o.By == "" {
		return live, err
	}
	t.Address = e.address()
	return s.client.Ask(ctx, t, o.By)
}

// takeAll lets the entries of a part take values of what was read. Before the merge of a change only what this part
// read is known: other endpoints are asked for nothing.
func (c *collection) takeAll(ctx context.Context, env integration.Environment, items map[string]*reconcile.Item) {
	for _, key := range sortedKeys(items) {
		e, isEntry := items[key].Body.(*entry)
		if !isEntry || len(e.of.Taken) == 0 && len(e.of.Outputs) == 0 {
			continue
		}
		err := e.take(ctx, func(ctx context.Context, o *cloud.Output) (any, bool, error) {
			return c.liveFor(ctx, env, o, items[string(o.Of.Key)])
		})
		if err == nil && env.Base == nil {
			err = c.compareStore(ctx, env, e, items[key].Key)
		}
		if err != nil {
			c.out.Unread[items[key].Key] = err
		}
	}
}

// liveFor returns what has the value of an output. A resource that this run changes may have another value then: it is
// not known before.
func (c *collection) liveFor(ctx context.Context, env integration.Environment, o *cloud.Output,
	it *reconcile.Item) (any, bool, error) {
	if it == nil {
		if env.Base != nil {
			return nil, false, nil
		}
		live, err := c.readElsewhere(ctx, env, o)
		return live.Body, live.Found, err
	}
	thing := c.thingOf(o.Of.Key)
	if thing == nil {
		return nil, false, nil
	}
	if d, err := compare(*it, *thing, c.known[it.Key]); err != nil || d.Replace || len(d.Changes) > 0 {
		return nil, false, nil //nolint:nilerr // the plan of that resource tells what is wrong with it
	}
	if o.By != "" {
		live, err := c.readFor(ctx, o)
		return live.Body, live.Found, err
	}
	is, _ := thing.Body.(found)
	if of, _ := it.Body.(*entry); of.isDraft && !o.IsSecret && !of.shows(is.live.Body, o.At) {
		return nil, false, nil
	}
	return is.live.Body, is.live.Found, nil
}

// thingOf returns the thing of a key, nil if it is not there.
func (c *collection) thingOf(key reconcile.Key) *reconcile.Thing {
	i := slices.IndexFunc(c.out.Things, func(t reconcile.Thing) bool { return t.Key == key })
	if i < 0 {
		return nil
	}
	return &c.out.Things[i]
}

// compareStore notes whether the store of secrets lacks a value of a resource.
func (c *collection) compareStore(ctx context.Context, env integration.Environment, e *entry, key reconcile.Key) error {
	thing := c.thingOf(key)
	if thing == nil {
		return nil
	}
	is, _ := thing.Body.(found)
	for _, out := range e.of.Outputs {
		value, isKnown, err := valueOf(is.live.Body, out.At)
		if err != nil {
			return reconcile.Config(err)
		}
		if isKnown && !holds(ctx, env, out, value) {
			e.unstored = append(e.unstored, out.At)
		}
	}
	return nil
}

// holds reports whether the store of secrets has a value. One that cannot be read is written, which tells why.
func holds(ctx context.Context, env integration.Environment, out cloud.Stored, value string) bool {
	if env.Secret == nil {
		return false
	}
	is, err := env.Secret(ctx, out.To)
	return err == nil && is == value
}

// valueOf returns a value of a resource as text; false if it is not there.
func valueOf(live any, at string) (string, bool, error) {
	v, has := body.Get(live, at)
	switch v := v.(type) {
	case string:
		return v, v != "", nil
	case json.Number:
		return v.String(), true, nil
	case bool:
		return fmt.Sprint(v), true, nil
	case nil:
		return "", false, nil
	}
	return "", has, fmt.Errorf("the value at %s is no text, and cannot be a secret", at)
}

// takeNow lets the entry of a step take the values that other resources have at this moment.
func (w *writing) takeNow(ctx context.Context) error {
	err := w.take(ctx, func(ctx context.Context, o *cloud.Output) (any, bool, error) {
		if w.entries[o.Of.Key] == nil {
			live, err := w.readElsewhere(ctx, w.env, o)
			return live.Body, live.Found, err
		}
		live, err := w.readFor(ctx, o)
		return live.Body, live.Found, err
	})
	if err != nil {
		return err
	}
	_, unknown, err := w.withTaken(w.desired)
	if err != nil {
		return reconcile.Config(err)
	}
	return w.waitsFor(unknown)
}

// publish puts the values of a resource into the store of secrets, as far as it has others.
func (w *writing) publish(ctx context.Context, live any) error {
	for _, out := range w.of.Outputs {
		value, isKnown, err := valueOf(live, out.At)
		switch {
		case err != nil:
			return reconcile.Config(err)
		case !isKnown:
			return reconcile.Transient(fmt.Errorf("its value at %s is not there yet", out.At))
		case holds(ctx, w.env, out, value):
			continue
		case w.putSecret == nil:
			return reconcile.Config(fmt.Errorf("nothing here can write the secret %.200q", out.To.Path))
		}
		if err := w.putSecret(ctx, out.To, value); err != nil {
			return fmt.Errorf("writing the secret %.200q, field %.100q: %w", out.To.Path, out.To.Field, err)
		}
	}
	return nil
}

// notTaken returns the changes of a resource that stands as the data say, but for values that are not known yet, or
// that the store of secrets lacks.
func (e *entry) notTaken() (out []reconcile.Change) {
	_, unknown, err := e.withTaken(e.desired)
	if err == nil && !e.isDraft {
		for _, at := range unknown {
			out = append(out, reconcile.Change{Path: at, New: "what " + e.of.Taken[0].Of[0].Of.File + " gives"})
		}
	}
	for _, at := range e.unstored {
		out = append(out, reconcile.Change{Path: pathOutputs + at, New: rules.Hidden})
	}
	return out
}
