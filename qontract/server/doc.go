// Package server answers requests as qontract-server does. An [Endpoint] serves the two
// bundles of a change to one task. A [Hub] serves any number of bundles.
//
// Every task has an endpoint of its own: a port on the loopback interface. A path per task
// would not be enough, because clients of qontract-server replace the whole path of the
// address that they are given. The latest bundle of an endpoint is head. Endpoints and
// hubs answer
//
//	/graphql                  over the latest bundle, by POST and GET
//	/graphqlsha/SHA           over the bundle with that sha256
//	/sha256                   of the latest bundle
//	/git-commit[/SHA]         the commit, as text
//	/git-commit-info[/SHA]    commit and timestamp, as JSON
//	/diff/SHA/SHA[/KIND/PATH] what differs between two bundles
//	/healthz
//
// with the status codes, headers and bodies of qontract-server 2.0.0, which come from
// express and Apollo Server. A hub also answers /reload, /cache and /metrics. It drops
// bundles that are no longer used, and it limits its use of resources ([Limits]).
//
// An endpoint with a token answers only requests that have it: another task of the same machine can find the port.
//
// An endpoint enforces the schemas that an integration may read. A response with data of
// a datafile that has another schema is replaced by an error that names the schema, and
// [Endpoint.Close] reports the schema. The allowed schemas are those of the bundle that
// is queried. Resources are always allowed. So is the first query of every client: the
// names, descriptions and schemas of all integrations.
package server
