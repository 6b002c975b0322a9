package mask

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"math/rand/v2"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"unicode/utf16"
)

// awkward is a secret with all characters that some language escapes.
const awkward = `p"a's/s\w&o<r>d+ %41ä€😀$` + "\t\x01"

// Each of these texts shows the secret to a person, and nothing of it is left.
func TestMaskingWritten(t *testing.T) {
	quote := func(v any) string {
		raw, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return string(raw)
	}
	once := quote(awkward)
	for name, text := range map[string]string{
		"JSON":           once,
		"JSON in JSON":   quote(once),
		"JSON thrice":    quote(quote(once)),
		"JSON of PHP":    strings.ReplaceAll(once, "/", `\/`),
		"JSON of Python": `"p\"a's/s\\w&o<r>d+ %41\u00e4\u20ac\ud83d\ude00$\t\u0001"`,
		"that in JSON":   quote(`"p\"a's/s\\w&o<r>d+ %41\u00e4\u20ac\ud83d\ude00$\t\u0001"`),
		"repr of str":    `'p"a\'s/s\\w&o<r>d+ %41ä€😀$\t\x01'`,
		"ascii of str":   `'p"a\'s/s\\w&o<r>d+ %41\xe4\u20ac\U0001f600$\t\x01'`,
		"repr of bytes":  `b'p"a\'s/s\\w&o<r>d+ %41\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80$\t\x01'`,
		"repr in JSON":   quote(`b'p"a\'s/s\\w&o<r>d+ %41\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80$\t\x01'`),
		"repr of repr":   `"'p\"a\\'s/s\\\\w&o<r>d+ %41ä€😀$\\t\\x01'"`,
		"html.escape of Python": strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "'",
			"&#x27;").Replace(awkward),
		"html of Jinja":         html.EscapeString(awkward),
		"html of html":          html.EscapeString(html.EscapeString(awkward)),
		"html of JSON":          html.EscapeString(once),
		"html by numbers":       byNumbers(awkward),
		"octal":                 `p"a'"'"'s/s\\w&o<r>d+ %41\303\244\342\202\254\360\237\230\200$\t\001`,
		"shell":                 `'p"a'"'"'s/s\w&o<r>d+ %41ä€😀$` + "\t\x01'",
		"shell, escaped":        `p\"a\'s/s\\w\&o\<r\>d+\ %41ä€😀\$` + "\\\t\x01",
		"YAML":                  `'p"a''s/s\w&o<r>d+ %41ä€😀$` + "\t\x01'",
		"CSV":                   `"p""a's/s\w&o<r>d+ %41ä€😀$` + "\t\x01\"",
		"Go":                    strconv.Quote(awkward),
		"Go, ASCII":             strconv.QuoteToASCII(awkward),
		"query":                 url.QueryEscape(awkward),
		"path":                  url.PathEscape(awkward),
		"query, small hex":      strings.ToLower(url.QueryEscape(awkward)),
		"query of a query":      url.QueryEscape(url.QueryEscape(awkward)),
		"JSON in a query":       url.QueryEscape(once),
		"query in HTML":         html.EscapeString("?a=1&b=" + url.QueryEscape(awkward)),
		"JavaScript":            `p"a's/s\\w&o<r>d+ %41\u{e4}\u{20ac}\u{1f600}$\t\u{1}`,
		"base64 in JSON of PHP": strings.ReplaceAll(base64.StdEncoding.EncodeToString([]byte(awkward)), "/", `\/`),
		"base64 in a query":     url.QueryEscape(base64.StdEncoding.EncodeToString([]byte(awkward))),
		"in colours":            "p\x1b[31m\"a'\x1b[0ms/s\\\x1b[1;2;3mw&o<r>\x1b[Kd+ %41ä\x1b[0m€😀$\t\x01",
		"each byte in a colour": colored(awkward),
		"title of a window":     "p\"a's/s\x1b]0;some title\a\\w&o<\x1b]8;;http://x\x1b\\r>d+ %41ä€😀$\t\x01",
		"other strings":         "p\"a's/s\x1bPq#0\x1b\\\\w&o<\x1b_G\x1b\\r>d+ %41\x1b(Bä€😀$\t\x01",
		"not shown":             "p\"\x00a's\u200b/s\\w\u202e&o<r\u009b>d+ %41ä\x7f€😀$\t\x01",
		"colours of Python":     `'p"a\'s/s\\w\x1b[0m&o<r>d+ %41\x1b[31mä€😀$\t\x01'`,
		"colours in JSON":       `"p\"a's/s\\w\u001b[0m&o<r>d+ %41\u001b[31mä€😀$\t\u0001"`,
		"in lines":              "p\"a's/s\\w&\no<r>d+ %4\r\n1ä€😀$\t\x01",
		"in a link of a window": "\x1b]8;;https://x/" + url.PathEscape(awkward) + "\x1b\\x",
		"coloured base64":       colored(base64.StdEncoding.EncodeToString([]byte(awkward))),
		"a long escape in it":   "p\"a's/\x1b]0;" + strings.Repeat("x", 4000) + "\as\\w&o<r>d+ %41ä€😀$\t\x01",
	} {
		m := New([]string{awkward})
		for range 2 {
			got := m.Text("see " + text + " there")
			for i := range len(awkward) - 3 {
				if part := awkward[i : i+4]; strings.Contains(got, part) {
					t.Errorf("%s: %q shows %q", name, got, part)
				}
			}
			if strings.Count(got, "***") != 1 || len(got) > len("see  there***")+len("https://x?a=1&b=\x1b]8;;")+8 {
				t.Errorf("%s: got %q of %q", name, got, text)
			}
			for size := 1; size < 40; size += 6 {
				if pieces := inPieces(m, "see "+text+" there", size); pieces != got {
					t.Errorf("%s: pieces of %d: got %q, want %q", name, size, pieces, got)
				}
			}
			m = New([]string{awkward + "\n", "other"}) // as of a file
		}
	}
}

