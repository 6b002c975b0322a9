// Package server is a qontract-server: for the two bundles of one change, an
// [Endpoint] for each task, or for any number of bundles, a [Hub].
//
// Every task gets an endpoint of its own, a port on the loopback interface,
// because clients of qontract-server replace the whole path of the address
// they are given. The latest bundle is head, as on a server that loaded base
// first. Endpoints and hubs answer
//
//	/graphql                  over the latest bundle, by POST and GET
//	/graphqlsha/SHA           over the bundle with that sha256
//	/sha256                   of the latest bundle
//	/git-commit[/SHA]         the commit, as text
//	/git-commit-info[/SHA]    commit and timestamp, as JSON
//	/diff/SHA/SHA[/KIND/PATH] what differs between two bundles
//	/healthz
//
// with the status codes, headers and bodies of qontract-server 2.0.0, which are
// those of express and Apollo Server. A hub also answers /reload, /cache and
// /metrics, forgets bundles that nobody asks, and bounds what it uses.
//
// An endpoint holds a task to what its integration is allowed to read: an
// answer that touches a datafile of another schema is replaced by an error
// that names the schema, and [Endpoint.Close] reports it. Which schemas are
// allowed is taken from the bundle that was asked. Resources do not count, and
// neither does the question every client begins with: the names, descriptions
// and schemas of all integrations.
package server
