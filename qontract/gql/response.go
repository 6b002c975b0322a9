package gql

import (
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
