// Package live reads two bundles from a running qontract-server and lets it
// answer queries over them.
//
// The server is asked for its /diff, for its GraphQL types by introspection, for
// the paths of all datafiles and resources by its root fields, and for every
// datafile that those, or a reference, name. What comes together is as good as
// the bundle file for everything that looks at data: what changed, who mentions
// what, which integrations there are. Desired states are not worked out from it
// but asked for: see [Side].
//
// A server does not tell everything that a bundle file has. JSON schemas are
// missing, of the GraphQL types only what introspection shows and what the
// answers give away, and numbers are as JavaScript has them. [Bundles.Unproven]
// says so. Nothing of this can make the answers on both sides look alike when
// they are not.
//
// Requests have timeouts, are repeated a few times when the connection breaks
// or the server is in trouble (pauses double and are partly random; Retry-After is
// respected up to half a minute), and answers have a largest size.
package live
