package mask

import (
	"bytes"
	"crypto/sha256"
	"encoding/base32"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"
)

// encodedSecrets are secrets of all kinds, by name.
var encodedSecrets = map[string]string{
	"token":     "glpat-Xk29fLq_7zR-31mTbWqa",
	"eight":     "s3cr3t!x",
	"quotes":    `p"a\ss'w<o>r&d/+ x%41` + "\tz\x01\x7f",
	"key":       "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcw\nq1ZzT3==\n-----END PRIVATE KEY-----",
	"not ASCII": "pässwörd-€-😀-ж\u2028",
	"JSON":      `a"b<c>/ä€&d'e+=` + "`\x7f\u2028z",
	"digits":    "4915112345678",
}

// A writing is a way to write bytes in digits.
type writing struct {
	name  string
	bits  int
	write func([]byte) string
}

var writings = []writing{
	{"base64", 6, base64.StdEncoding.EncodeToString},
	{"base64 of URLs", 6, base64.URLEncoding.EncodeToString},
	{"base64 without padding", 6, base64.RawStdEncoding.EncodeToString},
	{"base32", 5, base32.StdEncoding.EncodeToString},
	{"base32 in small letters", 5, func(b []byte) string { return strings.ToLower(base32.StdEncoding.EncodeToString(b)) }},
	{"base32 of DNS", 5, base32.HexEncoding.WithPadding(base32.NoPadding).EncodeToString},
	{"base32 of DNS, small", 5, func(b []byte) string { return strings.ToLower(base32.HexEncoding.EncodeToString(b)) }},
	{"hex", 4, hex.EncodeToString},
	{"large hex", 4, func(b []byte) string { return strings.ToUpper(hex.EncodeToString(b)) }},
	{"bytes", 8, func(b []byte) string { return string(b) }},
}

// A layout puts separators between digits: the separator that is returned stands before a
// digit, by its number.
type layout struct {
	name   string
	before func(digit int) string
}

// everyDigits returns a layout with a separator after each n digits.
func everyDigits(n int, separator string) layout {
	return layout{fmt.Sprintf("%q each %d", separator, n), func(digit int) string {
		if digit > 0 && digit%n == 0 {
			return separator
		}
		return ""
	}}
}

// layouts are the layouts by the bits of a digit.
var layouts = map[int][]layout{
	8: {everyDigits(1, "")},
	6: {
		everyDigits(1, ""), everyDigits(60, "\n"), everyDigits(64, "\n"), everyDigits(76, "\r\n"), everyDigits(7, "\n  "),
		everyDigits(64, "\r\n    "), everyDigits(76, "\n\t"), everyDigits(4, "\r\n"), everyDigits(20, `\n`),
		everyDigits(20, `\r\n  `), everyDigits(16, "\n\n"), everyDigits(16, "\\\n  "),
	},
	5: {
		everyDigits(1, ""), everyDigits(64, "\n"), everyDigits(76, "\r\n"), everyDigits(8, "\n    "), everyDigits(5, `\n`),
	},
	4: {
		everyDigits(1, ""), everyDigits(2, ":"), everyDigits(2, " "), everyDigits(2, "-"), everyDigits(2, "_"),
		everyDigits(2, ","), everyDigits(2, ", 0x"), everyDigits(2, "0x"), everyDigits(2, " 0X"), everyDigits(2, `\x`),
		everyDigits(2, `\\x`), everyDigits(4, " "), everyDigits(8, "-"), everyDigits(60, "\n"), everyDigits(30, ":\n    "),
		everyDigits(16, "\r\n"), everyDigits(6, ",\n\t0x"), everyDigits(2, "\n"), everyDigits(2, "\t"), everyDigits(1, " "),
		everyDigits(2, `\n`), everyDigits(8, "\n\n"),
	},
}

// inUTF16Of returns a text in UTF-16.
func inUTF16Of(text string, order binary.AppendByteOrder) string {
	var out []byte
	for _, unit := range utf16.Encode([]rune(text)) {
		out = order.AppendUint16(out, unit)
	}
	return string(out)
}

