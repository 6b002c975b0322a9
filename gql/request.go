package gql

import (
	"errors"

	"github.com/app-sre/prcheck/bundle"
)

// A Request is a query text with the values of its variables. Operation names
// the operation when the text has several.
type Request struct {
	Query     string
	Variables *bundle.Object
	Operation string
}

// The codes of errors, as qontract-server has them.
const (
	CodeParse      = "GRAPHQL_PARSE_FAILED"
	CodeValidation = "GRAPHQL_VALIDATION_FAILED"
	CodeUserInput  = "BAD_USER_INPUT"
	CodeOperation  = "OPERATION_RESOLUTION_FAILURE"
	CodeRequest    = "BAD_REQUEST"
	CodeFilter     = "BAD_FILTER_FIELD"
	CodeInternal   = "INTERNAL_SERVER_ERROR"
)

// A Rejection is a request that is not executed at all: qontract-server answers
// it with status 400. Code and Message are those of the first error.
type Rejection struct {
	Code    string
	Message string
	Errors  []Error
}

func (r *Rejection) Error() string { return r.Message }

// A compiler turns a request into a query. Errors gather until the end of a
// stage.
type compiler struct {
	s      *Schema
	doc    *document
	errors []Error
}

// Compile reads and checks a request. The error is a *Rejection.
func (s *Schema) Compile(req Request) (*Query, error) {
	if req.Query == "" {
		return nil, reject(Error{Code: CodeRequest,
			Message: "GraphQL operations must contain a non-empty `query` or a `persistedQuery` extension."})
	}
	parsed, errs := parse(req.Query)
	if len(errs) == 0 {
		errs = s.validate(parsed)
	}
	if len(errs) > 0 {
		return nil, reject(errs...)
	}
	doc := convert(req.Query, parsed)
	c := &compiler{s: s, doc: doc}
	if c.check(); len(c.errors) > 0 {
		return nil, reject(c.errors...)
	}
	op, err := doc.operation(req.Operation)
	if err != nil {
		return nil, reject(Error{Code: CodeOperation, Message: err.Error()})
	}
	variables := c.variableValues(op, req.Variables)
	if len(c.errors) > 0 {
		return nil, reject(c.errors...)
	}
	return newQuery(s, doc, op, variables), nil
}

// check applies the rules that gqlparser lacks, or is too slow for.
func (c *compiler) check() {
	c.literals()
	if c.sizes(); len(c.errors) == 0 {
		c.overlaps()
	}
}

func reject(list ...Error) *Rejection {
	return &Rejection{Code: list[0].Code, Message: list[0].Message, Errors: list}
}

// fail notes an error at positions of the document.
func (c *compiler) fail(code, message string, at ...int) {
	e := Error{Code: code, Message: message}
	for _, pos := range at {
		e.Locations = append(e.Locations, locate(c.doc.source, pos))
	}
	c.errors = append(c.errors, e)
}

// operation returns the operation with a name, or the only one.
func (d *document) operation(name string) (*operation, error) {
	if name == "" && len(d.operations) > 1 {
		return nil, errors.New("Must provide operation name if query contains multiple operations.")
	}
	for _, op := range d.operations {
		if name == "" || op.name == name {
			return op, nil
		}
	}
	if name == "" {
		return nil, errors.New("Must provide an operation.")
	}
	return nil, errors.New(`Unknown operation named "` + name + `".`)
}
