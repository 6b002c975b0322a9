// Package outward is the one way on which requests of natives leave: it makes all clients and transports below
// natives/systems, and says what the programs git and helm are given for the network.
//
// # Types and flow
//
// [Hosts] are the servers that settings name; they say which servers a change may have asked, and which ones get
// credentials that data name.
//
// A [Party] is one server that may be asked, with all that may be sent there. Whoever makes a Party knows, from
// the settings of base or from data that base has, that the server may be asked, and gives it one credential.
// After that nobody needs to know what a host is:
//
//	settings and data of base → Party → Client or Transport → Check of each request → the connection
//	                                  → CheckAddress: what the program git is given
//	Offline: what a program is given that asks nobody
//
// # Rules
//
//   - A request goes to the scheme, the host and the port of the party, or is not sent. So does each request
//     that follows: after a redirect, for a page, for the end of a long operation. The address of a server
//     of tokens is a party of its own.
//   - GET and HEAD are sent. Everything else needs [Party.May].
//   - The credential of the party is the only one that leaves in the header Authorization, or in the header that the
//     party names for it. It leaves over TLS, or within this machine.
//   - A redirect is an error, unless [Party.Follows] allows redirects on the server itself.
//   - All of this comes before the name of a host is looked up, and before a proxy sees it. The proxy of the
//     environment is a fact of the machine, and leads nowhere else.
//   - An answer has at most [Party.Largest] bytes.
//   - What is refused has the class config, and its error says what to do. What fails on the way has the class
//     transient. No error has a credential or words of the server.
package outward
