package gql_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/app-sre/prcheck/qontract/gql"
)

// A clash makes random selections with many equal response keys.
type clash struct {
	*rand.Rand
	used [3]bool
}

func (c *clash) one(list ...string) string { return list[c.IntN(len(list))] }

// authors returns selections on an author, awards selections on an award.
func (c *clash) authors(depth int) string {
	var out strings.Builder
	for range 1 + c.IntN(3) {
		key := c.one("", "", "a: ", "b: ")
		switch n := c.IntN(8); {
		case n < 3 || depth == 0:
			out.WriteString(key + c.one("name", "age", "path", "__typename", "tags"))
		case n == 3:
			out.WriteString(key + c.one("mentor", "friends", "agent") + "{" + c.authors(depth-1) + "}")
		case n == 4:
			out.WriteString(key + c.one("award", "awards") + "{" + c.awards(depth-1) + "}")
		case n == 5:
			i := c.IntN(len(c.used))
			c.used[i] = true
			fmt.Fprintf(&out, "...F%d", i)
		case n == 6:
			out.WriteString("...{" + c.authors(depth-1) + "}")
		default:
			out.WriteString("... on Author_v1{" + c.authors(depth-1) + "}")
		}
		out.WriteByte(' ')
	}
	return out.String()
}

func (c *clash) awards(depth int) string {
	gold := c.one("kind", "a: kind", "a: weight", "a: __typename", "b: giver{"+c.authors(depth)+"}")
	paper := c.one("kind", "a: kind", "a: pages", "b: giver{"+c.authors(depth)+"}", "b: book{title}", "a: giver{name}")
	return c.one("", "kind ", "a: kind ", "b: giver{age} ") + "... on Gold_v1{" + gold + "} ... on Paper_v1{" + paper + "}"
}

// document returns a query with fragments. Each fragment uses only later ones, so there are
// no cycles.
func (c *clash) document() string {
	c.used = [3]bool{}
	text := "{authors{" + c.authors(3) + "}}"
	for i := range c.used {
		if c.used[i] {
			body := c.authors(2)
			for j := range i + 1 {
				body = strings.ReplaceAll(body, fmt.Sprintf("...F%d", j), "rating")
			}
			text += fmt.Sprintf(" fragment F%d on Author_v1{%s}", i, body)
		}
	}
	return text
}

// TestLinearConflictSearchAgrees checks that the linear search finds a conflict exactly if
// comparing all pairs finds one.
func TestLinearConflictSearchAgrees(t *testing.T) {
	_, s := smallEngine(t)
	c := &clash{Rand: rand.New(rand.NewPCG(1, 2))}
	conflicts, none := 0, 0
	for range 8_000 {
		text := c.document()
		pairs, linear, ok := s.Conflicts(text)
		switch {
		case !ok:
			continue
		case pairs != linear:
			t.Fatalf("%s\nconflict by pairs %t, in linear time %t", text, pairs, linear)
		case pairs:
			conflicts++
		default:
			none++
		}
	}
	t.Logf("%d documents with conflicts, %d without", conflicts, none)
	if conflicts < 1000 || none < 1000 {
		t.Error("the random documents are not worth much")
	}
}

// TestLocate compares locations with a simple count from the beginning of the text.
func TestLocate(t *testing.T) {
	for _, text := range []string{"", "a\nb\r\nc\rd", strings.Repeat("é😀x\n", 200),
		strings.Repeat("\u2028", 300) + "\r\nz", "\ufeff\n\n"} {
		for pos := range text {
			before := strings.ReplaceAll(strings.ReplaceAll(text[:pos], "\r\n", "\n"), "\r", "\n")
			if strings.HasSuffix(text[:pos], "\r") && text[pos] == '\n' {
				continue // no token begins there
			}
			last := before[strings.LastIndexByte(before, '\n')+1:]
			want := gql.Location{Line: strings.Count(before, "\n") + 1, Column: len(utf16.Encode([]rune(last))) + 1}
			if got := gql.Locate(text, pos); got != want {
				t.Fatalf("%.20q at %d: got %v, want %v", text, pos, got, want)
			}
		}
	}
}
