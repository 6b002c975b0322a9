// Package server is a qontract-server for the two bundles of one change.
//
// Every task gets an endpoint of its own, a port on the loopback interface,
// because clients of qontract-server replace the whole path of the address
// they are given. The latest bundle is head, as on a server that loaded base
// first. It answers
//
//	/graphql                  over head, by POST and GET
//	/graphqlsha/SHA           over the bundle with that sha256
//	/sha256                   of head
//	/git-commit[/SHA]         the commit, as text
//	/git-commit-info[/SHA]    commit and timestamp, as JSON
//	/healthz
//
// with the status codes and bodies of qontract-server 2.0.0. Anything else is
// not found.
//
// An endpoint holds a task to what its integration is allowed to read: an
// answer that touches a datafile of another schema is replaced by an error
// that names the schema, and [Endpoint.Close] reports it. Which schemas are
// allowed is taken from the bundle that was asked. Resources do not count, and
// neither does the question every client begins with: the names, descriptions
// and schemas of all integrations.
package server
