package rules

import (
	"fmt"
	"strings"
	"sync"

	"github.com/app-sre/prcheck/internal/jsonpointer"
	"github.com/app-sre/prcheck/natives/generic/body"
	"github.com/app-sre/prcheck/natives/openapi/classes"
	"github.com/app-sre/prcheck/natives/openapi/resources"
)

// Classified is rules that a classifier finds when they are asked for.
type Classified struct {
	classifier *classes.Classifier
	lock       *sync.Mutex
	known      map[*classes.Property]Rule
}

// Of returns the rules of a type. A property that the specification does not describe has
// none, but is masked if its name looks like that of a secret. Readers of specifications work for one goroutine at a
// time: all rules whose specifications were read by one [openapi.Set] need the same lock. Without a lock the rules
// have their own.
func Of(c *classes.Classifier, lock *sync.Mutex) *Classified {
	if lock == nil {
		lock = new(sync.Mutex)
	}
	return &Classified{classifier: c, lock: lock, known: map[*classes.Property]Rule{}}
}

// IsDescribed reports whether the specification describes any property of the type.
func (c *Classified) IsDescribed() bool {
	c.lock.Lock()
	defer c.lock.Unlock()
	is, err := c.classifier.IsDescribed()
	return is || err != nil // an error is told where it matters
}

// maxKnown is how many rules are kept.
const maxKnown = 50_000

// At returns the rule of a pattern.
func (c *Classified) At(pattern string) Rule {
	c.lock.Lock()
	defer c.lock.Unlock()
	p, err := c.classifier.Lookup(pattern)
	switch {
	case err != nil:
		return Rule{Doubt: err.Error()}
	case p == nil:
		return Rule{Masked: classes.LooksSecret(lastPart(pattern))}
	}
	r, isKnown := c.known[p]
	if !isKnown {
		if len(c.known) >= maxKnown {
			clear(c.known)
		}
		r = ofProperty(p)
		if r.Format == body.Plain && c.classifier.Family() == resources.ARM { // ids stand in texts that nothing marks
			r.Format = body.ARMText
		}
		c.known[p] = r
	}
	r.Masked = r.Masked || c.classifier.MasksKey(p, lastPart(pattern))
	return r
}

// lastPart returns the name of the property of a pattern.
func lastPart(pattern string) string {
	return jsonpointer.Unescape(pattern[strings.LastIndexByte(pattern, '/')+1:])
}

// ofProperty returns what the classes of a property mean for a comparison.
func ofProperty(p *classes.Property) Rule {
	r := Rule{
		ReadOnly: p.ReadOnly != nil, WriteOnly: p.WriteOnly != nil, Secret: p.Secret != nil, Masked: p.Masked,
		Volatile: p.Volatile != nil, Atomic: p.Atomic != nil, FixedIf: p.FixedIf,
	}
	if p.CreateOnly != nil {
		r.CreateOnly = Declared
		if p.CreateOnly.Source == classes.Inferred {
			r.CreateOnly = Inferred
		}
		r.FreeToSet, r.FreeToUnset, r.Depth = p.CreateOnly.FreeToSet, p.CreateOnly.FreeToUnset, p.CreateOnly.Depth
	}
	if p.List != nil {
		r.List, r.Keys, r.Exclusive = p.List.Kind, p.List.Keys, p.List.Exclusive
		r.KeysInferred = p.List.Ground.Source == classes.Inferred
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
