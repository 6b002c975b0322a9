package cloud

import (
	"fmt"

	"github.com/app-sre/prcheck/natives/generic/body"
	"github.com/app-sre/prcheck/natives/generic/rules"
)

// Rules returns the rules of the type of a resource, with what the resource says about its own body.
func (r *Resource) Rules() (rules.Rules, error) {
	of, err := r.API.specs.Rules(r.Of)
	if err != nil {
		return nil, err
	}
	return rules.With(of, r.Overlay(of)), nil
}

// Overlay returns what a resource says about its own body, by the rules of its type.
func (r *Resource) Overlay(of rules.Rules) rules.Overlay {
	o := rules.Overlay{Ignore: r.Ignore, Exclusive: r.Exclusive}
	for _, s := range r.Secrets {
		for _, at := range s.places(of, r.Body) {
			o.Secrets = append(o.Secrets, rules.SecretPlace{At: at, Version: s.Secret.Version})
		}
	}
	return o
}

// places returns where a secret goes, with items by their keys. One that goes nowhere keeps its own words, so that it
// is secret all the same.
func (s Secret) places(of rules.Rules, body any) []string {
	out := []string{s.At}
	for _, at := range rules.Places(of, body, s.At) {
		if at.Name != s.At {
			out = append(out, at.Name)
		}
	}
	return out
}

// Fill returns a body of the resource with the values of its secrets. The value of a place is asked for once; without
// one the place is left as it is.
func (r *Resource) Fill(of rules.Rules, value func(Secret) (text string, isKnown bool, err error)) (any, error) {
	out := body.Clone(r.Body)
	for _, s := range r.Secrets {
		v, isKnown, err := value(s)
		if err != nil {
			return nil, err
		}
		at := rules.Places(of, r.Body, s.At)
		if len(at) == 0 {
			return nil, fmt.Errorf("%s: the secret at %.100q has no place: the body has no such item", CodeSecretPlace, s.At)
		}
		for _, place := range at {
			if !isKnown {
				continue
			}
			if out, err = body.Set(out, place.Exact, v); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
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
