package render

import (
	"errors"
	"fmt"
	"slices"

	"github.com/app-sre/prcheck/natives/saas"
)

// ErrOpaque says that nobody knows what a target does without the values of its secrets.
var ErrOpaque = errors.New("it cannot be rendered without the values of its secrets, which are not read before " +
	"the merge")

// findSteered returns an error if secrets decide which objects there are, or which images: the target is
// rendered twice, with two placeholders for each secret that have nothing in common. A rendering that
// fails with one placeholder alone is [ErrOpaque].
func (r *renderer) findSteered(shown, hidden []any, err, failed error) error {
	var mistake *TargetMistake
	switch {
	case err != nil && !errors.As(err, &mistake):
		return err // of a service
	// for another reason
	case err != nil && failed != nil && r.secrets.hide(err.Error()) == r.secrets.hide(failed.Error()):
		return &TargetMistake{mistake.Code, mistake.Pointer, r.secrets.hide(mistake.Message)}
	case err != nil:
		return ErrOpaque
	case failed != nil && !errors.As(failed, &mistake):
		return failed
	case failed != nil:
		return ErrOpaque
	case len(shown) != len(hidden):
		return steered("how many objects there are")
	}
	for i := range shown {
		a, b := identityOf(shown[i]), identityOf(hidden[i])
		for at, part := range identityParts {
			if a[at] != b[at] {
				return steered(part + " of an object")
			}
		}
		if !slices.Equal(imagesIn(shown[i]), imagesIn(hidden[i])) {
			return steered("an image")
		}
	}
	return nil
}

// steered returns the mistake of a target in which a secret decides about something.
func steered(what string) *TargetMistake {
	return &TargetMistake{Code: saas.CodeSecret,
		Message: fmt.Sprintf("the value of a secret decides %s: use the secret in the values of a Secret or an environment "+
			"variable alone", what)}
}

// identityParts are the parts of the identity of an object, in the order of identityOf.
var identityParts = [...]string{"apiVersion", "kind", "the name", "the namespace"}

// identityOf returns what names an object to a cluster.
func identityOf(value any) (out [len(identityParts)]string) {
	object, _ := value.(map[string]any)
	metadata, _ := object["metadata"].(map[string]any)
	for at, part := range []any{object["apiVersion"], object["kind"], metadata["name"], metadata["namespace"]} {
		out[at] = fmt.Sprint(part)
	}
	return out
}

// imagesIn returns the images that a value names, in order.
func imagesIn(value any) []image {
	object, _ := value.(map[string]any)
	return imagesOf(object)
}
