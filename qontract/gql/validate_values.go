package gql

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf16"
)

// An expectedType is the type that a value must have: the type as it is written, and the
// scalar or enum at its core. If named is nil, any value is accepted.
type expectedType struct {
	named   *typeDef
	written *typeNode
}

// expectedType returns the type that the value of an argument must have. The receiver may
// be nil.
func (a *argDef) expectedType() expectedType {
	if a == nil {
		return expectedType{}
	}
	return expectedType{a.typ, &typeNode{name: a.typ.name, nonNull: a.required}}
}

// itemType returns the type that the items of a list must have. For a type that is not a
// list it is the type itself, since GraphQL accepts a single value in place of a list.
func (t expectedType) itemType() expectedType {
	switch {
	case t.named == nil:
		return t
	case t.written.item != nil:
		t.written = t.written.item
	case t.written.nonNull:
		t.written = &typeNode{name: t.written.name}
	}
	return t
}

// validateValue validates a literal. If checked is true, the literal is part of a larger
// literal that was already checked as a whole, and only the names of object fields are
// validated.
func (v *validator) validateValue(n *valueNode, expected expectedType, checked bool) {
	switch n.kind {
	case valueVariable:
	case valueList:
		item := expected.itemType()
		if !checked && (expected.named == nil || expected.written.item == nil) {
			v.checkLiteral(n, item)
			checked = true
		}
		for _, child := range n.items {
			v.validateValue(child, item, checked)
		}
	case valueObject:
		if !checked {
			v.checkLiteral(n, expected)
		}
		u := fieldNames{list: n.fields}
		for i, f := range n.fields {
			if first := u.firstPosition(i); first >= 0 {
				v.report(fmt.Sprintf("There can be only one input field named %q.", f.name), first, f.pos)
			}
			v.validateValue(f.value, expectedType{}, true)
		}
	case valueNull:
		if !checked && expected.named != nil && expected.written.nonNull {
			v.report(fmt.Sprintf("Expected value of type %q, found null.", expected.written), n.pos)
		}
	default:
		if !checked {
			v.checkLiteral(n, expected)
		}
	}
}

// checkLiteral checks that a literal is a value of the expected scalar or enum.
func (v *validator) checkLiteral(n *valueNode, expected expectedType) {
	if expected.named == nil || v.tooManyErrors {
		return
	}
	if _, err := expected.named.parseLiteral(n, nil); err != nil {
		v.report(err.Error(), n.pos)
	}
}

// checkVariables applies the rules that need all uses of variables in an operation and in
// the fragments that it reaches: every variable is defined, used, and of a type that fits.
func (v *validator) checkVariables(op *operation) {
	if v.tooManyErrors {
		return
	}
	own := v.variableUsesIn(op.selectionSet, op.directives, v.schema.rootType(op))
	reached := v.fragmentsUsedBy(op)
	lists := [][]variableUse{own}
	for _, f := range reached {
		lists = append(lists, v.variableUsesIn(f.selectionSet, f.directives, compositeType(v.schema.types[f.typeCondition])))
	}
	defined := make(map[string]*variableDefinition, len(op.variables))
	for _, def := range op.variables {
		defined[def.name] = def
	}
	used := make(map[string]bool, len(op.variables))
	for _, list := range lists {
		for _, u := range list {
			used[u.node.raw] = true
			if defined[u.node.raw] == nil {
				v.report(fmt.Sprintf("Variable \"$%s\" is not defined%s.", u.node.raw, op.byOperation()), u.node.pos, op.pos)
			}
		}
	}
	for _, def := range op.variables {
		if !used[def.name] {
			v.report(fmt.Sprintf("Variable \"$%s\" is never used%s.", def.name, op.inOperation()), def.pos)
		}
	}
	for _, list := range lists {
		for _, u := range list {
			v.checkVariablePosition(defined[u.node.raw], u)
		}
	}
}

// byOperation returns " by operation NAME" for an error message, or "" for an anonymous
// operation.
func (op *operation) byOperation() string {
	if op.name == "" {
		return ""
	}
	return fmt.Sprintf(" by operation %q", op.name)
}

// inOperation returns " in operation NAME" for an error message, or "" for an anonymous
// operation.
func (op *operation) inOperation() string {
	if op.name == "" {
		return ""
	}
	return fmt.Sprintf(" in operation %q", op.name)
}

