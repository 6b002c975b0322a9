package validator

import (
	"strings"

	"github.com/app-sre/prcheck/qontract/bundle"
)

// checkDatafile checks a datafile against its schema, checks its references, and collects
// the values that must be unique.
func (c *checker) checkDatafile(f *bundle.File) *fileWalk {
	o := f.Decode()
	w := c.walkFile(f, o)
	at := Finding{Section: Data, Path: f.Path}
	annotations, found := c.checkFile(at, o)
	w.found = append(w.found, found...)
	w.found = append(w.found, c.checkAnnotations(f, annotations)...)
	return w
}

// checkFile checks a file against the schema that it names. The findings are copies of
// template, which names the file.
func (c *checker) checkFile(template Finding, o *bundle.Object) ([]annotation, []Finding) {
	v, _ := o.Get("$schema")
	if v == nil {
		template.Rule, template.Message = FileNoSchema, "the key $schema is missing: it names the schema of the file"
		return nil, []Finding{template}
	}
	name, _ := v.(string)
	p := schemaPath(name)
	if !c.library.docs.has(p) {
		template.Rule, template.Pointer, template.Message = FileSchemaGone, "/$schema",
			shortJSON(v)+" is not the path of a schema"
		return nil, []Finding{template}
	}
	n, err := c.library.compiled(p)
	if err != nil || n == nil {
		return nil, nil // checkSchema reports the error
	}
	template.Rule = FileInvalid
	return checkValue(template, n, o)
}

// checkValue checks a value against a schema. The findings are copies of template.
func checkValue(template Finding, n *schemaNode, v any) ([]annotation, []Finding) {
	e := &evaluation{}
	e.check(n, v)
	var found []Finding
	for _, f := range e.flaws {
		finding := template
		finding.Pointer, finding.Message = template.Pointer+f.at, f.message()
		found = append(found, finding)
	}
	if e.stopReason != "" {
		template.Pointer += e.stopPointer
		template.Message = e.stopReason + "; the rest of it is not checked"
		found = append(found, template)
	}
	return e.annotations, found
}

// checkAnnotations checks what qontract adds to JSON schema: which schema the target of a
// reference must have, and which strings are paths of resources.
func (c *checker) checkAnnotations(f *bundle.File, annotations []annotation) []Finding {
	var out []Finding
	wrong, right := map[string]Finding{}, map[string]bool{}
	for _, n := range annotations {
		at := Finding{Section: Data, Path: f.Path, Pointer: n.at}
		if name, ok := n.value.(string); ok && n.node.isResourcePath {
			if _, ok := c.head.Resource(bundle.Path(name)); !ok {
				at.Rule, at.Message = ResourceGone, shortJSON(name)+" is not the path of a resource"
				out = append(out, at)
			}
		}
		o, ok := n.value.(*bundle.Object)
		if !ok || n.node.schemaRef == nil {
			continue
		}
		target, ok := c.head.Datafile(bundle.Path(o.String("$ref")))
		if !ok {
			continue
		}
		at.Pointer += "/$ref"
		if found, ok := c.checkTarget(at, target, n.node.schemaRef); ok {
			right[at.Pointer] = true
		} else {
			wrong[at.Pointer] = found
		}
	}
	for at, found := range wrong {
		if !right[at] { // alternatives may allow different schemas; one match is enough
			out = append(out, found)
		}
	}
	return out
}

// checkTarget checks the target of a reference against $schemaRef.
func (c *checker) checkTarget(at Finding, target *bundle.File, want any) (Finding, bool) {
	switch want := want.(type) {
	case string:
		if want == string(target.Schema) || target.Schema == "" {
			return at, true
		}
		at.Rule = RefWrongSchema
		at.Message = shortJSON(string(target.Path)) + " has the schema " + shortJSON(string(target.Schema)) + ", want " +
			shortJSON(want)
		return at, false
	case *schemaNode:
		at.Rule = RefInvalid
		_, found := checkValue(Finding{}, want, target.Decode())
		if len(found) == 0 {
			return at, true
		}
		at.Message = shortJSON(string(target.Path)) + ": " + strings.TrimPrefix(found[0].Pointer+": ", ": ") +
			found[0].Message
		return at, false
	}
	return at, true
}

// compiled returns a schema that was compiled before.
func (l *library) compiled(p bundle.Path) (*schemaNode, error) {
	r := l.compiledSchemas[schemaURL(p, "")]
	return r.node, r.err
}