// contents returns what digits may stand for, by name, each once.
func contents(t testing.TB, secret string) map[string]string {
	goes := mustJSON(t, secret)
	var plain bytes.Buffer
	encoder := json.NewEncoder(&plain)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(secret); err != nil {
		t.Fatal(err)
	}
	out := map[string]string{
		"plain":         secret,
		"JSON":          strings.Trim(strings.TrimSpace(plain.String()), `"`),
		"JSON of Go":    goes,
		"JSON, ASCII":   onlyASCII(goes, "%04x"),
		"JSON, large":   onlyASCII(plain.String()[1:plain.Len()-2], "%04X"),
		"UTF-16 little": inUTF16Of(secret, binary.LittleEndian),
		"UTF-16 big":    inUTF16Of(secret, binary.BigEndian),
	}
	out["JSON of PHP"] = strings.ReplaceAll(onlyASCII(out["JSON"], "%04x"), "/", `\/`)
	coded := func(chars, format string) *strings.Replacer {
		var pairs []string
		for _, r := range chars {
			pairs = append(pairs, string(r), `\u`+fmt.Sprintf(format, r))
		}
		return strings.NewReplacer(pairs...)
	}
	out["JSON of Python"] = coded("\x7f", "%04x").Replace(onlyASCII(out["JSON"], "%04x"))
	out["JSON of PHP, not ASCII"] = strings.ReplaceAll(strings.ReplaceAll(out["JSON"], "/", `\/`), `\u2028`, "\u2028")
	out["JSON of Gson"] = coded("='", "%04x").Replace(goes)
	net := strings.ReplaceAll(onlyASCII(out["JSON"], "%04X"), `\"`, `\u0022`)
	out["JSON of .NET"] = coded("&'+<>`\x7f", "%04X").Replace(net)
	out["JSON of JavaScript"] = strings.ReplaceAll(out["JSON"], `\u2028`, "\u2028")
	for name, text := range out {
		if name != "plain" && text == secret {
			delete(out, name)
		}
	}
	return out
}

func mustJSON(t testing.TB, v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw[1 : len(raw)-1])
}

// onlyASCII writes the characters of a JSON string that are not of ASCII by their numbers.
func onlyASCII(text, format string) string {
	var out strings.Builder
	for _, r := range text {
		if r < 0x80 {
			out.WriteRune(r)
			continue
		}
		for _, unit := range utf16.Encode([]rune{r}) {
			out.WriteString(`\u` + fmt.Sprintf(format, unit))
		}
	}
	return out.String()
}

// A sample is a text with an encoded secret between two places.
type sample struct {
	name, text string
	from, to   int
}

// samples returns a secret in each content, writing and layout, with a text before it and
// after it.
func samples(t testing.TB, secret, before, after string) []sample {
	var out []sample
	all := contents(t, secret)
	for _, content := range slices.Sorted(maps.Keys(all)) {
		text := all[content]
		for _, w := range writings {
			if w.bits == 8 && !strings.HasPrefix(content, "UTF-16") {
				continue
			}
			digits := w.write([]byte(before + text + after))
			first, last := len(before)*8/w.bits, (8*(len(before)+len(text))+w.bits-1)/w.bits
			for _, l := range layouts[w.bits] {
				s := sample{name: fmt.Sprintf("%s, %s, %s, %q before, %q after", content, w.name, l.name, before, after)}
				for i := range len(digits) {
					if i == first {
						s.text, s.from = s.text+l.before(i), len(s.text)+len(l.before(i))
					} else {
						s.text += l.before(i)
					}
					s.text += digits[i : i+1]
					if i == last-1 {
						s.to = len(s.text)
					}
				}
				s.text = "<" + s.text + ">"
				s.from, s.to = s.from+1, s.to+1
				out = append(out, s)
			}
		}
	}
	return out
}

// check returns what is wrong with the masked text of a sample: all digits of the secret
// are masked, with the padding after them, and nothing else.
func (s sample) check(got string) string {
	before, after, ok := strings.Cut(got, mask)
	switch {
	case !ok || strings.Contains(after, mask):
		return "want one mask"
	case !strings.HasPrefix(s.text, before), len(before) > s.from, strings.Trim(s.text[len(before):s.from], `\x`) != "":
		return "want all before the secret to stay"
	case !strings.HasSuffix(s.text, after) || len(after) > len(s.text)-s.to:
		return "want the secret masked up to its end"
	case strings.Trim(s.text[s.to:len(s.text)-len(after)], "= \r\n\t\\rn") != "":
		return "want all after the secret to stay"
	case strings.HasPrefix(strings.TrimLeft(s.text[s.to:], " \r\n\t\\rn"), "=") && strings.Contains(after, "="):
		return "want the padding masked"
	}
	return ""
}

