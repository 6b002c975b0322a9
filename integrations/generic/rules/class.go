package rules

import (
	"errors"
	"fmt"
	"sync"

	"github.com/app-sre/prcheck/integrations/generic/body"
	"github.com/app-sre/prcheck/internal/jsonpointer"
	"github.com/app-sre/prcheck/openapi/classes"
)

// Classified is rules that a classifier finds when they are asked for.
type Classified struct{ *cached }

// Of returns the rules of a type. A property that the specification does not describe has
// none, but is masked if its name looks like that of a secret. Readers of specifications work for one goroutine at a time: all rules whose
// specifications were read by one [openapi.Set] need the same lock. Without a lock the rules
// have their own.
func Of(c *classes.Classifier, lock *sync.Mutex) *Classified {
	if lock == nil {
		lock = new(sync.Mutex)
	}
	return &Classified{&cached{from: classified{c}, lock: lock, known: map[string]Rule{}}}
}

// classified is rules that a classifier finds.
type classified struct{ *classes.Classifier }

func (c classified) At(pattern string) Rule {
	p, err := c.Explain(pattern)
	var missing *classes.PathError
	switch {
	case errors.As(err, &missing):
		parts := jsonpointer.Split(pattern)
		return Rule{Masked: len(parts) > 0 && classes.LooksSecret(parts[len(parts)-1])}
	case err != nil:
		return Rule{Doubt: err.Error()}
	}
	return ofProperty(p)
}

// ofProperty returns what the classes of a property mean for a comparison.
func ofProperty(p *classes.Property) Rule {
	r := Rule{
		ReadOnly: p.ReadOnly != nil, WriteOnly: p.WriteOnly != nil, Secret: p.Secret != nil, Masked: p.Masked,
		Volatile: p.Volatile != nil, Atomic: p.Atomic != nil,
	}
	if p.CreateOnly != nil {
		r.CreateOnly = Declared
		if p.CreateOnly.Source == classes.Inferred {
			r.CreateOnly = Inferred
		}
		r.FreeToSet, r.FreeToUnset, r.Depth = p.CreateOnly.FreeToSet, p.CreateOnly.FreeToUnset, p.CreateOnly.Depth
	}
	if p.List != nil {
		r.List, r.Keys = p.List.Kind, p.List.Keys
	}
	if p.Format != nil {
		r.Format = body.Format(p.Format.Name)
	}
	if p.Default != nil {
		r.Default, r.Applies = p.Default.Value.Decode(), p.Default.Applies
	}
	if p.Variants != nil {
		r.Discriminator, r.Variants = p.Variants.Field, p.Variants.Values
	}
	for _, g := range []*classes.Ground{p.ReadOnly, p.CreateOnly, p.WriteOnly, p.Volatile, p.Secret, p.Atomic} {
		if g != nil {
			r.Ground, r.Place = words(g), g.Place
			break
		}
	}
	if r.Ground == "" && p.List != nil {
		r.Ground, r.Place = words(&p.List.Ground), p.List.Ground.Place
	}
	return r
}

// words returns a ground as one sentence.
func words(g *classes.Ground) string {
	text := fmt.Sprintf("%s: %s", g.Source, g.Text)
	if g.From != "" {
		text += fmt.Sprintf(" (inherited from %s)", g.From)
	}
	return text
}
