package gql

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/app-sre/prcheck/qontract/bundle"
)

// An Error is an entry in the list of errors of an answer.
type Error struct {
	Message   string
	Locations []Location
	Path      []any  // response keys (string) and indexes of list items (int)
	Code      string // one of the Code constants
	GQLType   string // only with CodeFilter: the type that lacks the field
}

// A Response is the answer to a request.
type Response struct {
	Status  int // HTTP status: 200, or 400 for a rejected request
	Data    any // *bundle.Object, or nil
	HasData bool
	Errors  []Error

	// Schemas are the schemas of the objects of which fields were read, in the order of
	// reading. qontract-server writes them to extensions.schemas. DatafileSchemas leaves out
	// the schemas that were read in resources only.
	Schemas         []bundle.SchemaPath
	DatafileSchemas []bundle.SchemaPath

	// Datafiles and Resources are the sorted paths of the files from which fields were read.
	// Fields are the names of the fields that were read of objects with a schema, sorted, by
	// schema. Only [Engine.Observe] fills them in.
	Datafiles, Resources []bundle.Path
	Fields               map[bundle.SchemaPath][]string

	// Dependence tells what the answer depends on. Only [Engine.Observe] fills it in.
	Dependence Dependence
}

// JSON returns the body of qontract-server's HTTP response, without the line break at its
// end.
func (r *Response) JSON() []byte { return r.AppendJSON(nil) }

// AppendJSON appends the body that [Response.JSON] returns to out.
func (r *Response) AppendJSON(out []byte) []byte {
	out = append(out, '{')
	if len(r.Errors) > 0 {
		out = append(out, `"errors":[`...)
		for i := range r.Errors {
			if i > 0 {
				out = append(out, ',')
			}
			out = r.Errors[i].append(out)
		}
		out = append(out, `],`...)
	}
	if r.HasData {
		out = append(out, `"data":`...)
		out = append(appendAnswer(out, r.Data, hiddenKey), ',')
	}
	out = append(out, `"extensions":{"schemas":[`...)
	for i, s := range r.Schemas {
		if i > 0 {
			out = append(out, ',')
		}
		out = appendString(out, string(s))
	}
	return append(out, "]}}"...)
}

// DataJSON returns the data of the answer as JSON.
func (r *Response) DataJSON() []byte { return appendAnswer(nil, r.Data, "") }

// hiddenKey is a key that clients of qontract-server never see: the server loses it when it
// copies the answer.
const hiddenKey = "__proto__"

// appendAnswer appends the data of an answer without the key hidden. Unlike AppendJSON it
// keeps numbers and the order of keys as they are.
func appendAnswer(out []byte, v any, hidden string) []byte {
	switch v := v.(type) {
	case bundle.Number:
		return append(out, v...)
	case []any:
		out = append(out, '[')
		for i, item := range v {
			if i > 0 {
				out = append(out, ',')
			}
			out = appendAnswer(out, item, hidden)
		}
		return append(out, ']')
	case *bundle.Object:
		out = append(out, '{')
		first := true
		for _, m := range v.Members() {
			if m.Key == hidden {
				continue
			}
			if !first {
				out = append(out, ',')
			}
			first = false
			out = append(appendString(out, m.Key), ':')
			out = appendAnswer(out, m.Value, hidden)
		}
		return append(out, '}')
	}
	return AppendJSON(out, v)
}

func (e *Error) append(out []byte) []byte {
	out = appendString(append(out, `{"message":`...), e.Message)
	if len(e.Locations) > 0 {
		out = append(out, `,"locations":[`...)
		for i, l := range e.Locations {
			if i > 0 {
				out = append(out, ',')
			}
			out = strconv.AppendInt(append(out, `{"line":`...), int64(l.Line), 10)
			out = strconv.AppendInt(append(out, `,"column":`...), int64(l.Column), 10)
			out = append(out, '}')
		}
		out = append(out, ']')
	}
	if e.Path != nil {
		out = append(out, `,"path":[`...)
		for i, p := range e.Path {
			if i > 0 {
				out = append(out, ',')
			}
			if key, ok := p.(string); ok {
				out = appendString(out, key)
			} else if index, ok := p.(int); ok {
				out = strconv.AppendInt(out, int64(index), 10)
			}
		}
		out = append(out, ']')
	}
	out = appendString(append(out, `,"extensions":{"code":`...), e.Code)
	if e.GQLType != "" {
		out = appendString(append(out, `,"gqlType":`...), e.GQLType)
	}
	return append(out, "}}"...)
}

// ReadResponse parses the body of a GraphQL server's HTTP response with a status. It
// returns an error if the body is not a response to a GraphQL request: if it is not JSON,
// or has neither data nor errors. Data that are null are none: both sides would look
// alike, and nothing would be checked.
func ReadResponse(status int, body []byte) (*Response, error) {
	v, err := bundle.ParseValue(body)
	if err != nil {
		return nil, err
	}
	o, ok := v.(*bundle.Object)
	if !ok {
		return nil, errors.New("it is not a JSON object")
	}
	res := &Response{Status: status, HasData: o.Has("data")}
	res.Data, _ = o.Get("data")
	if object, isObject := res.Data.(*bundle.Object); res.Data != nil && (!isObject || object == nil) {
		return nil, errors.New("its data is not an object")
	}
	if o.Has("errors") {
		if res.Errors, err = readErrors(o); err != nil {
			return nil, err
		}
	}
	if res.Data == nil && len(res.Errors) == 0 {
		return nil, errors.New("it has neither data nor errors")
	}
	if status != 200 && len(res.Errors) == 0 {
		return nil, fmt.Errorf("it has no errors although its status is %d", status)
	}
	more, _ := o.Get("extensions")
	if extensions, isObject := more.(*bundle.Object); isObject {
		list, _ := extensions.Get("schemas")
		names, _ := list.([]any)
		for _, name := range names {
			if s, isString := name.(string); isString {
				res.Schemas = append(res.Schemas, bundle.SchemaPath(s))
			}
		}
	}
	return res, nil
}

func readErrors(o *bundle.Object) ([]Error, error) {
	v, _ := o.Get("errors")
	list, ok := v.([]any)
	if !ok {
		return nil, errors.New("its errors are not a list")
	}
	out := make([]Error, 0, len(list))
	for _, item := range list {
		e, ok := item.(*bundle.Object)
		if !ok {
			return nil, errors.New("one of its errors is not an object")
		}
		out = append(out, readError(e))
	}
	return out, nil
}

func readError(o *bundle.Object) Error {
	e := Error{Message: o.String("message")}
	path, _ := o.Get("path")
	steps, _ := path.([]any)
	for _, s := range steps {
		switch s := s.(type) {
		case string:
			e.Path = append(e.Path, s)
		case bundle.Number:
			e.Path = append(e.Path, jsonInt(s))
		}
	}
	at, _ := o.Get("locations")
	places, _ := at.([]any)
	for _, p := range places {
		if p, ok := p.(*bundle.Object); ok {
			line, _ := p.Get("line")
			column, _ := p.Get("column")
			e.Locations = append(e.Locations, Location{jsonInt(line), jsonInt(column)})
		}
	}
	more, _ := o.Get("extensions")
	if extensions, ok := more.(*bundle.Object); ok {
		e.Code, e.GQLType = extensions.String("code"), extensions.String("gqlType")
	}
	return e
}

// jsonInt returns the value of a JSON integer, or 0 for any other value.
func jsonInt(v any) int {
	n, _ := v.(bundle.Number)
	i, _ := strconv.Atoi(string(n))
	return i
}
