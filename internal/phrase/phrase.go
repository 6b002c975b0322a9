package phrase

import (
	"strconv"
	"strings"
)

// Count returns a number with a noun that has a plural with s: "1 task", "3 tasks".
func Count(n int, noun string) string { return CountOf(n, noun, noun+"s") }

// CountOf returns a number with the right form of a noun: "1 query", "3 queries".
func CountOf(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + many
}

// Cut returns a text of at most so many bytes as it is. Of a longer one it returns the beginning
// without half a character, and "…".
func Cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}

// CutRunes is Cut for a number of characters.
func CutRunes(text string, most int) string {
	if len(text) <= most {
		return text
	}
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return text
}

// Quote quotes text for a message. Of a long text it quotes the beginning alone.
func Quote(text string) string {
	const most = 80 // bytes
	if len(text) > most {
		return strconv.Quote(text[:most]) + "…"
	}
	return strconv.Quote(text)
}
