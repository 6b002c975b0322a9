// Package armtest provides a service in memory with the habits of Azure Resource Manager. Which
// addresses and verbs there are comes from specifications; how a type behaves comes from a
// [Behaviour], which says what no specification tells: which changes are refused, what the
// service fills in, how long an operation takes. Nothing here shares code with the clients of such
// services, so that a mistake of theirs is not made here a second time.
//
// A [Server] is an [http.Handler]. [New] serves it on loopback; [Server.Transport] answers
// requests without a network, for tests with virtual time. The server has no timers: whatever
// takes time is settled when the next request comes.
//
// A request without the token is answered 401, one for an address that no specification has 404,
// one without a known api-version 400. Every request is noted.
package armtest