// variableUsesIn returns the uses of variables in the directives and the selection set of a
// definition. on is the type that the set is selected on, or nil.
func (v *validator) variableUsesIn(set *selectionSet, directives []*directive, on *typeDef) []variableUse {
	if uses, known := v.useCache[set]; known {
		return uses
	}
	g := variableUseCollector{schema: v.schema}
	g.collectFromDirectives(directives, nil)
	g.collectFromSet(set, on, nil)
	if v.useCache == nil {
		v.useCache = map[*selectionSet][]variableUse{}
	}
	v.useCache[set] = g.uses
	return g.uses
}

// checkVariablePosition checks that the type of a variable fits the place where it is used.
func (v *validator) checkVariablePosition(def *variableDefinition, u variableUse) {
	if def == nil || u.expected.named == nil || v.schema.types[def.typ.innermost().name] == nil {
		return
	}
	typ, at := def.typ, *u.expected.written
	if at.nonNull && !typ.nonNull && (u.hasDefault || def.defaultValue != nil && def.defaultValue.kind != valueNull) {
		at.nonNull = false
	}
	if !typ.isSubtypeOf(&at) {
		v.report(fmt.Sprintf("Variable \"$%s\" of type %q used in position expecting type %q.", def.name, typ,
			u.expected.written), def.pos, u.node.pos)
	}
}

// isSubtypeOf reports whether every value of the type is also a value of the other type.
func (t *typeNode) isSubtypeOf(other *typeNode) bool {
	switch {
	case other.nonNull && !t.nonNull:
		return false
	case other.item != nil || t.item != nil:
		return other.item != nil && t.item != nil && t.item.isSubtypeOf(other.item)
	}
	return t.name == other.name
}

// A variableUse is one use of a variable, with the type that is expected there.
type variableUse struct {
	node       *valueNode
	expected   expectedType
	hasDefault bool // the argument around the variable has a default value
}

// A variableUseCollector collects the uses of variables in a selection set. It does not
// enter fragment spreads.
type variableUseCollector struct {
	schema *Schema
	uses   []variableUse
}

func (c *variableUseCollector) collectFromSet(set *selectionSet, parent *typeDef, field *fieldDef) {
	for _, selection := range set.selections {
		switch n := selection.(type) {
		case *fieldNode:
			c.collectFromField(n, parent)
		case *spreadNode:
			c.collectFromDirectives(n.directives, field)
		case *inlineNode:
			c.collectFromDirectives(n.directives, field)
			on := parent
			if n.typeCondition != "" {
				on = compositeType(c.schema.types[n.typeCondition])
			}
			c.collectFromSet(n.selectionSet, on, field)
		}
	}
}

func (c *variableUseCollector) collectFromField(n *fieldNode, parent *typeDef) {
	var def *fieldDef
	if parent != nil {
		def = c.schema.fieldNamed(parent, n.name)
	}
	var on *typeDef
	if def != nil {
		on = compositeType(def.typ)
		c.collectFromArguments(n.arguments, def.args)
	} else {
		c.collectFromArguments(n.arguments, nil)
	}
	c.collectFromDirectives(n.directives, def)
	if n.selectionSet != nil {
		c.collectFromSet(n.selectionSet, on, def)
	}
}

func (c *variableUseCollector) collectFromDirectives(list []*directive, field *fieldDef) {
	for _, d := range list {
		switch def := c.schema.directiveNamed(d.name); {
		case def != nil:
			c.collectFromArguments(d.arguments, def.args)
		case field != nil:
			c.collectFromArguments(d.arguments, field.args)
		default:
			c.collectFromArguments(d.arguments, nil)
		}
	}
}

func (c *variableUseCollector) collectFromArguments(list []*argument, defs []*argDef) {
	for _, a := range list {
		switch a.value.kind {
		case valueVariable, valueList, valueObject:
			def := findArgument(defs, a.name)
			c.collectFromValue(a.value, def.expectedType(), def != nil && def.defaultValue != nil)
		}
	}
}

func (c *variableUseCollector) collectFromValue(n *valueNode, expected expectedType, hasDefault bool) {
	switch n.kind {
	case valueVariable:
		c.uses = append(c.uses, variableUse{n, expected, hasDefault})
	case valueList:
		for _, item := range n.items {
			c.collectFromValue(item, expected.itemType(), false)
		}
	case valueObject:
		for _, f := range n.fields {
			c.collectFromValue(f.value, expectedType{}, false)
		}
	}
}

// maxSuggestions is the number of names that one message suggests.
const maxSuggestions = 5

