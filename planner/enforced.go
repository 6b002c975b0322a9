package planner

import (
	"crypto/sha256"
	"fmt"

	"github.com/app-sre/prcheck/affected"
	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/schemafilter"
	"github.com/app-sre/prcheck/settings"
)

// enforced digests all that an integration may ask for, where that is enforced: a run that asks for more fails, so one
// that passed saw no more. It returns false where it is only believed.
func (d *inputDigester) enforced(o schemafilter.Outcome, s affected.Subject) ([2]string, bool) {
	of := d.settings.For(o.Name)
	if !of.Strict || s.State != nil || mayReadAll(o.Base) || mayReadAll(o.Head) || mayReadAll(o.Use) {
		return [2]string{}, false
	}
	allowed := map[bundle.SchemaPath]bool{}
	for _, def := range []*integration.Definition{o.Base, o.Head, o.Use} {
		if def != nil {
			for _, schema := range def.Schemas {
				allowed[schema] = true
			}
		}
	}
	var out [2]string
	for i, b := range d.sides {
		out[i] = d.askable(b, allowed, of.Resources)
	}
	return out, true
}

// mayReadAll reports whether a definition lets the integration read datafiles of all schemas.
func mayReadAll(def *integration.Definition) bool {
	return def != nil && def.Check != nil && def.Check.Unenforced
}

// askable digests the datafiles of some schemas, and the resources that they lead to or that may be asked for. Every
// client may also ask for the definitions of integrations, to find its own; that one is an input by itself.
func (d *inputDigester) askable(b *bundle.Bundle, allowed map[bundle.SchemaPath]bool, may settings.Resources) string {
	all := sha256.New()
	add := func(text string) { _, _ = fmt.Fprintf(all, "%q\n", text) } // a hash never fails

	// A run that might ask for more shows nothing of one that may not.
	add(may.String())
	texts := map[string]bool{}
	for _, f := range b.Datafiles() {
		if allowed[f.Schema] {
			add(digestFile(f))
			noteTexts(f.Decode(), texts)
		}
	}
	for _, f := range b.Resources() {
		if may.AllowAll() || may.Allow(string(f.Path)) || texts[string(f.Path)] {
			add(digestFile(f))
		}
	}
	return fmt.Sprintf("%x", all.Sum(nil))
}

// noteTexts notes all texts in a value.
func noteTexts(v any, texts map[string]bool) {
	switch v := v.(type) {
	case string:
		texts[v] = true
	case []any:
		for _, item := range v {
			noteTexts(item, texts)
		}
	case *bundle.Object:
		for _, m := range v.Members() {
			noteTexts(m.Value, texts)
		}
	}
}
