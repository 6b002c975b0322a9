// Package live reads the two bundles of a change from a running qontract-server, and sends
// queries over them to that server.
//
// [Open] asks the server for the differences of the bundles (/diff), for their GraphQL types
// (introspection), and for the paths of all datafiles and resources (root fields). It then
// reads every datafile that is listed or referred to. The result can replace bundle files
// wherever data is read: for changed files, for references and for the definitions of
// integrations. Desired states are not computed from it: a [BundleClient] asks the server for them.
//
// A server does not show everything that a bundle file contains. JSON schemas are missing.
// Of the GraphQL types only the parts are known that introspection and answers show. Numbers
// are those of JavaScript. [Bundles.Limitations] lists these limits. None of them can make
// two different answers look equal.
//
// Requests have timeouts, and answers have a maximal size. A request is repeated a few times
// if the connection breaks or the server has a problem: the pauses double and are partly
// random, and Retry-After is respected up to half a minute.
package live