// A secret is found in each content, writing, layout and alignment, and nothing else is
// masked.
func TestMaskingDigits(t *testing.T) {
	for name, secret := range encodedSecrets {
		m := New([]string{"other-secret-1", secret, "glpat-Xk29fLq_other"})
		for before := range 6 {
			if testing.Short() && before%3 != 0 {
				continue
			}
			for _, s := range samples(t, secret, strings.Repeat("~", before), strings.Repeat("}", (5-before)*3%5)) {
				got := m.Text(s.text)
				if problem := s.check(got); problem != "" {
					t.Errorf("%s: %s: %q gives %q: %s", name, s.name, s.text, got, problem)
				}
			}
		}
	}
}

// A secret is found wherever its text is cut into two pieces, and in pieces of one byte. One
// sample of seven is taken, a number that leaves out no content, writing or layout.
func TestMaskingDigitsInPieces(t *testing.T) {
	step := 7
	if testing.Short() {
		step = 77 // with the race detector each sample takes twenty times as long
	}
	for name, secret := range encodedSecrets {
		m := New([]string{secret, "glpat-Xk29fLq_other"})
		for i, s := range samples(t, secret, "~", "}}}") {
			if i%step != 0 {
				continue
			}
			want := m.Text(s.text)
			if got := inPieces(m, s.text, 1); got != want {
				t.Errorf("%s: %s: single bytes: got %q, want %q", name, s.name, got, want)
			}
			for cut := range s.text {
				stream := m.Stream()
				got := string(stream.Feed([]byte(s.text[:cut]))) + string(stream.Feed([]byte(s.text[cut:])))
				if got += string(stream.Flush()); got != want {
					t.Errorf("%s: %s: cut at %d: got %q, want %q", name, s.name, cut, got, want)
				}
			}
		}
	}
}

// A secret in base64 of both alphabets is found in base64 of both alphabets.
func TestMaskingDigitsTwice(t *testing.T) {
	const secret = "~~?>~?~>>??>~~~?>"
	m := New([]string{secret})
	for _, inner := range []*base64.Encoding{base64.StdEncoding, base64.RawURLEncoding} {
		for _, outer := range []*base64.Encoding{base64.StdEncoding, base64.RawURLEncoding} {
			for before := range 9 {
				once := inner.EncodeToString([]byte(strings.Repeat("x", before/3) + secret + "xx"))
				text := outer.EncodeToString([]byte(strings.Repeat("{", before%3) + once + "}}"))
				if got := m.Text(text); strings.Count(got, mask) != 1 || len(got) > 24 {
					t.Errorf("%q gives %q", text, got)
				}
			}
		}
	}
}

// cleanWords are words that secrets and encoded texts have as well.
var cleanWords = []string{
	"glpat", "secret", "token", "pass", "data:", "\n  ", " ", "0x", "\\n", "%2F", "&amp;", "key", "é", "\x00",
}

// cleanText returns a text without secrets that is full of digits: words, identifiers,
// hashes, random bytes in each writing and layout.
func cleanText(random *rand.ChaCha8) string {
	r := rand.New(random)
	var out strings.Builder
	for range 40 {
		raw := make([]byte, 16+r.IntN(60))
		_, _ = random.Read(raw)
		fmt.Fprintf(&out, "%x-%x-%x-%x-%x %x\n", raw[:4], raw[4:6], raw[6:8], raw[8:10], raw[10:16], sha256.Sum256(raw))
		for range 12 {
			out.WriteString(cleanWords[r.IntN(len(cleanWords))])
		}
		for _, w := range writings {
			l := layouts[w.bits][r.IntN(len(layouts[w.bits]))]
			for i, digit := range []byte(w.write(raw)) {
				out.WriteString(l.before(i))
				out.WriteByte(digit)
			}
			out.WriteString([]string{"\n", " ", ","}[r.IntN(3)])
		}
	}
	return out.String()
}

