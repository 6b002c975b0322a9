// Package slotest provides a Prometheus for tests: values of expressions, and the one address that
// tells them. A test can make any request fail.
package slotest
