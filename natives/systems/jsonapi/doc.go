// Package jsonapi reads JSON from services that the data name, such as build servers.
//
//   - A credential goes to the server that it is for, and never to another one: a redirect to
//     another address is an error.
//   - A request has a time limit, and an answer a size limit. What may pass by itself is tried
//     again, and has the class transient in the end.
//   - An error names the server and what it answered. It has neither credentials nor text of the
//     answer, which could have one.
package jsonapi
