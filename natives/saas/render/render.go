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
	"github.com/app-sre/prcheck/plan"
)

// The codes of mistakes.
const (
	CodeParameters plan.FindingCode = "SAAS_PARAMETERS" // parameters cannot be read, or grow without bound
	CodeTemplate   plan.FindingCode = "SAAS_TEMPLATE"   // the template is not there or cannot be processed
	CodeObject     plan.FindingCode = "SAAS_OBJECT"     // an object is no object, or is there twice
	CodeImage      plan.FindingCode = "SAAS_IMAGE"      // an image is not allowed, or does not exist
	CodeNoHelm     plan.FindingCode = "SAAS_NO_HELM"    // the program helm is not there
)

// A TargetMistake says what is wrong in the data of a target.
type TargetMistake struct {
	Code    plan.FindingCode
	Pointer string // in the target, "" for the target itself
	Message string // without values of secrets
}

// Error returns the message.
func (m *TargetMistake) Error() string { return m.Message }

// FailureClass returns the class of the failure, see [integration.ClassOfFailure].
func (m *TargetMistake) FailureClass() string { return string(integration.FailureOfConfig) }

// A FilesFunc returns the files at a path of a commit of a repository, as
// services.Repositories does.
type FilesFunc func(ctx context.Context, url, commit, path string, deep bool) (map[string][]byte, error)

// A HelmFunc renders a chart, given as its files by path, with values that are decoded JSON. It
// returns YAML documents. An error of the class transient is none of the chart.
type HelmFunc func(ctx context.Context, chart map[string][]byte, values map[string]any,
	name, namespace string) ([]byte, error)

// An Input is a target with all that rendering needs.
type Input struct {
	Target     *saas.Target
	Commit     string           // full sha that the ref of the target stands for
	HashLength int              // of abbreviated commits, if the template does not say
	Blocks     []saas.BlockRule // image patterns that are blocked in environments

	Files FilesFunc
	// Allowed returns an error for a secret that the target may not have; [integration.ErrUntrusted]
	// for one that is not to be read yet, and a placeholder is rendered. With nil all are allowed.
	Allowed func(ref integration.SecretRef) error
	// Secret reads a secret. With nil somebody steers the target who must learn no secret: placeholders
	// stand for all values, and a target in which a secret decides what is asked of services, or which
	// objects there are, is a mistake.
	Secret func(ctx context.Context, ref integration.SecretRef) (string, error)
	// Digest returns the digest of an image; the error is services.ErrNotThere if the registry
	// does not have it. With nil the existence of images is not checked.
	Digest func(ctx context.Context, image string) (string, error)
	Helm   HelmFunc // nil if the program helm is not there
}

// An Output is what a target deploys.
type Output struct {
	// Objects are in the order of the template, or of the names of files. They have no namespace:
	// all belong to that of the target.
	Objects []map[string]any
	// Masked are, for each object, the JSON pointers of the places that hold values of secrets,
	// sorted. "" is the whole object. Nothing at or below such a place may be shown.
	Masked [][]string
	// Hidden are the objects with the names of secrets in place of their values. Nil is an object for
	// which they are not known.
	Hidden []map[string]any
	// Secrets are, for each object, the names of the secrets that it holds, sorted.
	Secrets [][]string
	// HasSecrets says that the target has secrets, also if no object holds one.
	HasSecrets bool
	Skipped    []string // objects that are left out, for people
	Images     []string // sorted, without those that hold values of secrets
	Unchecked  []string // what was not checked, for people
}

// Render returns the objects of a target. A target that is to be deleted has none.
func Render(ctx context.Context, in Input) (Output, error) {
	if in.Target.Delete {
		return Output{}, nil
	}
	r := &renderer{in: in, out: &Output{}}
	if err := r.readFiles(ctx); err != nil {
		return Output{}, err
	}
	if err := r.readSecrets(ctx); err != nil {
		return Output{}, err
	}
	r.out.HasSecrets = len(r.secrets.marks) > 0
	if err := r.render(ctx); err != nil {
		return Output{}, err
	}
	if err := r.checkImages(ctx); err != nil {
		return Output{}, err
	}
	return *r.out, nil
}

// A renderer renders one target.
type renderer struct {
	in      Input
	files   map[string][]byte // of the template
	secrets *secrets
	out     *Output
	parsed  *template.Template // nil until it is read
	image   *imageDigest       // nil until the template asks for it
}

// render fills in the objects, with the places of secrets.
func (r *renderer) render(ctx context.Context) error {
	shown, err := r.process(ctx, r.secrets.value)
	if len(r.secrets.marks) == 0 {
		if err != nil {
			return err
		}
		return r.keep(shown, shown, shown)
	}
	hidden, failed := r.process(ctx, r.secrets.placeholder)
	if r.in.Secret == nil {
		if why := r.findSteered(shown, hidden, err, failed); why != nil {
			return why
		}
		return r.keep(shown, hidden, shown)
	}
	if err != nil {
		return r.secrets.clean(err, failed)
	}
	if failed != nil || len(shown) != len(hidden) {
		r.out.Unchecked = append(r.out.Unchecked, "which places hold values of secrets: no place is shown")
		hidden = make([]any, len(shown))
	}
	return r.keep(shown, hidden, hidden)
}

// label returns kind and name of an object for people, without a name that holds a secret.
func (o *Output) label(i int) string { return label(o.Objects[i], o.Masked[i]) }

// label returns kind and name of an object for people.
func label(object map[string]any, masked []string) string {
	kind, _ := object["kind"].(string)
	metadata, _ := object["metadata"].(map[string]any)
	name, _ := metadata["name"].(string)
	if isBelow("/kind", masked) {
		kind = mask
	}
	if isBelow("/metadata/name", masked) {
		name = mask
	}
	return fmt.Sprintf("%.60s %.253q", kind, name)
}

// mask stands for values of secrets in messages.
const mask = "***"

// isBelow reports whether a place is one of the masked ones or below one.
func isBelow(pointer string, masked []string) bool {
	return slices.ContainsFunc(masked, func(m string) bool {
		return len(pointer) >= len(m) && pointer[:len(m)] == m && (len(pointer) == len(m) || pointer[len(m)] == '/')
	})
}

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