// A text without secrets stays as it is, also if it has most of a secret.
func TestMaskingDigitsLeaves(t *testing.T) {
	var secrets []string
	for _, secret := range encodedSecrets {
		secrets = append(secrets, secret)
	}
	m := New(append(secrets, "glpat-Xk29fLq_other", "passport-number-1"))
	for seed := range byte(20) {
		text := cleanText(rand.NewChaCha8([32]byte{seed}))
		if got := m.Text(text); got != text {
			t.Errorf("seed %d: got %q, want %q", seed, got, text)
		}
		if got := inPieces(m, text, 100); got != text {
			t.Errorf("seed %d, in pieces: got %q, want %q", seed, got, text)
		}
	}
	const secret = "glpat-Xk29fLq_7zR-31mTbWqa"
	other := secret[:len(secret)-1] + "b"
	m = New([]string{secret})
	for _, w := range writings[:len(writings)-1] {
		for before := range 6 {
			text := w.write([]byte(strings.Repeat("~", before) + other + "}}}}}"))
			if got := m.Text(text); got != text {
				t.Errorf("%s, %d before: got %q, want %q", w.name, before, got, text)
			}
			text = w.write([]byte(strings.Repeat("~", before) + "G" + secret[1:] + "}}}}}"))
			if got := m.Text(text); got != text {
				t.Errorf("%s, %d before: got %q, want %q", w.name, before, got, text)
			}
		}
	}
}

// What stands too far apart, or is not separated in a way that belongs to the digits, is
// not found.
func TestMaskingDigitsApart(t *testing.T) {
	const secret = "glpat-Xk29fLq_7zR-31mTbWqa"
	m := New([]string{secret, "seven.7"})
	base, hexed := base64.StdEncoding.EncodeToString([]byte(secret)), hex.EncodeToString([]byte(secret))
	other := base32.StdEncoding.EncodeToString([]byte(secret))
	for _, text := range []string{
		base[:20] + " " + base[20:], base[:20] + "\n\n\n" + base[20:], base[:20] + "\n> " + base[20:],
		base[:20] + "." + base[20:], base[:20] + " \n" + base[20:],
		base[:20] + "\n" + strings.Repeat(" ", maxGap) + base[20:], base[:20] + "\n" + base[20:30] + " " + base[30:],
		other[:20] + " " + other[20:], other[:20] + "-" + other[20:], hexed[:20] + "." + hexed[20:],
		hexed[:20] + "/" + hexed[20:], hexed[:20] + "\n\n\n" + hexed[20:], hexed[:20] + "x" + hexed[20:],
		hexed[:20] + "  some text\n0010: " + hexed[20:], hexed[:20] + " some text\n00000010: " + hexed[20:],
		hexed[:20] + "  " + strings.Repeat("t", maxColumn) + "\n00000010: " + hexed[20:],
		hexed[:20] + "\n00000010 " + hexed[20:], hexed[:20] + "\n00000010;" + hexed[20:],
		base32.StdEncoding.EncodeToString([]byte("seven.7")), "73:65:76:65:6e:2e:37",
	} {
		if got := m.Text(text); strings.Contains(got, mask) {
			t.Errorf("got %q of %q", got, text)
		}
	}
}

// A short secret is found in base64 and in hex as ever.
func TestMaskingShortInDigits(t *testing.T) {
	m := New([]string{"seven.7"})
	for _, text := range []string{"c2V2ZW4uNw==", "736576656e2e37", "736576656E2E37", "OmMyVjJaVzR1TnctLQ"} {
		if got := m.Text(text); !strings.Contains(got, mask) {
			t.Errorf("%q stays", text)
		}
	}
}

