package markdown

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/app-sre/prcheck/internal/lazyregexp"
	"github.com/app-sre/prcheck/internal/sanitize"
)

// maxLine is the size of a value on one line, in runes, above which it is cut.
const maxLine = 500

// joiner is an invisible character. Between two characters it keeps GitLab from reading
// them together.
const joiner = "\u2060"

var escaper = strings.NewReplacer(
	"&", "&amp;"+joiner, "<", "&lt;", ">", joiner+"&gt;", "|", "&#124;", `\`, "&#92;",
	"*", `\*`, "_", `\_`, "`", "\\`", "[", `\[`+joiner, "]", `\]`, "{", "{"+joiner,
	"@", "@"+joiner, "#", `\#`+joiner, "!", `\!`+joiner, "~", `\~`+joiner, "%", "%"+joiner, "$", `\$`+joiner, "^",
	"^"+joiner,
)

// blockStart matches the beginning of a line that starts a block or a quick action.
var blockStart = lazyregexp.New(`^(?:[-+=:/]|[0-9]+[.)](?: |$))`)

// Escape returns an untrusted value as one line that Markdown shows as plain text, also in
// the cell of a table.
func Escape(text string) string {
	text = separate(escaper.Replace(line(text)))
	if blockStart.MatchString(text) {
		return joiner + text
	}
	return text
}

// separate puts joiners into text that GitLab would take for an emoji, a scheme or a
// reference such as iteration:1 (but not into a time such as 10:30), for a host such as
// www.example.org, for a commit, or for an issue of another tracker such as APP-12.
func separate(text string) string {
	var out strings.Builder
	hex, capitals := 0, false // the number of hex digits before this byte; whether capitals stand before it
	for i := range len(text) {
		c := text[i]
		if c == '.' && i >= 3 && strings.EqualFold(text[i-3:i], "www") {
			out.WriteString(joiner)
		}
		out.WriteByte(c)
		if i+1 < len(text) {
			next := text[i+1]
			if c == '-' && capitals && isDigit(next) ||
				c == ':' && next != ' ' && (i == 0 || !isDigit(text[i-1]) || !isDigit(next)) {
				out.WriteString(joiner)
			}
		}
		upper := 'A' <= c && c <= 'Z'
		capitals = upper || capitals && (isDigit(c) || c == '_' || c == '\\')
		if !isDigit(c) && (c|' ' < 'a' || c|' ' > 'f') {
			hex = 0
		} else if hex++; hex == 6 {
			out.WriteString(joiner)
			hex = 0
		}
	}
	return out.String()
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// Code returns an untrusted value as a code span. A value with a backtick, a pipe or a
// backslash, which mean something even in code, is returned by [Escape] instead. A value
// without visible characters becomes "".
func Code(text string) string {
	text = line(text)
	if text == "" {
		return ""
	}
	if strings.ContainsAny(text, "`|\\") {
		return Escape(text)
	}
	return "`" + text + "`"
}

var (
	backticks = lazyregexp.New("`+")
	commands  = lazyregexp.New(`(?m)^([\t\p{Z}]*)/`)
)

// Fence returns untrusted text in a code block. Its fence is longer than any run of
// backticks inside. No line begins with a slash, because some bots read commands even in
// code: "| " is put before it, which can be seen, so that paths can be copied. Text without visible characters becomes
// "".
func Fence(text string) string {
	text = strings.Trim(visible(text), "\n")
	if strings.TrimSpace(text) == "" {
		return ""
	}
	text = commands.ReplaceAllString(text, "${1}| /")
	fence := "```"
	for _, run := range backticks.FindAllString(text, -1) {
		if len(run) >= len(fence) {
			fence = run + "`"
		}
	}
	return fence + "\n" + text + "\n" + fence
}

// line returns an untrusted value as one sanitized line, cut after maxLine.
func line(text string) string {
	text = strings.Join(strings.Fields(visible(text)), " ")
	if utf8.RuneCountInString(text) > maxLine {
		text = string([]rune(text)[:maxLine]) + "…"
	}
	return text
}

// visible returns sanitized text without invisible characters. Those could hide in a name,
// or make two names look the same.
func visible(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.In(r, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point) {
			return -1
		}
		return r
	}, sanitize.Text(text))
}
