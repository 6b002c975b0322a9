package validator

import (
	"cmp"
	"math/big"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/app-sre/prcheck/bundle"
)

// resourceRef is the definition that the path of a resource refers to.
const resourceRef = "/common-1.json#/definitions/resourceref"

// A node is one schema, made from the compiled one for values of a bundle. A
// nil number or node means that the keyword is not there.
type node struct {
	always *bool // a schema that is true or false
	ref    *node // nothing else counts then

	types     []string
	enums     [][]any // the values of enum, and that of const
	allOf     []*node
	anyOf     []*node
	oneOf     []*node
	not       *node
	required  []string
	props     map[string]*node
	patterns  []patternNode
	more      branch // additionalProperties
	names     *node
	needs     []need
	minProps  *int
	maxProps  *int
	items     *node
	tuple     []*node
	moreItems branch
	contains  *node
	minItems  *int
	maxItems  *int
	unique    bool
	minLength *int
	maxLength *int
	pattern   *pattern
	bounds    []bound

	schemaRef any  // $schemaRef: a string, or the *node of a schema
	resource  bool // a string here names a resource
}

// A branch is a keyword whose value may be false or a schema.
type branch struct {
	forbidden bool
	node      *node
}

type patternNode struct {
	pattern *pattern
	node    *node
}

// A need is what follows from a key that is there.
type need struct {
	key      string
	required []string
	node     *node
}

// A bound is a limit on numbers.
type bound struct {
	limit *big.Rat
	words string
	holds func(value, limit *big.Rat) bool
}

// node returns what was made from a compiled schema, which may refer to itself.
func (l *library) node(s *jsonschema.Schema) *node {
	if s == nil {
		return nil
	}
	if n, ok := l.nodes[s]; ok {
		return n
	}
	n := &node{always: s.Bool}
	l.nodes[s] = n
	l.annotate(n, s)
	if s.Ref != nil {
		n.ref = l.node(s.Ref)
		return n
	}
	l.anyValue(n, s)
	l.objects(n, s)
	l.lists(n, s)
	n.minLength, n.maxLength = s.MinLength, s.MaxLength
	n.pattern = l.note(s.Pattern, s.Location+"/pattern")
	n.bounds = bounds(s)
	return n
}

// note remembers a pattern and where it is.
func (l *library) note(re jsonschema.Regexp, where string) *pattern {
	p, ok := re.(*pattern)
	if !ok {
		return nil
	}
	p.where = where
	l.patterns = append(l.patterns, p)
	return p
}

// annotate notes what qontract schemas say beside JSON schema.
func (l *library) annotate(n *node, s *jsonschema.Schema) {
	p, at, ok := place(s.Location)
	if !ok {
		return
	}
	var doc *bundle.Object
	if file := l.docs[p]; file != nil {
		v, _ := lookup(file, at)
		doc, _ = v.(*bundle.Object)
	}
	if doc == nil {
		return
	}
	n.resource = doc.String("$ref") == resourceRef
	switch ref, _ := doc.Get("$schemaRef"); ref := ref.(type) {
	case string:
		n.schemaRef = ref
	case *bundle.Object:
		if target, err := l.compile(p, at+"/$schemaRef"); err == nil {
			n.schemaRef = target
		}
	}
}

func (l *library) anyValue(n *node, s *jsonschema.Schema) {
	if s.Types != nil {
		n.types = s.Types.ToStrings()
	}
	if s.Enum != nil {
		enum, _ := fromPlain(s.Enum.Values).([]any)
		n.enums = append(n.enums, enum)
	}
	if s.Const != nil {
		n.enums = append(n.enums, []any{fromPlain(*s.Const)})
	}
	n.allOf, n.anyOf, n.oneOf = l.list(s.AllOf), l.list(s.AnyOf), l.list(s.OneOf)
	n.not = l.node(s.Not)
}

func (l *library) list(all []*jsonschema.Schema) []*node {
	out := make([]*node, 0, len(all))
	for _, s := range all {
		out = append(out, l.node(s))
	}
	return out
}

func (l *library) objects(n *node, s *jsonschema.Schema) {
	n.minProps, n.maxProps, n.required = s.MinProperties, s.MaxProperties, s.Required
	n.names = l.node(s.PropertyNames)
	if len(s.Properties) > 0 {
		n.props = make(map[string]*node, len(s.Properties))
	}
	for key, sub := range s.Properties {
		n.props[key] = l.node(sub)
	}
	for re, sub := range s.PatternProperties {
		if p := l.note(re, s.Location+"/patternProperties"); p != nil {
			n.patterns = append(n.patterns, patternNode{p, l.node(sub)})
		}
	}
	slices.SortFunc(n.patterns, func(a, b patternNode) int { return strings.Compare(a.pattern.text, b.pattern.text) })
	n.more = l.branch(s.AdditionalProperties)
	for key, what := range s.Dependencies {
		d := need{key: key}
		switch what := what.(type) {
		case []string:
			d.required = what
		case *jsonschema.Schema:
			d.node = l.node(what)
		}
		n.needs = append(n.needs, d)
	}
	slices.SortFunc(n.needs, func(a, b need) int { return cmp.Compare(a.key, b.key) })
}

func (l *library) lists(n *node, s *jsonschema.Schema) {
	n.minItems, n.maxItems, n.unique = s.MinItems, s.MaxItems, s.UniqueItems
	n.contains = l.node(s.Contains)
	switch items := s.Items.(type) {
	case *jsonschema.Schema:
		n.items = l.node(items)
	case []*jsonschema.Schema:
		n.tuple = l.list(items)
		n.moreItems = l.branch(s.AdditionalItems)
	}
}

func (l *library) branch(v any) branch {
	switch v := v.(type) {
	case bool:
		return branch{forbidden: !v}
	case *jsonschema.Schema:
		return branch{node: l.node(v)}
	}
	return branch{}
}

func bounds(s *jsonschema.Schema) []bound {
	all := []bound{
		{s.Minimum, "at least", func(v, l *big.Rat) bool { return v.Cmp(l) >= 0 }},
		{s.Maximum, "at most", func(v, l *big.Rat) bool { return v.Cmp(l) <= 0 }},
		{s.ExclusiveMinimum, "more than", func(v, l *big.Rat) bool { return v.Cmp(l) > 0 }},
		{s.ExclusiveMaximum, "less than", func(v, l *big.Rat) bool { return v.Cmp(l) < 0 }},
		{s.MultipleOf, "a multiple of", func(v, l *big.Rat) bool { return l.Sign() == 0 || new(big.Rat).Quo(v, l).IsInt() }},
	}
	return slices.DeleteFunc(all, func(b bound) bool { return b.limit == nil })
}
