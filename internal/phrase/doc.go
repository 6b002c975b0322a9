// Package phrase makes parts of sentences: numbers with their nouns, and the beginnings of long texts.
package phrase
