// Package suggest finds the known words that a misspelt word may stand for.
package suggest
