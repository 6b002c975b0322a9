// Package similar finds the known words that a misspelt one may stand for.
package suggest
