package main

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf16"
)

// spellings are some sixty ways in which programs write a text.
func spellings(v string) []string {
	python := strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "'", "&#x27;")
	document := quoted(map[string]any{"token": v, "list": []string{v}})
	ascii := `"` + eachRune(v, asciiJSON) + `"`
	out := []string{
		document, quoted(document), quoted(quoted(document)), quoted(quoted(quoted(document))),
		strings.ReplaceAll(document, "/", `\/`), quoted(strings.ReplaceAll(document, "/", `\/`)),
		ascii, quoted(ascii), strings.ReplaceAll(ascii, "/", `\/`),
		"{'token': " + pythonString(v) + "}", quoted(pythonString(v)), html.EscapeString(pythonString(v)), pythonString(pythonString(v)),
		pythonBytes(v), quoted(pythonBytes(v)), "Exception(" + pythonBytes(v) + ")", html.EscapeString(pythonBytes(v)),
		strconv.Quote(v), strconv.QuoteToASCII(v), fmt.Sprintf("%+q", v),
		python.Replace(v), html.EscapeString(v), html.EscapeString(html.EscapeString(v)), html.EscapeString(document), python.Replace(document),
		eachRune(v, func(r rune) string { return fmt.Sprintf("&#%d;", r) }), eachRune(v, func(r rune) string { return fmt.Sprintf("&#x%X;", r) }),
		"?q=" + url.QueryEscape(v) + "&x", url.PathEscape(v), url.QueryEscape(url.QueryEscape(v)), url.QueryEscape(document), strings.ToLower(url.QueryEscape(v)),
		url.QueryEscape(document + "&"), html.EscapeString("?a=b&q=" + url.QueryEscape(v)), eachByte(v, "%%%02x"), eachByte(v, "%%25%02X"),
		eachByte(v, `\x%02x`), eachByte(v, `\%03o`), quoted(eachByte(v, `\x%02X`)), "$'" + eachByte(v, `\%03o`) + "'",
		"'" + strings.ReplaceAll(v, "'", `'"'"'`) + "'", `"` + strings.ReplaceAll(v, `"`, `""`) + `"`, "'" + strings.ReplaceAll(v, "'", "''") + "'",
		eachRune(v, func(r rune) string { return fmt.Sprintf(`\u{%x}`, r) }), eachRune(v, func(r rune) string { return fmt.Sprintf(`\U%08x`, r) }),
		eachRune(v, func(r rune) string { return fmt.Sprintf("\x1b[3%dm%c", r%8, r) }), eachRune(v, func(r rune) string { return string(r) + "\x1b[0m\x00" }),
		v[:4] + "\x1b]0;a title\a" + v[4:], v[:4] + "\x1b]8;;http://x\x1b\\" + v[4:], v[:5] + "\u200b" + v[5:], v[:3] + "\x1b[K\x1b(B" + v[3:],
		v[:6] + "\n" + v[6:], quoted("\x1b[1m" + v[:4] + "\x1b[0m" + v[4:]), "\x1b]8;;https://x/?t=" + url.QueryEscape(v) + "\x1b\\link",
	}
	for _, digits := range []string{
		base64.StdEncoding.EncodeToString([]byte(v)), base64.URLEncoding.EncodeToString([]byte(document)), hex.EncodeToString([]byte(v)),
		base64.StdEncoding.EncodeToString([]byte(base64.StdEncoding.EncodeToString([]byte("user:" + v)))),
	} {
		out = append(out, url.QueryEscape(digits), quoted(strings.ReplaceAll(digits, "/", `\/`)), digits[:7]+"\x1b[1m"+digits[7:])
	}
	return out
}

func quoted(v any) string {
	raw, err := json.Marshal(v)
	must(err)
	return string(raw)
}

func eachRune(text string, write func(rune) string) string {
	var out strings.Builder
	for _, r := range text {
		out.WriteString(write(r))
	}
	return out.String()
}

func eachByte(text, format string) string {
	var out strings.Builder
	for _, c := range []byte(text) {
		fmt.Fprintf(&out, format, c)
	}
	return out.String()
}

// asciiJSON is a character in JSON of Python.
func asciiJSON(r rune) string {
	high, low := utf16.EncodeRune(r)
	switch {
	case r == '"' || r == '\\':
		return `\` + string(r)
	case r < 0x80:
		return string(r)
	case high != '\uFFFD':
		return fmt.Sprintf(`\u%04x\u%04x`, high, low)
	}
	return fmt.Sprintf(`\u%04x`, r)
}

// pythonString is repr of str.
func pythonString(text string) string {
	quote := "'"
	if strings.Contains(text, "'") && !strings.Contains(text, `"`) {
		quote = `"`
	}
	return quote + strings.NewReplacer(`\`, `\\`, quote, `\`+quote, "\n", `\n`, "\t", `\t`, "\x1b", `\x1b`).Replace(text) + quote
}

// pythonBytes is repr of bytes.
func pythonBytes(text string) string {
	var out strings.Builder
	for _, c := range []byte(pythonString(text)) {
		if c < 0x80 {
			out.WriteByte(c)
		} else {
			fmt.Fprintf(&out, `\x%02x`, c)
		}
	}
	return "b" + out.String()
}
