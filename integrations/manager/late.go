package manager

import (
	"context"
	"fmt"
	"strings"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/integration/manifests"
	"github.com/app-sre/prcheck/integrations/manager/render"
	"github.com/app-sre/prcheck/native"
	"github.com/app-sre/prcheck/reconcile"
)

// usedBy returns the open values of an object of an integration, with their defaults.
func (p params) usedBy(o manifests.Object, of render.Integration) map[string]late {
	if len(p.late) == 0 {
		return nil
	}
	found := map[string]late{}
	eachText(o, func(text string) {
		if !strings.Contains(text, "${") {
			return
		}
		for name, l := range p.late {
			if strings.Contains(text, render.Late(name)) {
				found[name] = l
			}
		}
	})
	for name, l := range found {
		if l.Ref == "" && l.Default == nil {
			l.Default = defaultOf(name, of)
			found[name] = l
		}
	}
	if len(found) == 0 {
		return nil
	}
	return found
}

// defaultOf returns the default of a parameter.
func defaultOf(name string, of render.Integration) *string {
	for _, p := range render.Parameters(of) {
		if p.Name == name {
			return p.Value
		}
	}
	return nil
}

// eachText calls do for each text of a JSON value.
func eachText(v any, do func(string)) {
	switch v := v.(type) {
	case string:
		do(v)
	case manifests.Object:
		for _, item := range v {
			eachText(item, do)
		}
	case []any:
		for _, item := range v {
			eachText(item, do)
		}
	case []manifests.Object:
		for _, item := range v {
			eachText(item, do)
		}
	}
}

// completer returns what fills in the open values of a part.
func completer(r *resolver) func(context.Context, integration.Environment, native.Part) (native.Part, error) {
	return func(ctx context.Context, env integration.Environment, p native.Part) (native.Part, error) {
		s, err := readSettings(env.Settings.Own)
		if err != nil {
			return p, reconcile.Config(err)
		}
		items := make([]reconcile.Item, len(p.Items))
		for i, it := range p.Items {
			made, ok := it.Body.(body)
			if !ok {
				return p, fmt.Errorf("item %q has a body of type %T", it.Key, it.Body)
			}
			if it.Body, err = complete(ctx, env, r, s.GitHub, it.Key, made); err != nil {
				return p, err
			}
			items[i] = it
		}
		p.Items = items
		return p, nil
	}
}

// complete returns a body without open values, and logs its image.
func complete(ctx context.Context, env integration.Environment, r *resolver, at gitHub, key reconcile.Key, b body) (body, error) {
	values := map[string]string{}
	why := "as the data say"
	for _, name := range sortedKeys(b.Late) {
		value, source, err := b.Late[name].find(ctx, env, r, at, name)
		if err != nil {
			return b, err
		}
		values[name] = value
		if name == tagParameter || name == imageParameter || name == digestParameter {
			why = source
		}
	}
	if len(values) > 0 {
		object, err := render.Fill(b.Object, values)
		if err != nil {
			return b, reconcile.Config(fmt.Errorf("%s: %w", key, err))
		}
		b.Object, b.Late = object, nil
	}
	if image := imageOf(b.Object); image != "" {
		_, _ = fmt.Fprintf(env.Log, "image of %s: %s, %s\n", key, image, why) // the log is for people
	}
	return b, nil
}

// find returns the value, and says where it is from.
func (l late) find(ctx context.Context, env integration.Environment, r *resolver, at gitHub, name string) (value, source string, err error) {
	if l.Ref != "" {
		commit, err := r.commit(ctx, env, at, l)
		if err != nil {
			return "", "", err
		}
		return commit[:l.Length], fmt.Sprintf("the commit of %s in %s", l.Ref, l.Repo), nil
	}
	if env.Variable != nil {
		if value, ok := env.Variable(name); ok && value != "" {
			return value, "with the variable " + name + " of the process", nil
		}
	}
	if l.Default == nil {
		return "", "as the data say", nil
	}
	return *l.Default, "as the data say", nil
}

// imageOf returns the image of the process of an object, "" if it has none.
func imageOf(o manifests.Object) string {
	spec := field(o, "spec")
	if job := field(spec, "jobTemplate"); job != nil {
		spec = field(job, "spec")
	}
	var image string
	eachContainer(field(field(spec, "template"), "spec")["containers"], func(c manifests.Object) {
		if text, ok := c["image"].(string); ok && (image == "" || c["name"] == "int") {
			image = text
		}
	})
	return image
}

func eachContainer(list any, do func(manifests.Object)) {
	switch list := list.(type) {
	case []any:
		for _, v := range list {
			if o, ok := v.(manifests.Object); ok {
				do(o)
			}
		}
	case []manifests.Object:
		for _, o := range list {
			do(o)
		}
	}
}

// field returns the object in a field, nil if there is none.
func field(o manifests.Object, name string) manifests.Object {
	of, _ := o[name].(manifests.Object)
	return of
}
