package cloud

import (
	"github.com/app-sre/prcheck/natives/generic/rules"
)

// Rules returns the rules of the type of a resource, with what the resource says about its own body.
func (r *Resource) Rules() (rules.Rules, error) {
	of, err := r.API.specs.Rules(r.Of)
	if err != nil {
		return nil, err
	}
	o := rules.Overlay{Ignore: r.Ignore, Exclusive: r.Exclusive}
	for _, s := range r.Secrets {
		o.Secrets = append(o.Secrets, rules.Secret{At: s.At, Version: s.Secret.Version})
	}
	return rules.With(of, o), nil
}

// Hidden returns the JSON pointers in the datafile of the values that no output may show. Where
// nothing is known of the body, that is all of it.
func (r *Resource) Hidden() []string {
	whole := []string{"/body", "/bodyText"}
	if r.bodyAt == "" || r.Of == nil {
		return whole
	}
	of, err := r.Rules()
	if err != nil {
		return whole
	}
	out := rules.HiddenIn(of, r.Body)
	if len(out) > 0 && r.bodyAt == "/bodyText" {
		return []string{r.bodyAt}
	}
	for i := range out {
		out[i] = r.bodyAt + out[i]
	}
	return out
}
