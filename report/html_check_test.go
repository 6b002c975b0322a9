package report_test

import (
	"crypto/sha256"
	"encoding/base64"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

// checkPage checks the rules that hold for every page.
func checkPage(t *testing.T, text string) {
	t.Helper()
	if at := strings.IndexFunc(text, forbidden); at >= 0 {
		t.Errorf("the character %q in %q", text[at:at+1], text[max(0, at-40):at+1])
	}
	doc, err := html.ParseWithOptions(strings.NewReader(text), html.ParseOptionEnableScripting(false))
	if err != nil {
		t.Fatal(err)
	}
	c := &checker{t: t, ids: map[string]int{}, tags: map[string]int{}}
	c.walk(doc)
	c.finish()
}

func forbidden(r rune) bool {
	return r < ' ' && r != '\n' && r != '\t' || r == 0x7f || r >= 0x80 && r < 0xa0 || r == '\u2028' || r == '\u2029' ||
		r >= '\u202a' && r <= '\u202e' || r >= '\u2066' && r <= '\u2069' || r == '\u200e' || r == '\u200f'
}

// A checker walks through a page.
type checker struct {
	t      *testing.T
	ids    map[string]int
	refs   []string // ids that something refers to
	tags   map[string]int
	level  int // of the last heading
	inline []string
	policy string
}

func attr(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

func content(n *html.Node) string {
	var out strings.Builder
	for d := range n.Descendants() {
		if d.Type == html.TextNode {
			out.WriteString(d.Data)
		}
	}
	return out.String()
}

func (c *checker) walk(n *html.Node) {
	if n.Type == html.ElementNode {
		c.element(n)
	}
	if n.Type == html.CommentNode {
		c.t.Errorf("a comment: %q", n.Data)
	}
	for child := n.FirstChild; child != nil; child = child.NextSibling {
		c.walk(child)
	}
}

func (c *checker) element(n *html.Node) {
	if n.Namespace == "" { // a title of a drawing is none of the page
		c.tags[n.Data]++
	}
	for _, a := range n.Attr {
		c.attribute(n, a)
	}
	switch n.Data {
	case "img", "iframe", "object", "embed", "base", "textarea", "animate", "math":
		c.t.Errorf("an element %s", n.Data)
	case "style", "script":
		if attr(n, "type") == "" {
			sum := sha256.Sum256([]byte(content(n)))
			c.inline = append(c.inline, n.Data+"-src", "'sha256-"+base64.StdEncoding.EncodeToString(sum[:])+"'")
		}
	case "meta":
		if attr(n, "http-equiv") != "" {
			c.policy = attr(n, "content")
		}
	case "th":
		if attr(n, "scope") == "" || strings.TrimSpace(content(n)) == "" {
			c.t.Errorf("a table head without scope or text: %q", content(n))
		}
	case "button", "a", "summary", "h1", "h2", "h3":
		if strings.TrimSpace(content(n)) == "" && !c.isBar(n) {
			c.t.Errorf("%s %v says nothing", n.Data, n.Attr)
		}
	case "input", "select":
		if n.Parent.Data != "label" {
			c.t.Errorf("%s %v has no label", n.Data, n.Attr)
		}
	}
	if len(n.Data) == 2 && n.Data[0] == 'h' && n.Data[1] >= '1' && n.Data[1] <= '6' {
		if level := int(n.Data[1] - '0'); level > c.level+1 {
			c.t.Errorf("heading %s follows one of level %d", n.Data, c.level)
		} else {
			c.level = level
		}
	}
}

// isBar reports whether a link is a bar of the timeline, which cannot have the focus.
func (c *checker) isBar(n *html.Node) bool {
	return n.Parent.Data == "svg" && attr(n, "tabindex") == "-1"
}

func (c *checker) attribute(n *html.Node, a html.Attribute) {
	switch {
	case a.Key == "id":
		c.ids[a.Val]++
	case a.Key == "href" && strings.HasPrefix(a.Val, "#"):
		c.refs = append(c.refs, a.Val[1:])
	case a.Key == "href" && n.Data == "link" && strings.HasPrefix(a.Val, "data:image/svg+xml,"):
	case a.Key == "href" || a.Key == "src" || a.Key == "action" || a.Key == "srcset" || a.Key == "style" ||
		strings.HasPrefix(a.Key, "on"):
		c.t.Errorf("%s has the attribute %s=%q", n.Data, a.Key, a.Val)
	case a.Key == "aria-labelledby" || a.Key == "aria-describedby":
		c.refs = append(c.refs, strings.Fields(a.Val)...)
	}
}

func (c *checker) finish() {
	for id, n := range c.ids {
		if n > 1 {
			c.t.Errorf("the id %q stands there %d times", id, n)
		}
	}
	for _, ref := range c.refs {
		if c.ids[ref] == 0 {
			c.t.Errorf("nothing has the id %q", ref)
		}
	}
	for i := 0; i < len(c.inline); i += 2 {
		directive := regexp.MustCompile(c.inline[i] + " ([^;]*)").FindStringSubmatch(c.policy)
		if directive == nil || !slices.Contains(strings.Fields(directive[1]), c.inline[i+1]) {
			c.t.Errorf("the policy %q does not allow %s %s", c.policy, c.inline[i], c.inline[i+1])
		}
	}
	if !strings.HasPrefix(c.policy, "default-src 'none'; ") || strings.Contains(c.policy, "unsafe") {
		c.t.Errorf("the policy is %q", c.policy)
	}
	want := map[string]int{"script": 3, "style": 1, "h1": 1, "main": 1, "nav": 1, "header": 1, "footer": 1, "title": 1}
	got := map[string]int{}
	for tag := range want {
		got[tag] = c.tags[tag]
	}
	if !reflect.DeepEqual(got, want) {
		c.t.Errorf("got %v, want %v", got, want)
	}
}
