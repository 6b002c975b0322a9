package render

import (
	"errors"
	"fmt"
	"slices"

	"github.com/app-sre/prcheck/integrations/saas"
)

// errOpaque says that nobody knows what a target does without the values of its secrets.
var errOpaque = errors.New("it cannot be rendered without the values of its secrets, which are not used before the merge where " +
	"a name, a kind or an image may hold one")

// findSteered returns an error if values of secrets decide which objects there are, or which images: the
// target is rendered with the values and with placeholders. The error says the same for all values.
func (r *renderer) findSteered(shown, hidden []any, err, failed error) error {
	switch {
	case failed != nil && err != nil && err.Error() == failed.Error(): // it fails for another reason
		return nil
	case failed != nil || err != nil:
		return errOpaque
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
func steered(what string) *Mistake {
	return &Mistake{Code: saas.CodeSecret, Message: fmt.Sprintf("the value of a secret decides %s: use the secret in the values of a Secret or an environment variable alone", what)}
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
