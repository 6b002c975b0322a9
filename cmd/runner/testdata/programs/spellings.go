package main

import (
	"encoding/base32"
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

// spellings are more than a hundred ways in which programs write a text.
func spellings(v string) []string {
	python := strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "'", "&#x27;")
	document := quoted(map[string]any{"token": v, "list": []string{v}})
	ascii := `"` + eachRune(v, asciiJSON) + `"`
	out := []string{
		document, quoted(document), quoted(quoted(document)), quoted(quoted(quoted(document))),
		strings.ReplaceAll(document, "/", `\/`), quoted(strings.ReplaceAll(document, "/", `\/`)),
		ascii, quoted(ascii), strings.ReplaceAll(ascii, "/", `\/`),
		"{'token': " + pythonString(v) + "}", quoted(pythonString(v)), html.EscapeString(pythonString(v)),
		pythonString(pythonString(v)),
		pythonBytes(v), quoted(pythonBytes(v)), "Exception(" + pythonBytes(v) + ")",
		html.EscapeString(pythonBytes(v)),
		strconv.Quote(v), strconv.QuoteToASCII(v), fmt.Sprintf("%+q", v),
		python.Replace(v), html.EscapeString(v), html.EscapeString(html.EscapeString(v)),
		html.EscapeString(document), python.Replace(document),
		eachRune(v, func(r rune) string { return fmt.Sprintf("&#%d;", r) }),
		eachRune(v, func(r rune) string { return fmt.Sprintf("&#x%X;", r) }),
		"?q=" + url.QueryEscape(v) + "&x", url.PathEscape(v), url.QueryEscape(url.QueryEscape(v)),
		url.QueryEscape(document), strings.ToLower(url.QueryEscape(v)),
		url.QueryEscape(document + "&"), html.EscapeString("?a=b&q=" + url.QueryEscape(v)), eachByte(v, "%%%02x"),
		eachByte(v, "%%25%02X"),
		eachByte(v, `\x%02x`), eachByte(v, `\%03o`), quoted(eachByte(v, `\x%02X`)),
		"$'" + eachByte(v, `\%03o`) + "'",
		"'" + strings.ReplaceAll(v, "'", `'"'"'`) + "'", `"` + strings.ReplaceAll(v, `"`, `""`) + `"`,
		"'" + strings.ReplaceAll(v, "'", "''") + "'",
		eachRune(v, func(r rune) string { return fmt.Sprintf(`\u{%x}`, r) }),
		eachRune(v, func(r rune) string { return fmt.Sprintf(`\U%08x`, r) }),
		eachRune(v, func(r rune) string { return fmt.Sprintf("\x1b[3%dm%c", r%8, r) }),
		eachRune(v, func(r rune) string { return string(r) + "\x1b[0m\x00" }),
		v[:4] + "\x1b]0;a title\a" + v[4:], v[:4] + "\x1b]8;;http://x\x1b\\" + v[4:], v[:5] + "\u200b" + v[5:],
		v[:3] + "\x1b[K\x1b(B" + v[3:],
		v[:6] + "\n" + v[6:], quoted("\x1b[1m" + v[:4] + "\x1b[0m" + v[4:]),
		"\x1b]8;;https://x/?t=" + url.QueryEscape(v) + "\x1b\\link",
	}
	for _, digits := range []string{
		base64.StdEncoding.EncodeToString([]byte(v)), base64.URLEncoding.EncodeToString([]byte(document)),
		hex.EncodeToString([]byte(v)),
		base64.StdEncoding.EncodeToString([]byte(base64.StdEncoding.EncodeToString([]byte("user:" + v)))),
	} {
		out = append(out, url.QueryEscape(digits), quoted(strings.ReplaceAll(digits, "/", `\/`)),
			digits[:7]+"\x1b[1m"+digits[7:])
	}
	return append(out, encodings(v)...)
}

// encodings are a text in digits, as texts in lines, indented, inside of another text, of JSON and of UTF-16.
func encodings(v string) (out []string) {
	wide := string(utf16Bytes(v))
	for _, encode := range []func([]byte) string{base64.StdEncoding.EncodeToString, base64.RawURLEncoding.EncodeToString,
		base32.StdEncoding.EncodeToString, base32.HexEncoding.WithPadding(base32.NoPadding).EncodeToString} {
		digits := encode([]byte(v))
		out = append(out, digits, inLines(digits, 8, "\n"), inLines(digits, 10, "\n    "), inLines(digits, 16, "\r\n"),
			encode([]byte("x"+v+"yz")), encode([]byte("xx"+v)), encode([]byte("xxx"+v+"z")), encode([]byte(wide)))
	}
	for _, between := range []string{":", "-", "_", ",", " ", " 0x", `\x`, ", ", ", 0x", "\n"} {
		out = append(out, inLines(hex.EncodeToString([]byte(v)), 2, between))
	}
	return append(out, strings.ToUpper(hex.EncodeToString([]byte(v))), hex.EncodeToString([]byte(wide)), wide)
}

// inLines puts a text between each n bytes of another one.
func inLines(text string, n int, between string) string {
	var parts []string
	for ; len(text) > n; text = text[n:] {
		parts = append(parts, text[:n])
	}
	return strings.Join(append(parts, text), between)
}

// utf16Bytes returns a text in UTF-16 of small end first.
func utf16Bytes(text string) (out []byte) {
	for _, unit := range utf16.Encode([]rune(text)) {
		out = append(out, byte(unit), byte(unit>>8))
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
	escaped := strings.NewReplacer(`\`, `\\`, quote, `\`+quote, "\n", `\n`, "\t", `\t`, "\x1b", `\x1b`)
	return quote + escaped.Replace(text) + quote
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
