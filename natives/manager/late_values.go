package manager

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/natives/manager/render"
	"github.com/app-sre/prcheck/natives/manifests"
	"github.com/app-sre/prcheck/natives/native"
	"github.com/app-sre/prcheck/natives/reconcile"
)

// latePrefix is what open values begin with.
var latePrefix = strings.TrimSuffix(render.Late(""), "}")

// usedBy returns the open values of an object of an integration, with their defaults. It is an
// error if a text of the data looks like one.
func (p params) usedBy(o manifests.Object, of render.Integration) (map[string]late, error) {
	var found map[string]late
	var err error
	eachText(o, func(text string) {
		marks := strings.Count(text, latePrefix)
		if marks == 0 {
			return
		}
		for name, l := range p.late {
			if n := strings.Count(text, render.Late(name)); n > 0 {
				if marks -= n; found == nil {
					found = map[string]late{}
				}
				found[name] = l
			}
		}
		if marks > 0 {
			err = fmt.Errorf("a value has the text %s, which is reserved", latePrefix)
		}
	})
	for name, l := range found {
		if l.Ref == "" && l.Default == nil {
			l.Default = defaultOf(name, of)
			found[name] = l
		}
	}
	return found, err
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
		p.Items = slices.Clone(p.Items)
		images := map[string][]string{} // objects, by image and why
		for i := range p.Items {
			made, ok := p.Items[i].Body.(body)
			if !ok {
				return p, fmt.Errorf("item %q has a body of type %T", p.Items[i].Key, p.Items[i].Body)
			}
			values, why, err := findAll(ctx, env, r, s.GitHub, made.Late)
			if err != nil {
				return p, err // nothing of the part is written or deleted
			}
			p.Items[i] = complete(p.Items[i], made, values)
			if image := imageOf(p.Items[i].Body.(body).Object); image != "" {
				text := image + ", " + why
				images[text] = append(images[text], strings.TrimPrefix(string(p.Items[i].Key), p.Shard+"/"))
			}
		}
		for _, text := range sortedKeys(images) {
			_, _ = fmt.Fprintf(env.Log, "image %s: %s of %s\n", text, shortList(images[text]), p.Shard) // the log is for people
		}
		return p, nil
	}
}

// maxListed is how many names a line of the log has.
const maxListed = 10

// shortList names some things of a list.
func shortList(names []string) string {
	if left := len(names) - maxListed; left > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:maxListed], ", "), left)
	}
	return strings.Join(names, ", ")
}

// complete returns an item without open values, or with a mistake if they do not fit.
func complete(it reconcile.Item, b body, values map[string]string) reconcile.Item {
	if len(values) == 0 {
		return it
	}
	object, err := render.Fill(b.Object, values)
	if err != nil {
		it.Mistake = reconcile.Mistake{Code: codeRender, Message: err.Error()}
		return it
	}
	b.Object, b.Late = object, nil
	it.Body = b
	return it
}

// findAll returns values by their names, and says why the image is what it is.
func findAll(ctx context.Context, env integration.Environment, r *resolver, at gitHub,
	all map[string]late) (values map[string]string, why string, err error) {
	values, why = map[string]string{}, fromData
	for _, name := range sortedKeys(all) {
		value, source, err := all[name].find(ctx, env, r, at, name)
		if err != nil {
			return nil, "", err
		}
		values[name] = value
		if source != fromData && slices.Contains([]string{tagParameter, imageParameter, digestParameter}, name) {
			why = source
		}
	}
	return values, why, nil
}

// fromData says why an image is what it is.
const fromData = "as the data say"

// find returns the value, and says where it is from.
func (l late) find(ctx context.Context, env integration.Environment, r *resolver, at gitHub,
	name string) (value, source string, err error) {
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
		return "", fromData, nil
	}
	return *l.Default, fromData, nil
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
