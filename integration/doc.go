// Package integration describes integrations: the definition in a bundle, and the contract of an
// integration that is written in Go. What prcheck.yaml says about them is in package settings.
//
// # Definitions
//
// [List] reads the definitions of a bundle. A value of an unexpected type never leaves an
// integration out: the [Check] then has the value with which the integration runs completely.
//
// # Native integrations
//
// A [Native] integration is written in Go. It may also have a desired state ([Stater]) and
// shards ([Sharder]). A native integration without them runs in full. See [Stater] for the rules
// of a desired state.
package integration
