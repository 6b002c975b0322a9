package gql

import (
	"errors"
	"fmt"
	"strings"

	"github.com/app-sre/prcheck/qontract/bundle"
)

// A Request is a GraphQL request: the text of a query and the values of its variables.
// Operation selects an operation if the text has several. EmptyName says that the client
// sent the operation name "", which is an error, instead of none.
type Request struct {
	Query     string
	Variables *bundle.Object
	Operation string
	EmptyName bool
}

// ExactVariable is a variable that a request may have although its query does not declare it. If it
// is true, a number for which JavaScript has no value is an error of its field in a JSON scalar,
// with its place in the path. Otherwise it is null in the text, as in qontract-server, which ignores
// the variable.
const ExactVariable = "exactNumbers"

// isExact reports whether a request has [ExactVariable].
func (r Request) isExact() bool {
	if r.Variables == nil {
		return false
	}
	v, _ := r.Variables.Get(ExactVariable)
	return v == true
}

// The codes of errors, which qontract-server writes to extensions.code.
const (
	CodeParse      = "GRAPHQL_PARSE_FAILED"
	CodeValidation = "GRAPHQL_VALIDATION_FAILED"
	CodeUserInput  = "BAD_USER_INPUT"
	CodeOperation  = "OPERATION_RESOLUTION_FAILURE"
	CodeRequest    = "BAD_REQUEST"
	CodeFilter     = "BAD_FILTER_FIELD"
	CodeInternal   = "INTERNAL_SERVER_ERROR"
)

// A Rejection is the error for a request that is not executed. qontract-server answers such
// a request with status 400. Code and Message are those of the first error.
type Rejection struct {
	Code    string
	Message string
	Errors  []Error
}

// Error returns the message of the first error.
func (r *Rejection) Error() string { return r.Message }

// A compiler turns a request into a query. It collects the errors in variables.
type compiler struct {
	schema *Schema
	doc    *document
	errors []Error
}

// Compile parses and validates a request. The error is a *Rejection.
func (s *Schema) Compile(req Request) (*Query, error) {
	if req.Query == "" {
		return nil, reject(Error{Code: CodeRequest,
			Message: "GraphQL operations must contain a non-empty `query` or a `persistedQuery` extension."})
	}
	doc, fault := parse(req.Query)
	if fault == nil {
		fault = checkReach(doc)
	}
	if fault != nil {
		return nil, reject(*fault)
	}
	if errs := s.validateDocument(doc); len(errs) > 0 {
		return nil, reject(errs...)
	}
	c := &compiler{schema: s, doc: doc}
	op, err := doc.selectOperation(req)
	if err != nil {
		return nil, reject(Error{Code: CodeOperation, Message: err.Error()})
	}
	variables := c.variableValues(op, req.Variables)
	if len(c.errors) > 0 {
		return nil, reject(c.errors...)
	}
	q := newQuery(s, doc, op, variables)
	q.isExact = req.isExact()
	return q, nil
}

// validateDocument validates a document and returns the errors of graphql-js, or an error
// of our own if the document exceeds a limit.
func (s *Schema) validateDocument(doc *document) []Error {
	v := s.applyRules(doc)
	if len(v.errors) == 0 {
		v.checkOperationSizes()
	}
	if len(v.errors) == 0 && v.tooManyPairs {
		v.reportFirstConflicts()
	}
	return v.errors
}

func reject(list ...Error) *Rejection {
	return &Rejection{Code: list[0].Code, Message: list[0].Message, Errors: list}
}

// addError records an error at some positions of the document.
func (c *compiler) addError(code, message string, at ...int) {
	e := Error{Code: code, Message: message}
	for _, pos := range at {
		e.Locations = append(e.Locations, c.doc.source.locate(pos))
	}
	c.errors = append(c.errors, e)
}

// selectOperation returns the operation that a request selects.
func (d *document) selectOperation(req Request) (*operation, error) {
	name, only := req.Operation, req.Operation == "" && !req.EmptyName
	if only && len(d.operations) > 1 {
		return nil, errors.New("Must provide operation name if query contains multiple operations.")
	}
	for _, op := range d.operations {
		if only || op.name == name && name != "" {
			return op, nil
		}
	}
	if only {
		return nil, errors.New("Must provide an operation.")
	}
	return nil, errors.New(`Unknown operation named "` + name + `".`)
}

