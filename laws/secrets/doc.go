// Package main holds the law of non-interference over random merge requests: a check sends the
// same and says the same, whatever the secrets are that a change can reach.
package main
