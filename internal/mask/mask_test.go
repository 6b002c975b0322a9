package mask

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/url"
	"reflect"
	"strings"
	"sync"
	"testing"
)

func TestMasking(t *testing.T) {
	const key = "p@ss/w?rd+1>~"
	basic := func(user string) string { return base64.StdEncoding.EncodeToString([]byte(user + ":" + key + "!end")) }
	tests := map[string]struct {
		secrets  []string
		in, want string
	}{
		"none":         {nil, "all of it", "all of it"},
		"plain":        {[]string{key}, "a " + key + " b", "a *** b"},
		"twice":        {[]string{"abcd"}, "abcdabcd", "******"},
		"short stays":  {[]string{"abc", ""}, "abc", "abc"},
		"longest":      {[]string{"abcd", "abcdef"}, "abcdef abcde", "*** ***e"},
		"overlap":      {[]string{"abcdef", "defghi"}, "xabcdefghix", "x***x"},
		"almost":       {[]string{"abcdef", "abcxyz"}, "abcde abcxy abcx", "abcde abcxy abcx"},
		"restart":      {[]string{"aaab"}, "aaaab", "a***"},
		"cut off":      {[]string{"abcdef"}, "see abcd", "see abcd"},
		"base64":       {[]string{key}, base64.StdEncoding.EncodeToString([]byte(key)), "***"},
		"base64 raw":   {[]string{key}, base64.RawStdEncoding.EncodeToString([]byte(key)), "***"},
		"base64 url":   {[]string{key}, base64.URLEncoding.EncodeToString([]byte(key)), "***"},
		"base64 both":  {[]string{key}, base64.RawURLEncoding.EncodeToString([]byte(key)), "***"},
		"query":        {[]string{key}, "https://x/?t=" + url.QueryEscape(key) + "&y", "https://x/?t=***&y"},
		"path":         {[]string{key}, "https://x/" + url.PathEscape(key) + "/y", "https://x/***/y"},
		"json":         {[]string{`a"b\c` + "\nd"}, `{"k":"a\"b\\c\nd"}`, `{"k":"***"}`},
		"file newline": {[]string{key + "\n"}, "a " + key + " b", "a *** b"},
		"lines":        {[]string{"-----BEGIN-----\nc2VjcmV0\nend"}, "  c2VjcmV0  end", "  ***  end"},
		"python":       {[]string{key}, "p%40ss/w%3Frd%2B1%3E~", "***"},
		"strict":       {[]string{key}, "p%40ss%2Fw%3Frd%2B1%3E~", "***"},
		"small hex":    {[]string{key}, "p%40ss%2fw%3frd%2b1%3e~", "***"},
		"space":        {[]string{"k ey"}, "k%20ey k+ey", "*** ***"},
		"javascript":   {[]string{"a!(b)'/ c"}, "a!(b)'%2F%20c", "***"},
		"hex": {[]string{key},
			hex.EncodeToString([]byte(key)) + " " + strings.ToUpper(hex.EncodeToString([]byte(key))), "*** ***"},
		"html":                   {[]string{"<a&\"b"}, "&lt;a&amp;&#34;b", "***"},
		"escaped":                {[]string{"väl\tue"}, `v\u00e4l\tue väl\tue`, "*** ***"},
		"base64 in address":      {[]string{key}, url.QueryEscape(base64.StdEncoding.EncodeToString([]byte(key))), "***"},
		"base64 in lines":        {[]string{key}, inLines(base64.StdEncoding.EncodeToString([]byte(key)), 4, "\n"), "***"},
		"base64 in lines of DOS": {[]string{key}, inLines(base64.StdEncoding.EncodeToString([]byte(key)), 3, "\r\n"), "***"},
		"base64 and empty lines": {[]string{"abcd"}, "Y\n\n\nWJjZA==", "Y\n\n\nWJjZA=="},
		"only line breaks":       {[]string{key}, "c\n\n\n\n\n\n\n", "c\n\n\n\n\n\n\n"},
		"basic auth 0":           {[]string{key}, basic("ab"), masksMiddle},
		"basic auth 1":           {[]string{key}, basic("abc"), masksMiddle},
		"basic auth 2":           {[]string{key}, basic("abcd"), masksMiddle},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			m := New(test.secrets)
			got := m.Text(test.in)
			if test.want == masksMiddle {
				if len(got) > len(test.in)-12 || strings.Count(got, "***") != 1 {
					t.Errorf("got %q of %q, want the middle masked", got, test.in)
				}
				return
			}
			if got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
			for size := 1; size < len(test.in); size++ {
				if got := inPieces(m, test.in, size); got != test.want {
					t.Errorf("pieces of %d: got %q, want %q", size, got, test.want)
				}
			}
		})
	}
}

// masksMiddle stands for any text whose middle is masked.
const masksMiddle = "…"

// inLines breaks a text into lines of a length.
func inLines(text string, size int, end string) string {
	var out string
	for len(text) > size {
		out, text = out+text[:size]+end, text[size:]
	}
	return out + text
}

