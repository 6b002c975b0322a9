package render

import (
	"context"
	"fmt"
	"slices"

	"github.com/app-sre/prcheck/integration"
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
