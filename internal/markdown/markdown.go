package markdown

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/app-sre/prcheck/internal/sanitize"
)

// maxLine bounds a value that is shown on one line, in runes.
const maxLine = 500

// joiner is invisible and keeps a sign from being read together with what
// follows it.
const joiner = "\u2060"

var escaper = strings.NewReplacer(
	"&", "&amp;"+joiner, "<", "&lt;", ">", joiner+"&gt;", "|", "&#124;", `\`, "&#92;",
	"*", `\*`, "_", `\_`, "`", "\\`", "[", `\[`+joiner, "]", `\]`, "{", "{"+joiner,
	"@", "@"+joiner, "#", `\#`+joiner, "!", `\!`+joiner, "~", `\~`+joiner, "%", "%"+joiner, "$", `\$`+joiner, "^", "^"+joiner,
)

// starts is what begins a block, or a quick action, at the start of a line.
var starts = regexp.MustCompile(`^(?:[-+=:/]|[0-9]+[.)](?: |$))`)

// Escape makes one line of an untrusted value that Markdown takes as plain text
// wherever it stands, also in the cell of a table.
func Escape(text string) string {
	text = separate(escaper.Replace(line(text)))
	if starts.MatchString(text) {
		return joiner + text
	}
	return text
}

// separate puts joiners into what is read together for what stands around it:
// emoji, schemes and references such as iteration:1, but not a time such as
// 10:30; a host such as www.example.org, which is linked without a scheme; the
// digits of a commit; issues of other trackers such as APP-12.
func separate(text string) string {
	var out strings.Builder
	hex, capitals := 0, false // how many hex digits stand before this byte; whether a word in capitals does
	for i := range len(text) {
		c := text[i]
		if c == '.' && i >= 3 && strings.EqualFold(text[i-3:i], "www") {
			out.WriteString(joiner)
		}
		out.WriteByte(c)
		if i+1 < len(text) {
			next := text[i+1]
			if c == '-' && capitals && isDigit(next) || c == ':' && next != ' ' && (i == 0 || !isDigit(text[i-1]) || !isDigit(next)) {
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

// Code shows an untrusted value as code, which Markdown leaves alone. The three
// characters that mean something even there are escaped as plain text instead.
// What shows nothing becomes "".
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
	backticks = regexp.MustCompile("`+")
	commands  = regexp.MustCompile(`(?m)^([\t\p{Z}]*)/`)
)

// Fence shows untrusted text as it is, in a fence longer than any inside. Some
// bots read commands even in code, so a slash does not start a line. What shows
// nothing becomes "".
func Fence(text string) string {
	text = strings.Trim(visible(text), "\n")
	if strings.TrimSpace(text) == "" {
		return ""
	}
	text = commands.ReplaceAllString(text, "${1}"+joiner+"/")
	fence := "```"
	for _, run := range backticks.FindAllString(text, -1) {
		if len(run) >= len(fence) {
			fence = run + "`"
		}
	}
	return fence + "\n" + text + "\n" + fence
}

// line makes one harmless, bounded line of an untrusted value.
func line(text string) string {
	text = strings.Join(strings.Fields(visible(text)), " ")
	if utf8.RuneCountInString(text) > maxLine {
		text = string([]rune(text)[:maxLine]) + "…"
	}
	return text
}

// visible makes text harmless and drops what shows nothing: it could hide in a
// name, or make two names look the same.
func visible(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.In(r, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point) {
			return -1
		}
		return r
	}, sanitize.Text(text))
}