// A secret inside a long text is masked when the whole text is encoded in base64 once
// or twice, wherever its lines break.
func TestMaskingInside(t *testing.T) {
	const secret = "glpat-Xk29fLq_7zR-31mTbWqa"
	m := New([]string{secret})
	for before := range 80 {
		once := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("x", before) + ":" + secret + "@" +
			strings.Repeat("y", 70)))
		for _, text := range []string{
			once, inLines(once, 76, "\n"), inLines(once, 64, "\r\n"), inLines(once, 60, "\n"),
			base64.StdEncoding.EncodeToString([]byte(`{"auth": "` + once + `"}`)),
			inLines(base64.StdEncoding.EncodeToString([]byte(`{"auth": "`+once+`"}`)), 76, "\n"),
		} {
			got := m.Text(text)
			if strings.Count(got, "***") != 1 || len(got) > len(text)-len(secret) {
				t.Fatalf("%d bytes before: got %q of %q", before, got, text)
			}
		}
	}
}

// inPieces masks a text that comes in pieces of this size.
func inPieces(m *Masker, text string, size int) string {
	stream := m.Stream()
	var out []byte
	for len(text) > 0 {
		n := min(size, len(text))
		out = append(out, stream.Feed([]byte(text[:n]))...)
		text = text[n:]
	}
	return string(append(out, stream.Flush()...))
}

func FuzzMasking(f *testing.F) {
	f.Add("abcd", "abcdef", "xabcdefabcdx", uint8(3))
	f.Add("aaab", "baaa", "aaabaaab", uint8(1))
	f.Add(`a"b\\cd`, "ä😀/", `{\"a\\\"b%5C\\c&amp;#100;\xc3\xa4\ud83d\ude00\/`+"\x1b]0;t\a\x1b[1m", uint8(2))
	f.Fuzz(func(t *testing.T, a, b, text string, size uint8) {
		m := New([]string{a, b})
		whole := m.Text(text)
		if got := inPieces(m, text, int(size)+1); got != whole {
			t.Fatalf("pieces give %q, the whole %q", got, whole)
		}
		for _, secret := range []string{a, b} {
			if len(secret) >= minSecret && !strings.Contains(secret, "*") && strings.Contains(whole, secret) {
				t.Fatalf("%q is visible in %q", secret, whole)
			}
		}
	})
}

func BenchmarkMasking(b *testing.B) {
	for name, line := range map[string]string{
		"text":   "2024-01-01 INFO reconciling the namespace app-sre on cluster x\n",
		"JSON":   `{"level":"info","msg":"got {\"name\": \"app-sre\", \"path\": \"\/a\/b%20c\"}","n":[1,2]}` + "\n",
		"colour": "\x1b[32m2024-01-01\x1b[0m \x1b[1mINFO\x1b[0m reconciling the namespace \x1b[36mapp-sre\x1b[0m\n",
	} {
		b.Run(name, func(b *testing.B) { benchmark(b, line) })
	}
}

func benchmark(b *testing.B, line string) {
	secrets := make([]string, 50)
	for i := range secrets {
		secrets[i] = strings.Repeat(string(rune('a'+i%26)), 10) + string(rune('A'+i))
	}
	m := New(secrets)
	chunk := []byte(strings.Repeat(line, 512))
	b.SetBytes(int64(len(chunk)))
	stream := m.Stream()
	for b.Loop() {
		stream.Feed(chunk)
	}
}

// A secret that is added later is masked from then on, in a text that has begun as well, in
// all its forms. The secrets before it stay masked, and so do those of another order.
func TestAdd(t *testing.T) {
	const first, second = "sesame-open", "p%40ss/wörd+1"
	m := New([]string{first})
	stream := m.Stream()
	out := string(stream.Feed([]byte("a " + first + " b " + second[:4])))
	m.Add(second, first, second)
	out += string(stream.Feed([]byte(" c " + first + " " + second + " " + url.QueryEscape(second)[:7])))
	out += string(stream.Feed([]byte(url.QueryEscape(second)[7:]+" "))) + string(stream.Flush())
	if want := "a *** b " + second[:4] + " c *** *** *** "; out != want {
		t.Errorf("got %q, want %q", out, want)
	}
	text := first + " " + hex.EncodeToString([]byte(second)) + " " + base64.StdEncoding.EncodeToString([]byte("x"+second))
	if got, want := m.Text(text), New([]string{second, first}).Text(text); got != want {
		t.Errorf("added: %q, all at once: %q", got, want)
	}
	if before := m.table.Load(); !reflect.DeepEqual(before, New([]string{second, first}).table.Load()) {
		t.Error("the order in which secrets are added makes a difference")
	}
	var none Masker
	if got := none.Text(first); got != first {
		t.Errorf("without secrets: got %q", got)
	}
}

// Secrets are added while texts are masked; a text that follows an addition is masked.
func TestAddAtOnce(t *testing.T) {
	m := New(nil)
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for j := range 20 {
				secret := fmt.Sprintf("secret-%d-%d-end", i, j)
				m.Add(secret)
				if got := m.Text("<" + secret + ">"); got != "<***>" {
					t.Errorf("got %q", got)
				}
			}
		})
	}
	all.Wait()
}

// Adding many long secrets, such as tokens of clusters, takes little time and memory.
func BenchmarkAdd(b *testing.B) {
	for b.Loop() {
		m := New(nil)
		for i := range 100 {
			m.Add(strings.Repeat(fmt.Sprintf("%03d-token-", i), 120))
		}
	}
}