// Of secrets of which one is the beginning of the other, the longer one is masked, and the
// shorter one where the longer one does not go on.
func TestMaskingDigitsLongest(t *testing.T) {
	m := New([]string{"secret-one", "secret-one-more", "secret-two", "secret-one-more-and-more"})
	for text, want := range map[string]string{
		"secret-one-more": "<***>", "secret-one": "<***>", "secret-one-mor": "<***2d6d6f72>", "secret-two": "<***>",
		"secret-on": "<7365637265742d6f6e>", "secret-one-more-and": "<***2d616e64>", "secret-one-more-and-more": "<***>",
	} {
		text := "<" + hex.EncodeToString([]byte(text)) + ">"
		if got := m.Text(text); got != want {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
		if got := inPieces(m, text, 3); got != want {
			t.Errorf("%s in pieces: got %q, want %q", text, got, want)
		}
	}
}

// However long digits, or what stands between digits, go on, a stream holds back a bounded
// part of them.
func TestMaskingDigitsHolds(t *testing.T) {
	m := New([]string{"abcdefgh"})
	for _, w := range writings {
		for _, piece := range []string{
			"\n", " ", "\n ", "\x00", "0x", "0", "A", `\n`, "%25", "  x", "\x1b[0m", "MEMO", w.write([]byte("abcdefg")),
		} {
			stream := m.Stream()
			stream.Feed([]byte(w.write([]byte("abcdefgh"))[:9*8/w.bits-2]))
			for range 40 {
				stream.Feed([]byte(strings.Repeat(piece, 1000)))
				if bound := 2*(2*maxEntity*64+maxGaps) + 4<<10; len(stream.held) > bound {
					t.Fatalf("%s, %q: %d bytes are held back", w.name, piece, len(stream.held))
				}
			}
		}
	}
}

// What stands between all digits of a secret is held back up to a bound as well.
func TestMaskingDigitsHoldsGaps(t *testing.T) {
	const secret = "glpat-Xk29fLq_7zR-31mTbWqa"
	stream := New([]string{secret}).Stream()
	for _, digit := range hex.EncodeToString([]byte(secret)) {
		stream.Feed([]byte(string(digit) + strings.Repeat("\x00", maxGap-1)))
		if len(stream.held) > 20*maxGap {
			t.Fatalf("%d bytes are held back", len(stream.held))
		}
	}
}

// FuzzMaskingDigits encodes a secret in one of all ways inside of a text: nothing of it
// stays, wherever the text is cut.
func FuzzMaskingDigits(f *testing.F) {
	f.Add("glpat-Xk29fLq_7zR", "user:", "@host", uint16(3), uint8(7))
	f.Add(`p"a\ss'w<o>r&d/+ x`, "{", "}", uint16(77), uint8(1))
	f.Add("pässwörd-€-😀", "", "", uint16(200), uint8(30))
	f.Fuzz(func(t *testing.T, secret, before, after string, pick uint16, size uint8) {
		isOfLines := strings.TrimSpace(secret) != secret || strings.Contains(secret, "\n")
		if isOfLines || strings.Contains(secret, "*") || !utf8.ValidString(secret) || len(secret) < minDigits ||
			len(secret) > 200 {
			t.Skip()
		}
		all := samples(t, secret, before, after)
		s := all[int(pick)%len(all)]
		m := New([]string{secret})
		got := m.Text(s.text)
		head, tail := strings.Index(got, mask), strings.LastIndex(got, mask)
		isOpen := head == tail && (head > s.from || len(got)-tail-len(mask) > len(s.text)-s.to)
		if head < 0 || isOpen || strings.Contains(got, s.text[s.from:s.to]) {
			t.Fatalf("%s: %q gives %q", s.name, s.text, got)
		}
		if pieces := inPieces(m, s.text, int(size)+1); pieces != got {
			t.Fatalf("%s: pieces of %d give %q, the whole %q", s.name, size, pieces, got)
		}
	})
}

// The time is linear in the text for any text, and depends little on the number of secrets.
// A replacer of as many words is the peer; it searches the secrets as they are only.
func BenchmarkMaskingDigits(b *testing.B) {
	for _, n := range []int{100, 1000} {
		var secrets, pairs []string
		for i := range n {
			secrets = append(secrets, fmt.Sprintf("glpat-%x", sha256.Sum256([]byte{byte(i), byte(i >> 8)})))
			pairs = append(pairs, secrets[i], mask)
		}
		m, peer := New(secrets), strings.NewReplacer(pairs...)
		encoded := base64.StdEncoding.EncodeToString([]byte(secrets[0]))
		for name, unit := range map[string]string{
			"log":    "2024-01-01 INFO reconciling the namespace app-sre on cluster x\n",
			"digits": "0123456789", "A": "A", "hex": "0123456789abcdef", "newlines": "\n", "spaces": "0 ", "zeros": "0",
			"backslashes": `\`, "percent": "%25", "entities": "&amp;", "beginning": secrets[0][:40], "short beginning": "glpat-",
			"beginning of base64": encoded[:40], "beginning in quotes": `glpat-"`, "bytes of zero": "\x00",
		} {
			text := strings.Repeat(unit, 1<<20/len(unit))
			b.Run(fmt.Sprintf("%s/%d", name, n), func(b *testing.B) {
				b.SetBytes(int64(len(text)))
				for b.Loop() {
					m.Text(text)
				}
			})
			if name == "log" || name == "beginning" {
				b.Run(fmt.Sprintf("peer of %s/%d", name, n), func(b *testing.B) {
					b.SetBytes(int64(len(text)))
					for b.Loop() {
						_ = peer.Replace(text)
					}
				})
			}
		}
	}
}
