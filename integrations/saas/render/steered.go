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
		for at, name := range a {
			if b[at] != name {
				return steered(at + " of an object")
			}
		}
		if len(a) != len(b) {
			return steered("which fields an object has")
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

// identityOf returns what names an object to a cluster, by the places of the parts.
func identityOf(value any) map[string]string {
	object, isMap := value.(map[string]any)
	if !isMap {
		return nil
	}
	out := map[string]string{}
	metadata, _ := object["metadata"].(map[string]any)
	for at, part := range map[string]any{
		"apiVersion": object["apiVersion"], "kind": object["kind"], "the name": metadata["name"], "the namespace": metadata["namespace"],
	} {
		if part != nil {
			out[at] = fmt.Sprint(part)
		}
	}
	return out
}

// imagesIn returns the images that a value names, in order.
func imagesIn(value any) []image {
	object, _ := value.(map[string]any)
	return imagesOf(object)
}
