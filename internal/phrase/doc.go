// Package phrase makes parts of sentences: numbers with their nouns, and long texts, cut or quoted.
package phrase
