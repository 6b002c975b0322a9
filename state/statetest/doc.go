// Package statetest provides a store for tests: one whose calls do not answer.
package statetest
