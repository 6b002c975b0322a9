package server

import "github.com/app-sre/prcheck/qontract/gql"

// An Exchange is one request with its answer.
type Exchange struct {
	Path     string        // path of the request's URL
	SHA256   string        // sha256 of the bundle that was queried; "" if there was none
	Request  *gql.Request  // nil if it was no valid GraphQL request
	Query    *gql.Query    // nil if the request did not compile
	Response *gql.Response // with the files that were read; nil if the query was not executed
	Status   int           // status code of the answer
	Aborted  bool          // whether the request was canceled or took too long; the answer is then an error

	// Body is the body of the answer. The body of a GraphQL answer is without the
	// line break at its end, as from [gql.Response.JSON]. Body is nil if the answer
	// was streamed.
	Body []byte
}