// JSON returns the body of an HTTP request for this GraphQL request.
func (r Request) JSON() []byte {
	out := appendString([]byte(`{"query":`), r.Query)
	if r.Operation != "" || r.EmptyName {
		out = appendString(append(out, `,"operationName":`...), r.Operation)
	}
	if r.Variables != nil {
		out = AppendJSON(append(out, `,"variables":`...), r.Variables)
	}
	return append(out, '}')
}

// maxVariableErrors is the number of errors in variables after which the others are not
// checked.
const maxVariableErrors = 50

// variableValues converts the variables of a request to the types that the operation
// declares. A variable that has neither a value nor a default value is absent from the
// result.
func (c *compiler) variableValues(op *operation, given *bundle.Object) map[string]any {
	values := make(map[string]any, len(op.variables))
	for _, v := range op.variables {
		input, ok := any(nil), false
		if given != nil {
			input, ok = given.Get(v.name)
		}
		switch {
		case !ok && v.defaultValue != nil:
			values[v.name] = c.schema.defaultValueOf(v.typ, v.defaultValue)
		case !ok && v.typ.nonNull:
			c.addInputError(v, fmt.Sprintf("Variable \"$%s\" of required type %q was not provided.", v.name, v.typ))
		case !ok:
		case input == nil && v.typ.nonNull:
			c.addInputError(v, fmt.Sprintf("Variable \"$%s\" of non-null type %q must not be null.", v.name, v.typ))
		default:
			values[v.name] = c.coerceVariable(v, v.typ, input, nil)
		}
		if len(c.errors) > maxVariableErrors {
			c.errors = append(c.errors[:maxVariableErrors], Error{
				Message: "Too many errors processing variables, error limit reached. Execution aborted.", Code: CodeInternal})
			break
		}
	}
	return values
}

func (c *compiler) addInputError(v *variableDefinition, message string) {
	c.addError(CodeUserInput, message, v.pos)
}

// defaultValueOf converts the default value of a variable. Validation has already accepted
// it.
func (s *Schema) defaultValueOf(t *typeNode, v *valueNode) any {
	if v.kind == valueNull {
		return nil
	}
	if t.item != nil {
		if v.kind != valueList {
			return []any{s.defaultValueOf(t.item, v)}
		}
		list := make([]any, len(v.items))
		for i, item := range v.items {
			list[i] = s.defaultValueOf(t.item, item)
		}
		return list
	}
	value, err := s.types[t.name].parseLiteral(v, nil)
	if err != nil {
		return nil
	}
	return value
}

// coerceVariable converts the value of a variable, or a part of it, to a type.
func (c *compiler) coerceVariable(v *variableDefinition, t *typeNode, input any, path []string) any {
	if input == nil {
		if t.nonNull {
			c.addInvalidValue(v, path, input, fmt.Sprintf("Expected non-nullable type %q not to be null.", t))
		}
		return nil
	}
	if t.item != nil {
		items, ok := input.([]any)
		if !ok {
			return []any{c.coerceVariable(v, t.item, input, path)}
		}
		list := make([]any, len(items))
		for i, item := range items {
			if len(c.errors) > maxVariableErrors {
				break
			}
			list[i] = c.coerceVariable(v, t.item, item, append(path, fmt.Sprintf("[%d]", i)))
		}
		return list
	}
	value, err := c.schema.types[t.name].parseValue(input)
	if err != nil {
		c.addInvalidValue(v, path, input, err.Error())
	}
	return value
}

// addInvalidValue records that a variable, or the part of it at path, has an invalid value.
func (c *compiler) addInvalidValue(v *variableDefinition, path []string, input any, message string) {
	at := ""
	if len(path) > 0 {
		at = ` at "` + v.name + strings.Join(path, "") + `"`
	}
	c.addInputError(v, fmt.Sprintf("Variable \"$%s\" got invalid value %s%s; %s", v.name, inspect(input), at, message))
}

