package render

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/integration/services"
	"github.com/app-sre/prcheck/natives/saas"
	"github.com/app-sre/prcheck/natives/template"
)

// The bounds of a template, a folder and a chart, and of what comes out of it.
const (
	maxTemplate = 8 << 20 // bytes of all files
	maxFiles    = 2000
	maxObjects  = 2000
	maxResult   = 16 << 20 // bytes of JSON
)

// kind returns how the template of the target becomes objects.
func (r *renderer) kind() saas.Kind {
	if k := r.in.Target.Template.Kind; k != "" {
		return k
	}
	return saas.OpenShift
}

// address returns where people find the template.
func (r *renderer) address() string {
	folder := "tree"
	if r.kind() == saas.OpenShift {
		folder = "blob"
	}
	of := r.in.Target.Template
	return of.URL + "/" + folder + "/" + r.in.Target.Ref + of.Path
}

// wrongTemplate returns a mistake about the template.
func (r *renderer) wrongTemplate(format string, args ...any) error {
	return &TargetMistake{Code: CodeTemplate, Message: fmt.Sprintf("%.300s: %s", r.address(),
		fmt.Sprintf(format, args...))}
}

// readFiles fetches the template.
func (r *renderer) readFiles(ctx context.Context) error {
	of := r.in.Target.Template
	if k := r.kind(); k != saas.OpenShift && k != saas.Directory && k != saas.Helm {
		return r.wrongTemplate("the provider %.40q is not known", k)
	}
	if r.kind() == saas.Helm && r.in.Helm == nil {
		return &TargetMistake{Code: CodeNoHelm, Message: "the program helm is not there, so its chart is not rendered"}
	}
	at := strings.Trim(of.Path, "/")
	if clean := path.Clean("/" + at); at != "" && clean != "/"+at || strings.ContainsAny(at, "\x00\n") {
		return r.wrongTemplate("its path is no path of a repository")
	}
	files, err := r.in.Files(ctx, of.URL, r.in.Commit, at, r.kind() == saas.Helm)
	switch {
	case errors.Is(err, services.ErrNotThere):
		return r.wrongTemplate("it is not there at commit %.12s", r.in.Commit)
	case err != nil:
		return fmt.Errorf("reading %.300s: %w", r.address(), err)
	}
	r.files = files
	size := 0
	for _, raw := range files {
		size += len(raw)
	}
	_, isFile := files[""]
	switch {
	case len(files) > maxFiles:
		return r.wrongTemplate("it has more than %d files", maxFiles)
	case size > maxTemplate:
		return r.wrongTemplate("it is larger than %d MiB", maxTemplate>>20)
	case isFile != (r.kind() == saas.OpenShift):
		return r.wrongTemplate("the provider %s does not fit: %s", r.kind(),
			map[bool]string{true: "this is a file", false: "this is a folder"}[isFile])
	}
	return nil
}

// process returns what the template becomes with values of secrets or with placeholders.
func (r *renderer) process(ctx context.Context, secret secretsFunc) (out []any, err error) {
	switch r.kind() {
	case saas.Directory:
		names := slices.Sorted(maps.Keys(r.files))
		out, err = r.documents(names, r.files)
	case saas.Helm:
		out, err = r.chart(ctx, secret)
	default:
		out, err = r.template(ctx, secret)
	}
	if err != nil {
		return nil, err
	}
	if len(out) > maxObjects {
		return nil, r.wrongTemplate("it has more than %d objects", maxObjects)
	}
	return out, nil
}

// parameters returns the parameters of the target, with those that follow from its commit.
func (r *renderer) parameters(secret secretsFunc, areTexts bool) (*parameters, error) {
	p, err := collect(layersOf(r.in.Target), secret, areTexts)
	if err != nil {
		return nil, err
	}
	if areTexts {
		return p, r.addCommit(p)
	}
	image, isMap := p.values["image"].(map[string]any)
	if _, isThere := p.values["image"]; !isThere {
		image, isMap = map[string]any{}, true
	}
	if isMap && isEmpty(image["tag"]) {
		image = maps.Clone(image)
		image["tag"] = r.shortCommit()
		p.set("image", image)
	}
	return p, nil
}

