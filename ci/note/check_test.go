package note_test

import (
	"bytes"
	"regexp"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/text"
	nethtml "golang.org/x/net/html"
)

// reader reads Markdown as GitLab does, as far as a note is concerned.
var reader = goldmark.New(goldmark.WithExtensions(extension.GFM, extension.Footnote, extension.DefinitionList),
	goldmark.WithRendererOptions(html.WithUnsafe()))

// quickAction matches the beginning of a quick action.
var quickAction = regexp.MustCompile(`^[\s\p{Z}]*/`)

// checkBody checks the rules that hold for every body.
func checkBody(t testing.TB, body string) {
	t.Helper()
	if !utf8.ValidString(body) || strings.TrimSpace(body) != body {
		t.Fatalf("not valid, or not trimmed: %q", body)
	}
	for _, r := range body {
		if r != '\n' && r != '\t' && unicode.IsControl(r) || unicode.In(r, unicode.Cf) && r != '\u2060' {
			t.Fatalf("the character %U in\n%s", r, body)
		}
	}
	for line := range strings.Lines(body) {
		if quickAction.MatchString(line) {
			t.Fatalf("a line starts with a slash: %q in\n%s", line, body)
		}
	}
	source, folds := []byte(body), 0
	if err := ast.Walk(reader.Parser().Parse(text.NewReader(source)),
		func(n ast.Node, entering bool) (ast.WalkStatus, error) {
			if entering {
				checkNode(t, n, source)
			}
			if block, ok := n.(*ast.HTMLBlock); ok && entering {
				switch raw := string(block.Lines().Value(source)); {
				case strings.HasPrefix(raw, "<details>"):
					folds++
				case strings.HasPrefix(raw, "</details>"):
					folds--
				}
				if folds < 0 || folds > 1 || n.Parent().Kind() != ast.KindDocument {
					t.Fatalf("folds do not match in\n%s", body)
				}
			}
			return ast.WalkContinue, nil
		}); err != nil || folds != 0 {
		t.Fatalf("%d folds stay open (%v) in\n%s", folds, err, body)
	}
	checkRendered(t, body)
}

var (
	ownHTML = regexp.MustCompile(`^(<!-- prcheck-note:[a-z0-9-]+ [A-Za-z0-9+/]+ -->|<details><summary>[^<>&@#|]*(<code>[0-9a-f]{12}</code>)?[^<>&@#|]*</summary>|</details>)\n?$`)
	ownLink = regexp.MustCompile(`^https://gitlab\.example\.com/[A-Za-z0-9-._~:/?#@%=&+,]*$`)
)

// checkNode checks one node of the syntax tree of a body.
func checkNode(t testing.TB, n ast.Node, source []byte) {
	t.Helper()
	switch n := n.(type) {
	case *ast.HTMLBlock:
		raw := string(n.Lines().Value(source))
		if n.HasClosure() && n.ClosureLine.Start >= 0 {
			raw += string(n.ClosureLine.Value(source))
		}
		if !ownHTML.MatchString(raw) {
			t.Fatalf("foreign HTML %q in\n%s", raw, source)
		}
	case *ast.RawHTML:
		if raw := string(n.Segments.Value(source)); raw != "<code>" && raw != "</code>" {
			t.Fatalf("foreign HTML %q in\n%s", raw, source)
		}
	case *ast.AutoLink, *ast.Image, *ast.Blockquote, *ast.ThematicBreak, *ast.CodeBlock:
		t.Fatalf("a %s in\n%s", n.Kind(), source)
	case *ast.Link:
		if !ownLink.Match(n.Destination) {
			t.Fatalf("a link to %q in\n%s", n.Destination, source)
		}
	case *ast.FencedCodeBlock:
		if n.Info != nil {
			t.Fatalf("a fence has the info %q in\n%s", n.Info.Value(source), source)
		}
	case *ast.Paragraph:
		if _, bold := n.FirstChild().(*ast.Emphasis); !bold && strings.HasPrefix(string(n.Lines().Value(source)), "**") {
			t.Fatalf("a name is not bold: %q in\n%s", n.Lines().Value(source), source)
		}
	case *ast.Heading:
		if n.Level < 3 {
			t.Fatalf("a heading of level %d in\n%s", n.Level, source)
		}
	}
}

// references matches what GitLab turns into links in rendered text, outside of code
// and links.
var references = regexp.MustCompile(`[@~%^][\w."]|[#!$&]\d|(?:^|\D):[\w+-]+:|://|(?i:www\.)|\w>|[\[{][\w+_[-]|[[:xdigit:]]{7}|\b[A-Z][A-Z0-9_]*-\d|mailto:\w`)

var elements = " html head body h3 h4 p ul li table thead tbody tr th td code pre strong details summary a "

// checkRendered checks the HTML of a body.
func checkRendered(t testing.TB, body string) {
	t.Helper()
	doc, err := nethtml.Parse(strings.NewReader(renderHTML(t, body)))
	if err != nil {
		t.Fatal(err)
	}
	var walk func(n *nethtml.Node, quiet bool)
	walk = func(n *nethtml.Node, quiet bool) {
		switch n.Type {
		case nethtml.ElementNode:
			if !strings.Contains(elements, " "+n.Data+" ") {
				t.Fatalf("there is a <%s> in\n%s", n.Data, body)
			}
			for _, a := range n.Attr {
				if a.Key != "href" && a.Key != "id" && a.Key != "style" {
					t.Fatalf("<%s> has the attribute %s=%q", n.Data, a.Key, a.Val)
				}
			}
			quiet = quiet || n.Data == "code" || n.Data == "pre" || n.Data == "a"
		case nethtml.TextNode:
			if found := references.FindString(n.Data); found != "" && !quiet {
				t.Fatalf("%q in the text %q of\n%s", found, n.Data, body)
			}
		case nethtml.CommentNode:
			if !strings.HasPrefix(n.Data, " prcheck-note:") {
				t.Fatalf("there is a comment %q", n.Data)
			}
		}
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			walk(c, quiet)
		}
	}
	walk(doc, false)
}

// renderHTML returns the HTML of a body.
func renderHTML(t testing.TB, body string) string {
	t.Helper()
	var out bytes.Buffer
	if err := reader.Convert([]byte(body), &out); err != nil {
		t.Fatal(err)
	}
	return out.String()
}
