package validator

import (
	"errors"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/app-sre/prcheck/qontract/bundle"
)

// checkSchema checks a JSON schema file: against the metaschema that it names, against the
// one of Draft 6, and that everything that it refers to exists.
func (c *checker) checkSchema(f *bundle.File) []Finding {
	at := Finding{Section: Schemas, Path: f.Path, Rule: SchemaBroken}
	found := c.checkMetaschema(at, c.library.docs.get(f.Path))
	found = append(found, c.library.brokenParts(f.Path)...)
	if _, err := c.library.compile(f.Path, ""); err != nil && len(found) == 0 && !isAboutOtherFile(err, f.Path) {
		at.Message = strings.ReplaceAll(firstLine(err.Error()), scheme+"://", "")
		found = append(found, at)
	}
	return found
}

// isAboutOtherFile reports whether an error is about another schema file, which p refers
// to. It is then reported for that file.
func isAboutOtherFile(err error, p bundle.Path) bool {
	var invalid *jsonschema.SchemaValidationError
	if !errors.As(err, &invalid) {
		return false
	}
	file, _, ok := parseSchemaURL(invalid.URL)
	return ok && file != p
}

func firstLine(text string) string {
	first, _, _ := strings.Cut(text, "\n")
	return first
}

// checkMetaschema checks a schema against the metaschema that it names.
func (c *checker) checkMetaschema(at Finding, doc *bundle.Object) []Finding {
	v, ok := doc.Get("$schema")
	if !ok {
		at.Rule, at.Message = SchemaNoMetaschema, "the key $schema is missing: it names the metaschema"
		return []Finding{at}
	}
	name, _ := v.(string)
	if strings.TrimSuffix(name, "#") == draft6 {
		return nil
	}
	meta := bundle.Path(name)
	if !c.library.docs.has(meta) {
		at.Rule, at.Pointer = SchemaMetaschemaGone, "/$schema"
		at.Message = shortJSON(v) + " is neither the path of a metaschema nor " + draft6
		return []Finding{at}
	}
	n, err := c.library.compile(meta, "")
	if err != nil {
		return nil // checkSchema reports the error for the metaschema
	}
	at.Rule = SchemaInvalid
	_, found := checkValue(at, n, doc)
	return found
}

// slowPatterns returns findings for the patterns that took too long on some text.
func (c *checker) slowPatterns() []Finding {
	var out []Finding
	for _, p := range c.library.patterns {
		path, at, ok := parseSchemaURL(p.location)
		if !p.slow.Load() || !ok {
			continue
		}
		out = append(out, Finding{Section: Schemas, Path: path, Pointer: at, Rule: SchemaBroken,
			Message: "the pattern " + shortJSON(p.text) + " takes too long on some value: write it without repeats inside " +
				"repeats"})
	}
	return out
}
