package render

import (
	"context"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/integrations/saas"
	"github.com/app-sre/prcheck/reconcile"
)

// The codes of mistakes.
const (
	CodeParameters reconcile.Code = "SAAS_PARAMETERS" // parameters cannot be read, or grow without bound
	CodeTemplate   reconcile.Code = "SAAS_TEMPLATE"   // the template is not there or cannot be processed
	CodeObject     reconcile.Code = "SAAS_OBJECT"     // an object is no object, or is there twice
	CodeImage      reconcile.Code = "SAAS_IMAGE"      // an image is not allowed, or does not exist
	CodeNoHelm     reconcile.Code = "SAAS_NO_HELM"    // the program helm is not there
)

// A Mistake says what is wrong in the data of a target.
type Mistake struct {
	Code    reconcile.Code
	Pointer string // in the target, "" for the target itself
	Message string // without values of secrets
}

// Error returns the message.
func (m *Mistake) Error() string { return m.Message }

// FailureClass returns the class of the failure, see [integration.ClassOfFailure].
func (m *Mistake) FailureClass() string { return string(integration.FailureOfConfig) }

// A FilesFunc returns the files at a path of a commit of a repository, see
// [services.Repositories.Files].
//
// [services.Repositories.Files]: https://pkg.go.dev/github.com/app-sre/prcheck/integration/services#Repositories
type FilesFunc func(ctx context.Context, url, commit, path string, deep bool) (map[string][]byte, error)

// A HelmFunc renders a chart, given as its files by path. It returns YAML documents.
type HelmFunc func(ctx context.Context, chart map[string][]byte, values map[string]any, name, namespace string) ([]byte, error)

// An Input is a target with all that rendering needs.
type Input struct {
	Target     *saas.Target
	Commit     string           // full sha that the ref of the target stands for
	HashLength int              // of abbreviated commits, if the template does not say
	Blocks     []saas.BlockRule // image patterns that are blocked in environments

	Files FilesFunc
	// Secret reads a secret. With [integration.ErrUntrusted] a placeholder is rendered.
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
	Masked    [][]string
	Skipped   []string // objects that are left out, for people
	Images    []string // sorted, without those that hold values of secrets
	Unchecked []string // what was not checked, for people
}

// Render returns the objects of a target. A target that is to be deleted has none.
func Render(ctx context.Context, in Input) (Output, error) {
	if in.Target.Delete {
		return Output{}, nil
	}
	return Output{}, &Mistake{Code: CodeTemplate, Message: "targets cannot be rendered yet"}
}
