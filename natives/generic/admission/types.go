package admission

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/app-sre/prcheck/natives/generic/cloud"
	"github.com/app-sre/prcheck/natives/generic/validate"
	"github.com/app-sre/prcheck/natives/openapi"
)

// Known are the types of the APIs of a model.
type Known struct {
	apis  []*cloud.API
	types map[string]*validate.Checker
}

// NewKnown returns the types of all APIs of a model, or of one API. It is an error if there is
// none, or if an API has a mistake.
func NewKnown(m *cloud.Model, api string) (*Known, error) {
	k := &Known{types: map[string]*validate.Checker{}}
	var names []string
	for _, a := range m.APIs {
		names = append(names, a.Name)
		switch {
		case api != "" && a.Name != api:
		case !a.Mistake.IsZero():
			return nil, fmt.Errorf("%s#%s: %s", a.File, a.Mistake.Pointer, a.Mistake.Message)
		default:
			k.apis = append(k.apis, a)
		}
	}
	switch {
	case len(names) == 0:
		return nil, fmt.Errorf("the data have no API (/cloud/api-1.yml)")
	case len(k.apis) == 0:
		return nil, fmt.Errorf("the data have no API %q; there is %s", api, strings.Join(names, ", "))
	}
	return k, nil
}

// maxKnown is how many types are kept. Names that are spelt in many ways come from outside.
const maxKnown = 1000

// Type returns what is known of a type.
func (k *Known) Type(name string) (*validate.Checker, error) {
	key := strings.ToLower(name)
	if t := k.types[key]; t != nil {
		return t, nil
	}
	t, err := k.find(name)
	if err != nil {
		return nil, err
	}
	if len(k.types) >= maxKnown {
		clear(k.types)
	}
	k.types[key] = t
	return t, nil
}

func (k *Known) find(name string) (*validate.Checker, error) {
	var from *cloud.API
	var wrong error
	for _, a := range k.apis {
		_, err := a.Specs().Find(name)
		switch {
		case err != nil && (wrong == nil || openapi.CodeOf(err) == openapi.CodeVersion):
			wrong = err
		case err == nil && from != nil && from.Specs().ID != a.Specs().ID:
			return nil, fmt.Errorf("the APIs %s and %s have this type; start the webhook with --api", from.Name, a.Name)
		case err == nil:
			from = cmp.Or(from, a)
		}
	}
	if from == nil {
		return nil, wrong
	}
	found, err := from.Specs().Find(name)
	if err != nil {
		return nil, err
	}
	r, err := from.Specs().Rules(found[0])
	if err != nil {
		return nil, err
	}
	return validate.NewType(found[0], r, from.Specs().Lock)
}
