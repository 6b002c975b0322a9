package gql

import (
	"errors"

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
