package validator

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/app-sre/prcheck/qontract/bundle"
)

// DefaultLimit is the number of findings that a report keeps by default.
const DefaultLimit = 1000

// Options say what Check checks.
type Options struct {
	Base  *bundle.Bundle // the bundle before the change; required for the scope Changed
	Scope Scope
	Limit int // number of findings that the report keeps; 0 means DefaultLimit
}

// A checker holds the data that the checks of one bundle share.
type checker struct {
	head       *bundle.Bundle
	base       *bundle.Bundle // nil if it is not known
	types      *gqlTypes
	library    *library
	identities sync.Map // path of a datafile → its identity as a list item
}

// Check checks a bundle and returns all mistakes. It returns an error if the scope cannot
// be checked, or if ctx ends before the check does.
func Check(ctx context.Context, head *bundle.Bundle, o Options) (*Report, error) {
	if o.Scope == None {
		return &Report{Scope: None}, nil
	}
	if o.Scope == Changed && o.Base == nil {
		return nil, errors.New("checking what changed: the base bundle is missing; give one, or check all")
	}
	c := &checker{head: head, base: o.Base, types: readTypes(head.GraphQL()), library: newLibrary(head)}
	s := c.selectAll()
	if o.Scope == Changed {
		s = c.selectChanged(bundle.Compare(o.Base, head))
	}
	var found []Finding
	for _, f := range s.schemas {
		found = append(found, c.checkSchema(f)...)
	}
	if s.types {
		found = append(found, c.checkTypes()...)
	}
	more, err := c.checkFiles(ctx, s)
	if err != nil {
		return nil, err
	}
	found = append(found, more...)
	found = append(found, c.slowPatterns()...)
	limit := o.Limit
	if limit <= 0 {
		limit = DefaultLimit
	}
	return newReport(o.Scope, found, limit), nil
}

// checkFiles checks datafiles and resources, with one goroutine for each processor.
func (c *checker) checkFiles(ctx context.Context, s *selection) ([]Finding, error) {
	c.compileSchemasOf(s)
	walks := make([]*fileWalk, len(s.datafiles))
	err := runParallel(ctx, len(walks), func(i int) { walks[i] = c.checkDatafile(s.datafiles[i]) })
	if err != nil {
		return nil, err
	}
	var found []Finding
	var uses []uniqueValue
	checked := make(map[bundle.Path]bool, len(walks))
	for i, w := range walks {
		checked[s.datafiles[i].Path] = true
		found = append(found, w.found...)
		uses = append(uses, w.values...)
	}
	found = append(found, c.findDuplicates(uses, checked)...)
	lists := make([][]Finding, len(s.resources))
	err = runParallel(ctx, len(lists), func(i int) { lists[i] = c.checkResource(s.resources[i]) })
	for _, list := range lists {
		found = append(found, list...)
	}
	return found, err
}

// compileSchemasOf compiles the schemas of the selected files. Afterwards the library is
// only read, so several goroutines can use it.
func (c *checker) compileSchemasOf(s *selection) {
	for _, files := range [][]*bundle.File{s.datafiles, s.resources} {
		for _, f := range files {
			if p := schemaPath(string(f.Schema)); c.library.docs.has(p) {
				_, _ = c.library.compile(p, "") // checkSchema reports the error
			}
		}
	}
}

// schemaPath returns the path of the schema file that a $schema names. The slash at its
// beginning may be missing.
func schemaPath(name string) bundle.Path {
	if name != "" && name[0] != '/' {
		name = "/" + name
	}
	return bundle.Path(name)
}

// runParallel calls do with every number below n, and returns after all calls have ended.
// It starts no call after ctx has ended.
func runParallel(ctx context.Context, n int, do func(i int)) error {
	var wg sync.WaitGroup
	var next atomic.Int64
	for range min(n, runtime.GOMAXPROCS(0)) {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < n && ctx.Err() == nil; i = int(next.Add(1)) - 1 {
				do(i)
			}
		})
	}
	wg.Wait()
	return ctx.Err()
}

// maxNested limits how deep properties are looked for in the schemas that a schema
// combines.
const maxNested = 8

// properties returns the properties of a schema, including those of the schemas that it
// combines, with the types that each may have. The list of types is empty if they are not
// known.
func (c *checker) properties(s bundle.SchemaPath, depth int) map[string][]string {
	doc := c.library.docs.get(schemaPath(string(s)))
	if doc == nil {
		return nil
	}
	out := map[string][]string{}
	c.collectProperties(doc, out, depth)
	return out
}

// collectProperties adds the properties of a schema to out.
func (c *checker) collectProperties(doc *bundle.Object, out map[string][]string, depth int) {
	if depth > maxNested {
		return
	}
	v, _ := doc.Get("properties")
	if props, ok := v.(*bundle.Object); ok {
		for _, m := range props.Members() {
			types := c.allowedTypes(m.Value)
			if old, ok := out[m.Key]; ok && !slices.Equal(old, types) {
				types = nil // two schemas disagree
			}
			out[m.Key] = types
		}
	}
	for _, key := range []string{"allOf", "anyOf", "oneOf"} {
		v, _ := doc.Get(key)
		list, _ := v.([]any)
		for _, sub := range list {
			if o := c.followRef(sub); o != nil {
				c.collectProperties(o, out, depth+1)
			}
		}
	}
}

// followRef returns the schema v, or the schema that its $ref leads to.
func (c *checker) followRef(v any) *bundle.Object {
	o, ok := v.(*bundle.Object)
	for range maxNested {
		ref := ""
		if ok {
			ref = o.String("$ref")
		}
		if ref == "" {
			break
		}
		file, at, _ := strings.Cut(ref, "#")
		doc := c.library.docs.get(bundle.Path(file))
		if doc == nil {
			return nil
		}
		v, _ := lookup(doc, at)
		o, ok = v.(*bundle.Object)
	}
	return o
}

// allowedTypes returns the types that the keyword "type" of a schema allows.
func (c *checker) allowedTypes(v any) []string {
	o := c.followRef(v)
	if o == nil {
		return nil
	}
	t, _ := o.Get("type")
	switch t := t.(type) {
	case string:
		return []string{t}
	case []any:
		var out []string
		for _, name := range t {
			if name, ok := name.(string); ok {
				out = append(out, name)
			}
		}
		slices.Sort(out)
		return out
	}
	return nil
}

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

// checkResource checks a resource that names a schema. A resource that is not a YAML
// mapping is ignored: it is usually a template.
func (c *checker) checkResource(f *bundle.File) []Finding {
	if f.Schema == "" {
		return nil
	}
	v, err := fromYAML(f.Decode().String("content"))
	o, ok := v.(*bundle.Object)
	if err != nil || !ok {
		return nil
	}
	_, found := c.checkFile(Finding{Section: Resources, Path: f.Path}, o)
	return found
}