// addCommit adds the parameters COMMIT_SHA and IMAGE_TAG.
func (r *renderer) addCommit(p *parameters) error {
	if _, isGiven := p.values["COMMIT_SHA"]; !isGiven {
		p.set("COMMIT_SHA", r.in.Commit)
	}
	if !isEmpty(p.values["IMAGE_TAG"]) {
		return nil
	}
	tag := r.shortCommit()
	if r.in.Target.Template.File.UseChannelInImageTag {
		channel, isGiven := p.values["CHANNEL"]
		if !isGiven {
			return &TargetMistake{Code: CodeParameters, Message: "the saas file uses the channel in tags of images, so the " +
				"target needs the parameter CHANNEL"}
		}
		tag = pythonText(channel) + "-" + tag
	}
	p.set("IMAGE_TAG", tag)
	return nil
}

// isEmpty reports whether a parameter is as good as not given.
func isEmpty(value any) bool {
	switch value := value.(type) {
	case string:
		return value == ""
	case json.Number:
		f, err := value.Float64()
		return err == nil && f == 0
	case bool:
		return !value
	case []any:
		return len(value) == 0
	case map[string]any:
		return len(value) == 0
	}
	return value == nil
}

// shortCommit returns the first digits of the commit, as many as the tags of images have.
func (r *renderer) shortCommit() string {
	n := r.in.Target.Template.HashLength
	if n <= 0 {
		n = r.in.HashLength
	}
	if n <= 0 || n > len(r.in.Commit) {
		return r.in.Commit
	}
	return r.in.Commit[:n]
}

// template returns the objects of a template of OpenShift.
func (r *renderer) template(ctx context.Context, secret secretsFunc) ([]any, error) {
	if r.parsed == nil {
		var err error
		if r.parsed, err = template.Read(path.Base(r.in.Target.Template.Path), r.files[""]); err != nil {
			return nil, r.wrongTemplate("%v", err)
		}
	}
	p, err := r.parameters(secret, true)
	if err == nil {
		err = r.addDigest(ctx, r.parsed, p)
	}
	if err != nil {
		return nil, err
	}
	objects, err := template.Process(r.parsed, p.texts())
	if err != nil {
		return nil, r.wrongTemplate("%v", err)
	}
	out := make([]any, len(objects))
	for i := range objects {
		out[i] = objects[i]
	}
	return out, nil
}

// chart returns the objects of a Helm chart. A chart that makes up values, such as passwords or
// the time, is a mistake: the same input must give the same objects. So it is rendered twice.
func (r *renderer) chart(ctx context.Context, secret secretsFunc) ([]any, error) {
	p, err := r.parameters(secret, false)
	if err != nil {
		return nil, err
	}
	raw, err := r.helm(ctx, p)
	if err != nil {
		return nil, err
	}
	switch again, err := r.helm(ctx, p); {
	case err != nil:
		return nil, err
	case !bytes.Equal(raw, again):
		return nil, r.wrongTemplate("the chart makes up values, such as random texts or the time: give them as parameters")
	}
	return r.documents([]string{"the output of helm"}, map[string][]byte{"the output of helm": raw})
}

// helm renders a chart once.
func (r *renderer) helm(ctx context.Context, p *parameters) ([]byte, error) {
	raw, err := r.in.Helm(ctx, r.files, p.values, r.in.Target.Template.Name, r.in.Target.Namespace.Name)
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err == nil || integration.ClassOfFailure(err) == integration.FailureTransient:
		return raw, err
	}
	return nil, r.wrongTemplate("%v", err)
}

// documents returns the values of all documents of some files.
func (r *renderer) documents(names []string, files map[string][]byte) ([]any, error) {
	var out []any
	size := 0
	for _, name := range names {
		docs, err := template.ReadDocuments(name, files[name], maxObjects)
		if err != nil {
			return nil, r.wrongTemplate("%v", err)
		}
		for _, doc := range docs {
			value, err := doc.Value()
			if err != nil {
				return nil, r.wrongTemplate("%v", err)
			}
			if size += sizeOf(value); size > maxResult || len(out) > maxObjects {
				return nil, r.wrongTemplate("it becomes more than %d objects or %d MiB", maxObjects, maxResult>>20)
			}
			if value != nil {
				out = append(out, value)
			}
		}
	}
	return out, nil
}
