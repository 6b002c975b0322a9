// Package statetest provides stores for tests: one in memory, and one whose calls do not answer.
package statetest
