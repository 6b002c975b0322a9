package deploy

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"strconv"
	"strings"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/internal/jsonpointer"
	"github.com/app-sre/prcheck/natives/manifests"
	"github.com/app-sre/prcheck/natives/native"
	"github.com/app-sre/prcheck/natives/reconcile"
)

// A doer reads and writes single objects of a namespace.
type doer struct {
	*view
	objects manifests.Applier
}

// doer returns what reads and writes the objects of a part.
func (r *run) doer(ctx context.Context, _ integration.Environment, act integration.Actors,
	p native.Part) (reconcile.Doer, error) {
	v, err := r.view(p)
	if err != nil {
		return nil, err
	}
	writer, err := act.Cluster(ctx, v.cluster)
	if err != nil {
		return nil, err
	}
	return doer{v, manifests.Applier{Writer: writer, Options: v.options, Limit: r.settings.patience(),
		Always: v.isAlways}}, nil
}

// errNoKind says that the saas file manages no objects of this kind any more.
var errNoKind = errors.New("nobody knows the kind of")

// object returns the kind and the name of the object of a key.
func (v *view) object(key reconcile.Key) (manifests.Kind, string, error) {
	name := string(key[strings.LastIndexByte(string(key), '/')+1:])
	if k, ok := v.kinds[key]; ok {
		return k, name, nil
	}
	for _, k := range v.listed { // it was there in an earlier run
		if objectKey(v.at, k, name) == key {
			return k, name, nil
		}
	}
	return manifests.Kind{}, "", fmt.Errorf("%w %s", errNoKind, key)
}

// Read implements [reconcile.Doer]. An object that no entry names and that is not ours is as if it
// were not there: somebody made it in the place of one of ours.
func (d doer) Read(ctx context.Context, key reconcile.Key) (*reconcile.Thing, error) {
	k, name, err := d.object(key)
	if errors.Is(err, errNoKind) {
		return nil, nil // nobody looks at such objects any more
	}
	if err != nil {
		return nil, err
	}
	l, err := d.objects.Read(ctx, k, d.namespace, name)
	if err != nil || l == nil {
		return nil, err
	}
	if _, isNamed := d.bodies[key]; !isNamed && !l.Deletable() {
		return nil, nil
	}
	t := d.thing(l)
	return &t, nil
}

// Write implements [reconcile.Doer].
func (d doer) Write(ctx context.Context, s reconcile.Step, fresh *reconcile.Thing, mark reconcile.Mark) error {
	var l *manifests.Live
	if fresh != nil {
		is, ok := fresh.Body.(live)
		if !ok {
			return fmt.Errorf("got a body of type %T", fresh.Body)
		}
		l = is.Live
	}
	want, objects := manifests.Wanted{Namespace: d.namespace}, d.objects
	b, _ := s.Wanted().(body)
	isMark := s.Action == reconcile.AdoptIt || s.Action == reconcile.MarkIt
	if b.Object != nil && s.Action != reconcile.Remove && !isMark {
		k, _, err := d.object(s.Key)
		if err != nil {
			return err
		}
		want.Kind, want.Object = k, b.Object
		objects.Options = b.options(objects.Options, true)
	}
	return b.clean(objects.Do(ctx, s.Action, want, l, mark))
}

// clean returns an error without what a server may have repeated of an object with secrets.
func (b body) clean(err error) error {
	if err == nil || len(b.Masked) == 0 {
		return err
	}
	message := err.Error()
	for _, pointer := range b.Masked {
		for _, secret := range textsAt(b.Object, jsonpointer.Split(pointer)) {
			if secret != "" && strings.Contains(message, secret) {
				return &cleaned{err}
			}
		}
	}
	return err
}

// textsAt returns the scalars at and below a place, as text.
func textsAt(v any, path []string) []string {
	switch v := v.(type) {
	case map[string]any:
		var out []string
		for name, member := range v {
			if len(path) == 0 {
				out = append(append(out, name), textsAt(member, nil)...)
			} else if name == path[0] {
				out = append(out, textsAt(member, path[1:])...)
			}
		}
		return out
	case []any:
		var out []string
		for i, item := range v {
			if len(path) == 0 {
				out = append(out, textsAt(item, nil)...)
			} else if strconv.Itoa(i) == path[0] {
				out = append(out, textsAt(item, path[1:])...)
			}
		}
		return out
	}
	return []string{fmt.Sprint(v)}
}

// A cleaned error hides its text, which has the value of a secret.
type cleaned struct{ error }

// Error returns what may be shown.
func (c *cleaned) Error() string {
	return "it could not be written, and what the server says is not shown, because it repeats the value of a secret"
}

// Unwrap returns the error.
func (c *cleaned) Unwrap() error { return c.error }

// try asks the cluster whether it would make an object as its entry says. An object with secrets is not
// sent: a dry run does not know their values.
func (r *run) try(ctx context.Context, env integration.Environment, p native.Part,
	s reconcile.Step) ([]reconcile.Change, error) {
	v, err := r.view(p)
	if err != nil {
		return nil, err
	}
	b, _ := s.Item.Body.(body)
	if len(b.Masked) > 0 {
		return nil, native.ErrNotTried
	}
	var l *manifests.Live
	if s.Thing != nil {
		is, _ := s.Thing.Body.(live)
		l = is.Live
	}
	if l != nil && len(v.options.Takes(l)) > 0 {
		// the log is for people
		_, _ = fmt.Fprintf(env.Log, "%s cannot be tried: fields of others become ours first\n", s.Key)
		return s.Changes, nil
	}
	k, name, err := v.object(s.Key)
	if err != nil {
		return nil, err
	}
	trial, err := env.Trial(ctx, v.cluster)
	if err != nil {
		return nil, err
	}
	raw, err := manifests.Applied(k, b.Object, l, v.namespace, v.options,
		reconcile.Mark{Integration: env.Integration, Caller: p.Caller})
	if err != nil {
		return nil, err
	}
	_, err = trial.TryApply(ctx, k.Ref(v.namespace, name), raw)
	return s.Changes, b.clean(err)
}

// keys returns the keys of a map.
func keys[K comparable, V any](m map[K]V) iter.Seq[K] { return maps.Keys(m) }
