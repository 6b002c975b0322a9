package report

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/app-sre/prcheck/internal/sanitize"
)

// maxLine bounds a value that is shown on one line, in runes.
const maxLine = 500

// Printable returns an untrusted value as one line without control characters,
// bounded in length.
func Printable(text string) string { return cleanLine(text) }

// cleanLine returns an untrusted value as one line without control characters,
// bounded in length.
func cleanLine(text string) string {
	text = sanitize.Line(text)
	if utf8.RuneCountInString(text) > maxLine {
		text = string([]rune(text)[:maxLine]) + "…"
	}
	return text
}

// cleanLines applies cleanLine to each text.
func cleanLines(texts []string) []string {
	var out []string
	for _, text := range texts {
		out = append(out, cleanLine(text))
	}
	return out
}

// cleanBlock removes control characters from untrusted text and keeps its lines.
func cleanBlock(text string) string { return strings.Trim(sanitize.Text(text), "\n") }

// formatSeconds returns a duration as "3.2s" or "2m03s".
func formatSeconds(s float64) string {
	if s < 60 {
		return fmt.Sprintf("%.1fs", s)
	}
	whole := int(s + 0.5)
	return fmt.Sprintf("%dm%02ds", whole/60, whole%60)
}

// formatMinute returns a time to the minute, in UTC.
func formatMinute(t time.Time) string { return t.UTC().Format("2006-01-02 15:04") + " UTC" }