// Limits on documents. Real documents stay far below them. They keep a hostile query from
// costing more than an honest one.
const (
	// maxTokens is the number of tokens of a document. qontract-server accepts bodies up to
	// 100 kB, which hold fewer tokens unless they consist of brackets.
	maxTokens = 60_000
	// maxDepth is the nesting depth of selection sets, lists and objects.
	maxDepth = 1000
	// maxFields is the number of selections of an operation after every fragment spread is
	// replaced by its fragment. Fragments that use others twice can make it grow exponentially.
	maxFields = 100_000
	// maxReached is the number of selections that all definitions reach. A fragment counts
	// once for every definition that reaches it.
	maxReached = 300_000
)

// A definitionSize holds the number of selections of one operation or fragment, and the
// names of the fragments that it uses directly.
type definitionSize struct {
	selections int
	spreads    []string
	lastRound  int // round in which a definition last reached this one
}

// A reachCounter counts the selections that definitions reach through fragments.
type reachCounter struct {
	fragments map[string]*definitionSize
	round     int
	reached   int
}

// checkReach returns an error for a document that would take too long to validate.
func checkReach(doc *document) *Error {
	if len(doc.fragments) == 0 {
		return nil
	}
	c := &reachCounter{fragments: make(map[string]*definitionSize, len(doc.fragments))}
	for _, f := range doc.fragments {
		c.fragments[f.name] = sizeOfSet(f.selectionSet)
	}
	for _, op := range doc.operations {
		c.addReachable(sizeOfSet(op.selectionSet))
	}
	for _, f := range doc.fragments {
		c.addReachable(c.fragments[f.name])
	}
	if c.reached <= maxReached {
		return nil
	}
	return &Error{Code: CodeValidation, Message: "The document uses its fragments too often to be validated."}
}

// sizeOfSet returns the size of a definition with this selection set.
func sizeOfSet(set *selectionSet) *definitionSize {
	s := &definitionSize{}
	s.add(set)
	return s
}

// add counts the selections of a set and of the sets inside it.
func (s *definitionSize) add(set *selectionSet) {
	s.selections += len(set.selections)
	for _, selection := range set.selections {
		switch n := selection.(type) {
		case *fieldNode:
			if n.selectionSet != nil {
				s.add(n.selectionSet)
			}
		case *inlineNode:
			s.add(n.selectionSet)
		case *spreadNode:
			s.spreads = append(s.spreads, n.name)
		}
	}
}

// addReachable adds the number of selections that one definition reaches.
func (c *reachCounter) addReachable(from *definitionSize) {
	c.round++
	pending := []*definitionSize{from}
	for len(pending) > 0 && c.reached <= maxReached {
		next := pending[len(pending)-1]
		pending = pending[:len(pending)-1]
		c.reached += 1 + next.selections
		for _, name := range next.spreads {
			if used := c.fragments[name]; used != nil && used.lastRound != c.round {
				used.lastRound = c.round
				pending = append(pending, used)
			}
		}
	}
}

// checkOperationSizes checks the number of selections of every operation. The fragments of
// the document must not form a cycle.
func (v *validator) checkOperationSizes() {
	if len(v.doc.fragments) == 0 {
		return // without fragments there are fewer selections than tokens
	}
	known := map[string]int{}
	for _, op := range v.doc.operations {
		if v.countSelections(op.selectionSet, known) > maxFields {
			v.report(fmt.Sprintf("The operation selects more than %d fields once its fragments are filled in.", maxFields),
				op.pos)
		}
	}
}

// countSelections counts the selections of a set, with every fragment spread replaced by
// its fragment. known holds the counts of fragments that were counted before.
func (v *validator) countSelections(set *selectionSet, known map[string]int) int {
	n := 0
	for _, s := range set.selections {
		n++
		switch s := s.(type) {
		case *fieldNode:
			if s.selectionSet != nil {
				n += v.countSelections(s.selectionSet, known)
			}
		case *inlineNode:
			n += v.countSelections(s.selectionSet, known)
		case *spreadNode:
			size, ok := known[s.name]
			if !ok {
				size = v.countSelections(v.fragments[s.name].selectionSet, known)
				known[s.name] = size
			}
			n += size
		}
		n = min(n, maxFields+1)
	}
	return n
}
