package render

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/integration/services"
	"github.com/app-sre/prcheck/internal/jsonpointer"
	"github.com/app-sre/prcheck/natives/saas"
	"github.com/app-sre/prcheck/natives/template"
)

// An image is where an object names an image.
type image struct{ name, pointer string }

// imagesOf returns the images that an object names: those of pod templates, of bare pods, of
// CronJobs, of CatalogSources, and of deployments and jobs of ClowdApps.
func imagesOf(object map[string]any) []image {
	var out []image
	spec, _ := object["spec"].(map[string]any)
	if object["kind"] == "Pod" {
		out = append(out, imagesOfPod(spec, "/spec")...)
	}
	out = append(out, imagesOfTemplate(spec, "/spec")...)
	if job, ok := mapAt(spec, "jobTemplate", "spec"); ok {
		out = append(out, imagesOfTemplate(job, "/spec/jobTemplate/spec")...)
	}
	out = append(out, imageIn(spec, "/spec")...)
	for _, list := range []string{"deployments", "jobs"} {
		out = append(out, imagesOfList(spec, "/spec", list, "podSpec")...)
	}
	return out
}

// imagesOfTemplate returns the images of the pod template in a spec.
func imagesOfTemplate(spec map[string]any, pointer string) []image {
	pod, _ := mapAt(spec, "template", "spec")
	return imagesOfPod(pod, pointer+"/template/spec")
}

func imagesOfPod(pod map[string]any, pointer string) []image {
	return append(imagesOfList(pod, pointer, "containers"), imagesOfList(pod, pointer, "initContainers")...)
}

// imagesOfList returns the image of each item of a list, below the given fields of the item.
func imagesOfList(of map[string]any, pointer, list string, fields ...string) []image {
	var out []image
	items, _ := of[list].([]any)
	for i, item := range items {
		at := pointer + "/" + list + "/" + strconv.Itoa(i)
		in, _ := item.(map[string]any)
		if in, ok := mapAt(in, fields...); ok {
			for _, field := range fields {
				at = jsonpointer.Append(at, field)
			}
			out = append(out, imageIn(in, at)...)
		}
	}
	return out
}

// imageIn returns the image in the field image of a map, if there is one.
func imageIn(of map[string]any, pointer string) []image {
	switch value := of["image"].(type) {
	case nil, map[string]any, []any: // of a chart or a custom resource: no name of an image
		return nil
	case string:
		return []image{{value, pointer + "/image"}}
	default:
		return []image{{fmt.Sprint(value), pointer + "/image"}}
	}
}

// mapAt returns the map at a path of fields.
func mapAt(of map[string]any, fields ...string) (map[string]any, bool) {
	for _, field := range fields {
		var ok bool
		if of, ok = of[field].(map[string]any); !ok {
			return nil, false
		}
	}
	return of, of != nil
}

// wrongImage says why an image is not allowed, "" if it is.
func wrongImage(name string, t *saas.Target, blocks []saas.BlockRule) string {
	begins := func(pattern string) bool { return strings.HasPrefix(name, pattern) }
	patterns := t.Template.File.ImagePatterns
	switch {
	case len(patterns) == 0:
		return "is not allowed: the saas file has no imagePatterns"
	case !slices.ContainsFunc(patterns, begins):
		return "begins with none of the imagePatterns of the saas file"
	}
	for _, rule := range blocks {
		if holds(rule, t.Namespace.Environment) && slices.ContainsFunc(rule.Patterns, begins) {
			return "is blocked in this environment by a rule for images"
		}
	}
	return ""
}

// holds reports whether a rule is about an environment: it has all labels of the rule.
func holds(rule saas.BlockRule, env *saas.Environment) bool {
	for name, value := range rule.Labels {
		if env == nil {
			return false
		}
		if is, ok := env.Labels[name]; !ok || is != value {
			return false
		}
	}
	return true
}