// didYouMean returns the suggestion at the end of a message, such as ` Did you mean "a" or
// "b"?`. kind stands before the names, for example "the enum value ", and may be "".
func didYouMean(kind string, options []string) string {
	if len(options) == 0 {
		return ""
	}
	quoted := make([]string, min(len(options), maxSuggestions))
	for i := range quoted {
		quoted[i] = `"` + options[i] + `"`
	}
	last := len(quoted) - 1
	list := quoted[last]
	switch last {
	case 0:
	case 1:
		list = quoted[0] + " or " + list
	default:
		list = strings.Join(quoted[:last], ", ") + ", or " + list
	}
	return " Did you mean " + kind + list + "?"
}

// maxCells limits the work of comparing names for one document, since a name can be as long
// as the document.
const maxCells = 20_000_000

// A nameSuggester finds the known names that a misspelt name may stand for. It compares
// names by optimal string alignment: the number of letters to insert, delete, replace, or
// swap with their neighbor, where no letter is edited twice. A difference in upper and
// lower case counts as 1 in total.
type nameSuggester struct {
	rows  [3][]int
	cells int // table cells computed for the document so far
}

// suggest returns the options that are similar to a name, the most similar first. An option
// is similar if its distance is at most 40 percent of the length of the name, plus 1.
func (s *nameSuggester) suggest(name string, options []string) []string {
	distances := map[string]int{}
	var near []string
	lower := lowerCaseUnits(name)
	limit := len(lower)*2/5 + 1
	for _, option := range options {
		d := 0
		if option != name {
			d = s.distance(lowerCaseUnits(option), lower, limit)
		}
		if _, known := distances[option]; d <= limit && !known {
			distances[option] = d
			near = append(near, option)
		}
	}
	slices.SortStableFunc(near, func(a, b string) int {
		return cmp.Or(cmp.Compare(distances[a], distances[b]), naturalCompare(a, b))
	})
	return near
}

// lowerCaseUnits returns the UTF-16 units of a name in lower case.
func lowerCaseUnits(name string) []uint16 { return utf16.Encode([]rune(strings.ToLower(name))) }

// distance returns the distance of two different names, or a number above the limit if the
// distance exceeds the limit.
func (s *nameSuggester) distance(long, short []uint16, limit int) int {
	if slices.Equal(long, short) {
		return 1
	}
	if len(long) < len(short) {
		long, short = short, long
	}
	s.cells += len(long)
	if len(long)-len(short) > limit || s.cells+len(long)*len(short) > maxCells {
		return limit + 1
	}
	for i := range s.rows {
		if len(s.rows[i]) <= len(short) {
			s.rows[i] = make([]int, len(short)+1)
		}
	}
	for j := range len(short) + 1 {
		s.rows[0][j] = j
	}
	for i := 1; i <= len(long); i++ {
		if s.fillRow(long, short, i) > limit {
			return limit + 1
		}
	}
	return s.rows[len(long)%3][len(short)]
}

// fillRow fills in one row of the distance table and returns the smallest distance in it.
func (s *nameSuggester) fillRow(long, short []uint16, i int) int {
	s.cells += len(short)
	up, row := s.rows[(i-1)%3], s.rows[i%3]
	row[0] = i
	smallest := i
	for j := 1; j <= len(short); j++ {
		cost := 1
		if long[i-1] == short[j-1] {
			cost = 0
		}
		cell := min(up[j]+1, row[j-1]+1, up[j-1]+cost)
		if i > 1 && j > 1 && long[i-1] == short[j-2] && long[i-2] == short[j-1] {
			cell = min(cell, s.rows[(i-2)%3][j-2]+1)
		}
		row[j] = cell
		smallest = min(smallest, cell)
	}
	return smallest
}

// naturalCompare orders names by their letters, and numbers in them by their value.
func naturalCompare(a, b string) int {
	i, j := 0, 0
	for i < len(a) && j < len(b) {
		if isDigit(a[i]) && isDigit(b[j]) {
			var x, y float64
			x, i = leadingNumber(a, i)
			y, j = leadingNumber(b, j)
			if x != y {
				return cmp.Compare(x, y)
			}
			continue
		}
		if a[i] != b[j] {
			return cmp.Compare(a[i], b[j])
		}
		i++
		j++
	}
	return len(a) - len(b)
}

// leadingNumber reads the number at index i and returns it with the index after it. A
// leading zero is a number of its own.
func leadingNumber(s string, i int) (float64, int) {
	n := 0.0
	for {
		n = n*10 + float64(s[i]-'0')
		i++
		if i >= len(s) || !isDigit(s[i]) || n == 0 {
			return n, i
		}
	}
}
