// Package metrics counts what a hub of package server does, and writes the
// counts in the text format of Prometheus under the names that qontract-server
// uses.
//
// The counting lies outside of package server because only planner serve needs
// it: the Prometheus client is large, and runner, which opens endpoints of
// package server, is built without it.
package metrics
