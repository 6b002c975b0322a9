package live_test

import "github.com/app-sre/prcheck/gql"

func gqlRequest(query string) gql.Request { return gql.Request{Query: query} }