// checkImages checks the images of all objects. It asks the registry once for each image.
func (r *renderer) checkImages(ctx context.Context) error {
	wrong, asked := map[string]bool{}, map[string]bool{}
	var failed error
	for i, object := range r.out.Objects {
		for _, of := range imagesOf(object) {
			label := fmt.Sprintf("the image %.200q", of.name)
			if isBelow(of.pointer, r.out.Masked[i]) {
				label = fmt.Sprintf("the image at %s of %s, which holds a secret,", of.pointer, r.out.label(i))
			} else if !slices.Contains(r.out.Images, of.name) {
				r.out.Images = append(r.out.Images, of.name)
			}
			if why := wrongImage(of.name, r.in.Target, r.in.Blocks); why != "" {
				wrong[label+" "+why] = true
				continue
			}
			if r.in.Digest == nil || asked[of.name] {
				continue
			}
			asked[of.name] = true
			switch _, err := r.in.Digest(ctx, of.name); {
			case errors.Is(err, services.ErrNotThere):
				wrong[label+" does not exist in its registry"] = true
			case err != nil && failed == nil:
				failed = r.failedAt("checking "+label, err, isBelow(of.pointer, r.out.Masked[i]))
			}
		}
	}
	slices.Sort(r.out.Images)
	if r.in.Digest == nil && len(r.out.Images) > 0 {
		r.out.Unchecked = append(r.out.Unchecked, "whether the images exist in their registries")
	}
	if len(wrong) > 0 {
		return &TargetMistake{Code: CodeImage, Message: some(slices.Sorted(maps.Keys(wrong)))}
	}
	return failed
}

// failedAt returns the error of a service. If what was asked for holds a secret, the words of the
// service are left out.
func (r *renderer) failedAt(what string, err error, isSecret bool) error {
	if !isSecret {
		return fmt.Errorf("%s: %w", what, err)
	}
	return integration.Failure(integration.ClassOfFailure(err), errors.New(what+": the registry did not tell"))
}

// some joins the first messages of a list.
func some(messages []string) string {
	const most = 5
	if left := len(messages) - most; left > 0 {
		messages = append(messages[:most:most], fmt.Sprintf("and %d more", left))
	}
	return strings.Join(messages, "; ")
}

// An imageDigest is what a registry said about the image of a target.
type imageDigest struct {
	digest string
	err    error
}

// addDigest sets the parameters REPO_DIGEST and IMAGE_DIGEST if the template declares them and
// nobody gave them. The registry is asked once, about the image without placeholders.
func (r *renderer) addDigest(ctx context.Context, t *template.Template, p *parameters) error {
	needs := func(name string) bool {
		_, isGiven := p.values[name]
		return !isGiven && slices.ContainsFunc(t.Parameters, func(of template.Parameter) bool { return of.Name == name })
	}
	needsRepository, needsImage := needs("REPO_DIGEST"), needs("IMAGE_DIGEST")
	if !needsRepository && !needsImage {
		return nil
	}
	repository := pythonText(p.values["REGISTRY_IMG"])
	if p.values["REGISTRY_IMG"] == nil || repository == "" {
		return &TargetMistake{Code: CodeImage, Message: "the template asks for the digest of its image, so it needs the " +
			"parameter REGISTRY_IMG"}
	}
	if r.image == nil {
		digest, err := r.askDigest(ctx, repository+":"+pythonText(p.values["IMAGE_TAG"]))
		r.image = &imageDigest{digest, err}
	}
	if r.image.err != nil {
		return r.image.err
	}
	if needsRepository {
		p.set("REPO_DIGEST", withRegistry(repository)+"@"+r.image.digest)
	}
	if needsImage {
		p.set("IMAGE_DIGEST", r.image.digest)
	}
	return nil
}

// askDigest asks the registry for the digest of the image of a target.
func (r *renderer) askDigest(ctx context.Context, name string) (string, error) {
	label, isSecret := fmt.Sprintf("the image %.200q", name), false
	if hidden, err := r.parameters(r.secrets.placeholder, true); err != nil ||
		pythonText(hidden.values["REGISTRY_IMG"])+":"+pythonText(hidden.values["IMAGE_TAG"]) != name {
		label, isSecret = "the image of REGISTRY_IMG, which holds a secret,", true
	}
	if isSecret && r.in.Secret == nil {
		return "", steered("an image")
	}
	if why := wrongImage(name, r.in.Target, r.in.Blocks); why != "" {
		return "", &TargetMistake{Code: CodeImage, Message: label + " " + why}
	}
	if r.in.Digest == nil {
		r.out.Unchecked = append(r.out.Unchecked, "the digest of "+label)
		return "sha256:unknown", nil
	}
	digest, err := r.in.Digest(ctx, name)
	switch {
	case errors.Is(err, services.ErrNotThere):
		return "", &TargetMistake{Code: CodeImage, Message: label + " does not exist in its registry"}
	case err != nil:
		return "", r.failedAt("reading the digest of "+label, err, isSecret)
	}
	return digest, nil
}

// withRegistry returns an image with the host of its registry.
func withRegistry(repository string) string {
	host, rest, hasHost := strings.Cut(repository, "/")
	switch {
	case hasHost && (strings.ContainsAny(host, ".:") || host == "localhost"):
		return repository
	case hasHost:
		return "docker.io/" + host + "/" + rest
	}
	return "docker.io/library/" + repository
}
