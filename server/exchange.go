package server

import "github.com/app-sre/prcheck/gql"

// An Exchange is one request and what it was answered.
type Exchange struct {
	Path     string        // of the request's URL
	SHA256   string        // of the bundle that was asked; "" when none was
	Request  *gql.Request  // nil when it was not a GraphQL request that could be read
	Query    *gql.Query    // nil unless it compiled
	Response *gql.Response // nil unless it was executed; with the files that were read
	Status   int
	Cut      bool // the answer is an error because the request ended, or took too long

	// Body is that of the answer, as sent. That of GraphQL lacks the line break
	// at its end, like [gql.Response.JSON]; long bodies of other endpoints are
	// nil.
	Body []byte
}
