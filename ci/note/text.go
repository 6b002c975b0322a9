package note

import (
	"fmt"
	"net/url"
	"strings"

	md "github.com/app-sre/prcheck/internal/markdown"
	"github.com/app-sre/prcheck/internal/sanitize"
	"github.com/app-sre/prcheck/report"
)

// maxName bounds a name, in characters.
const maxName = 200

// showName returns the name of a task, an integration or a file as code, bounded in
// length.
func showName(text string) string {
	if runes := []rune(text); len(runes) > maxName {
		text = string(runes[:maxName]) + "…"
	}
	if text = md.Code(text); text != "" {
		return text
	}
	return "(a name that shows nothing)"
}

// describeResult returns how a task ended in a few words, such as "failed: exit
// code 3".
func describeResult(t report.TaskResult) string {
	text := strings.ReplaceAll(string(t.Status), "_", " ")
	switch {
	case t.Reason == "" || t.Reason == text:
		return text
	case strings.HasPrefix(t.Reason, text):
		return t.Reason
	}
	return text + ": " + t.Reason
}

// lastLines returns the last lines of an output without control characters, each
// bounded in length.
func lastLines(text string, most int) []string {
	text = text[max(0, len(text)-maxOutput):]
	text = strings.TrimSpace(sanitize.Text(text))
	if text == "" {
		return nil
	}
	lines := strings.Split(text, "\n")
	lines = lines[max(0, len(lines)-most):]
	for i, line := range lines {
		line = strings.TrimRight(line, " \t")
		if runes := []rune(line); len(runes) > maxWidth {
			line = string(runes[:maxWidth]) + "…"
		}
		lines[i] = line
	}
	return lines
}

// maxWord bounds the last line of a task in a table, in characters.
const maxWord = 100

// lastLine returns the last line of an output. Most integrations write there what
// is wrong or what they would change.
func lastLine(text string) string {
	lines := lastLines(text[max(0, len(text)-maxOutput/4):], 1)
	if len(lines) == 0 {
		return ""
	}
	last := []rune(strings.TrimSpace(lines[len(lines)-1]))
	if len(last) > maxWord {
		return string(last[:maxWord]) + "…"
	}
	return string(last)
}

// bold returns text in bold. The text must be our own.
func bold(text string) string { return "**" + text + "**" }

// countUnlessZero returns a number and a word, such as "3 passed", or "" for 0.
func countUnlessZero(n int, what string) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%d %s", n, what)
}

// singularOrPlural returns the first text for 1, and the second for any other
// number.
func singularOrPlural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// formatSeconds returns a duration as "3.2s" or "2m03s".
func formatSeconds(s float64) string {
	if s < 60 {
		return fmt.Sprintf("%.1fs", s)
	}
	whole := int(s + 0.5)
	return fmt.Sprintf("%dm%02ds", whole/60, whole%60)
}

// joinNonEmpty joins the parts that are not empty.
func joinNonEmpty(sep string, parts ...string) string {
	var kept []string
	for _, part := range parts {
		if part != "" {
			kept = append(kept, part)
		}
	}
	return strings.Join(kept, sep)
}

// newLink returns a link in Markdown. It returns "" if the address is not http or
// https, contains credentials or is too long.
func newLink(label, address string) string {
	u, err := url.Parse(strings.ToValidUTF8(address, "\uFFFD"))
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil || len(address) > 2000 {
		return ""
	}
	var out strings.Builder
	for _, c := range []byte(u.String()) {
		if 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' ||
			strings.IndexByte("-._~:/?#@%=&+,", c) >= 0 {
			out.WriteByte(c)
		} else {
			fmt.Fprintf(&out, "%%%02X", c)
		}
	}
	return "[" + label + "](" + out.String() + ")"
}
