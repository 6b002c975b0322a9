package markdown_test

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"golang.org/x/net/html"

	"github.com/app-sre/prcheck/internal/markdown"
	"github.com/app-sre/prcheck/internal/sanitize"
)

// shownJoiners replaces the joiner by a visible character.
func shownJoiners(text string) string { return strings.ReplaceAll(text, "\u2060", "·") }

func TestEscape(t *testing.T) {
	for in, want := range map[string]string{
		"plain words, a/path.yml and more.": "plain words, a/path.yml and more.",
		"a_b*c`d`":                          "a\\_b\\*c\\`d\\`",
		"<b> & |":                           "&lt;b·&gt; &amp;· &#124;",
		"@ana #1 !2 ~x %3 $4 ^alert#5":      "@·ana \\#·1 \\!·2 \\~·x %·3 \\$·4 ^·alert\\#·5",
		"[x](https://y) :tada: done: yes":   "\\[·x\\](https:·//y) :·tada: done: yes",
		"mailto::tada:::x":                  "mailto:·:·tada:·:·:·x",
		"at 10:11:12, :100: of 1:a":         "at 10:11:12, :·100: of 1:·a",
		"WWW.example.org":                   "WWW·.example.org",
		"sha256:0123456789abcdef":           "sha256:012345·6789ab·cdef",
		"APPSRE-12":                         "APPSRE-·12",
		"/lgtm":                             "·/lgtm",
		"- item":                            "·- item",
		"12. item":                          "·12. item",
		"{+ added +}":                       "{·+ added +}",
		"group/project>":                    "group/project·&gt;",
		"hid\u200bden\u2060\u00ad\u3164":    "hidden",
		"two\n/lgtm":                        "two /lgtm",
		"\u202eback\xff":                    "back\uFFFD",
	} {
		if got := shownJoiners(markdown.Escape(in)); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
	if got := markdown.Escape(strings.Repeat("é", 501)); got != strings.Repeat("é", 500)+"…" {
		t.Errorf("a long value becomes %q", got)
	}
}

func TestCode(t *testing.T) {
	for in, want := range map[string]string{
		"a/b": "`a/b`", "a*b_c": "`a*b_c`", "": "", " \u200b\n": "", "a`b": "a\\`b", "a|b": "a&#124;b", `a\`: "a&#92;",
		" x\ny ": "`x y`",
	} {
		if got := markdown.Code(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

func TestFence(t *testing.T) {
	for in, want := range map[string]string{
		"plain\n":                "```\nplain\n```",
		"````\nx":                "`````\n````\nx\n`````",
		"/lgtm\n \u00a0/approve": "```\n| /lgtm\n \u00a0| /approve\n```",
		"\n \u200b\n":            "",
	} {
		if got := shownJoiners(markdown.Fence(in)); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

func ExampleEscape() {
	fmt.Println(markdown.Escape("*stars* and <b>tags</b>") == "\\*stars\\* and &lt;b\u2060&gt;tags&lt;/b\u2060&gt;")
	// Output: true
}

// read matches text that GitLab treats specially when it has rendered it, outside of code.
var read = regexp.MustCompile(`[@~%^][\w."]|[#!$&]\d|(?:^|\D):[\w+-]+:|://|(?i:www\.)|\w>|[\[{][\w+_[-]|[[:xdigit:]]{7}|[A-Z][A-Z0-9_]*-\d|(?m:^[\s\p{Z}]*/)`)

// FuzzText tests the law of this package: for any text, Markdown renders the same text and
// nothing else.
func FuzzText(f *testing.F) {
	for _, seed := range []string{
		"@all\n/lgtm", "<script>", "<!-- x", "[x](http://y)", "![x][y]", "https://a.b", "www.a.b", "a@b.c", "mailto:a@b.c",
		"`a`|`b", "\\|", "***", "- - x", "1. x",
		"# x", "=== ", "> x", "| a |\n|--|", "$`x`$", "[^1]", "[[_TOC_]]", "---", ":tada:", "~~~", "```mermaid", "&#64;all",
		"&commat;", "\u202e\u200b\ufeff", "0123456abcdef", "ftp://x",
	} {
		f.Add(seed)
	}
	md := goldmark.New(goldmark.WithExtensions(extension.GFM, extension.Footnote, extension.DefinitionList))
	f.Fuzz(func(t *testing.T, in string) {
		want := shown(in)
		if len(want) > 400 {
			return // it may be cut
		}
		escaped, code, fence := markdown.Escape(in), markdown.Code(in), markdown.Fence(in)
		for _, out := range []string{escaped, code, fence} {
			if !utf8.ValidString(out) || strings.ContainsFunc(out, unicode.IsControl) && out != fence {
				t.Fatalf("%q becomes %q", in, out)
			}
		}
		if strings.ContainsAny(escaped, "\n") || read.MatchString(html.UnescapeString(strings.ReplaceAll(escaped, `\`, ""))) {
			t.Fatalf("%q becomes %q", in, escaped)
		}
		var out bytes.Buffer
		source := "x " + escaped + "\n\n" + escaped + "\n\n| a | b |\n| - | - |\n| " + code + " | " + escaped + " |\n\n- " +
			code + "\n\n" + fence + "\n\nend\n"
		if err := md.Convert([]byte(source), &out); err != nil {
			t.Fatal(err)
		}
		doc, err := html.Parse(&out)
		if err != nil {
			t.Fatal(err)
		}
		var texts []string
		walk(t, doc, &texts)
		got := strings.ReplaceAll(strings.Join(texts, ""), "\u2060", "")
		parts := []string{"x " + want, want, "a", "b", want, want, want, slash.ReplaceAllString(shownBlock(in), "${1}| /"),
			"end"}
		if squeeze(got) != squeeze(strings.Join(parts, "")) {
			t.Fatalf("%q is read as\n%q, want\n%q from\n%s", in, got, strings.Join(parts, ""), source)
		}
	})
}

// slash matches a slash at the beginning of a line, before which a fence has a sign.
var slash = regexp.MustCompile(`(?m)^([\t\p{Z}]*)/`)

// shown returns a text without invisible characters.
func shown(in string) string { return strings.Join(strings.Fields(shownBlock(in)), " ") }

func shownBlock(in string) string {
	return strings.Map(func(r rune) rune {
		if unicode.In(r, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point) {
			return -1
		}
		return r
	}, sanitize.Text(in))
}

// squeeze removes all white space.
func squeeze(s string) string { return strings.Join(strings.Fields(s), "") }

var allowed = []string{"html", "head", "body", "p", "table", "thead", "tbody", "tr", "th", "td", "ul", "li", "code",
	"pre"}

func walk(t *testing.T, n *html.Node, texts *[]string) {
	switch n.Type {
	case html.TextNode:
		*texts = append(*texts, n.Data)
	case html.ElementNode:
		if !strings.Contains(" "+strings.Join(allowed, " ")+" ", " "+n.Data+" ") {
			t.Fatalf("there is an element <%s>", n.Data)
		}
	case html.CommentNode:
		t.Fatalf("there is a comment %q", n.Data)
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		walk(t, c, texts)
	}
}
