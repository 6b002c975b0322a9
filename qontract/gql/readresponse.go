package gql

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/app-sre/prcheck/qontract/bundle"
)

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
