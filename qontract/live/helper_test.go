package live_test

import "github.com/app-sre/prcheck/qontract/gql"

func gqlRequest(query string) gql.Request { return gql.Request{Query: query} }