func byNumbers(text string) string {
	var out strings.Builder
	for i, r := range text {
		fmt.Fprintf(&out, []string{"&#%d;", "&#x%x;", "&#x%X;"}[i%3], r)
	}
	return out.String()
}

func colored(text string) string {
	var out strings.Builder
	for i, r := range text {
		fmt.Fprintf(&out, "\x1b[38;5;%dm%c\x1b[0m", i, r)
	}
	return out.String()
}

// A secret of random characters, each written in a way of its own, is masked.
func TestMaskingMixed(t *testing.T) {
	alphabet := []rune(`abcXYZ059"'/\&<>+ %$ä€😀` + "\n\t\x1b")
	for seed := range uint64(400) {
		random := rand.New(rand.NewPCG(seed, 12))
		var secret, text strings.Builder
		for range 8 + random.IntN(12) {
			r := alphabet[random.IntN(len(alphabet))]
			secret.WriteRune(r)
			text.WriteString(spell(random, r))
			if random.IntN(3) == 0 {
				text.WriteString([]string{"\x1b[0m", "\x1b]0;t\a", "\x00", "\u200b", `\x1b[1m`}[random.IntN(5)])
			}
		}
		if strings.TrimSpace(secret.String()) != secret.String() || strings.Contains(secret.String(), "\n") {
			continue // also masked in parts
		}
		got := New([]string{secret.String()}).Text("{" + text.String() + "}")
		if !strings.HasPrefix(got, "{***") || len(got) > len("{***}")+10 {
			t.Errorf("seed %d: secret %q, text %q: got %q", seed, secret.String(), text.String(), got)
		}
	}
}

// spell writes a character in one of many ways.
func spell(random *rand.Rand, r rune) string {
	var ways []string
	raw := string(r)
	ways = append(ways, fmt.Sprintf("&#%d;", r), fmt.Sprintf("&amp;#x%x;", r), fmt.Sprintf(`\\U%08x`, r),
		fmt.Sprintf(`\u{%x}`, r))
	escape, percent := "", ""
	for _, c := range []byte(raw) {
		escape += fmt.Sprintf(`\x%02x`, c)
		percent += fmt.Sprintf("%%25%02X", c)
	}
	ways = append(ways, escape, percent, strings.ReplaceAll(percent, "%25", "%"))
	if high, low := utf16.EncodeRune(r); high != '\uFFFD' {
		ways = append(ways, fmt.Sprintf(`\\u%04x\\u%04x`, high, low))
	} else {
		ways = append(ways, fmt.Sprintf(`\u%04X`, r))
	}
	if r > ' ' && r != '\\' && r != '%' && r != '&' {
		ways = append(ways, raw)
	}
	if strings.ContainsRune(`"'/$<> `, r) {
		ways = append(ways, `\`+raw, `\\\`+raw)
	}
	return ways[random.IntN(len(ways))]
}

// Ordinary text that only resembles a secret stays.
func TestMaskingLeaves(t *testing.T) {
	m := New([]string{"line", "abcdefgh", `a"b"`, "pass word"})
	for _, text := range []string{
		`foo\nine`, "li\nne", "abc\n\n\ndefgh", "abcd efgh", "abcde\tfgh", `a"b`, "ab", "pass  word", "passsword",
		"li\x1b[0mn", "&lt;&amp;&nbsp;&nope;", `C:\new\table\users`, "100%", "50%25", "\x1b[31mred\x1b[0m", "a & b", `\`,
		`\\\\\\`, "&", "%2",
		strings.Repeat(`\`, 100) + `"`, "&" + strings.Repeat("a", 100) + ";", "\x1b]0;" + strings.Repeat("t", 9000) + "\a",
	} {
		if got := m.Text(text); got != text {
			t.Errorf("got %q, want %q", got, text)
		}
	}
}

// However long a text that resembles a secret goes on, a stream holds back a bounded
// part of it.
func TestMaskingHolds(t *testing.T) {
	m := New([]string{"abcdefgh"})
	bound := 2*(2*maxEntity*16+maxGaps) + 4<<10
	for _, piece := range []string{"\x1b[0m", "\x00", "\x1b]0;", "x", `\`, "%25", "amp;", "\n", "&#0", "\x1b[38;5;1",
		"b\x1b[0m"} {
		stream := m.Stream()
		stream.Feed([]byte("a"))
		for range 40 {
			stream.Feed([]byte(strings.Repeat(piece, 1000)))
			if len(stream.held) > bound {
				t.Fatalf("%q: %d bytes are held back", piece, len(stream.held))
			}
		}
	}
}
