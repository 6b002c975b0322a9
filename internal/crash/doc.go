// Package crash says what is told of a panic.
package crash
