package server

import (
	"strconv"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/bundle"
	"github.com/app-sre/prcheck/gql"
)

func snapshotOf(t *testing.T, text string) *Snapshot {
	t.Helper()
	b, err := bundle.Parse([]byte(text), nil)
	if err != nil {
		t.Fatal(err)
	}
	return &Snapshot{Bundle: b}
}

// What was used last is kept, up to a size.
func TestAnswers(t *testing.T) {
	a := newAnswers(8 * (1000 + answerCost))
	large := strings.Repeat("x", 1000)
	for i := range byte(9) {
		if a.put(question{i}, sent(200, "", large)); i < 8 {
			a.get(question{0})
		}
	}
	for i := range byte(10) {
		if got, want := a.get(question{i}) != nil, i != 1 && i != 9; got != want {
			t.Errorf("answer %d is there: %v, want %v", i, got, want)
		}
	}
	a.put(question{9}, sent(200, "", large+large))
	if a.get(question{9}) != nil {
		t.Error("kept an answer that is too large")
	}
	p := a.get(question{2})
	p.kind, p.body = "changed", nil
	if again := a.get(question{2}); again.kind != "" || string(again.body) != large || again.tag == "" {
		t.Errorf("got %+v", again)
	}
	if newAnswers(-1) != nil {
		t.Error("a memory without room")
	}
}

// Requests that could be answered differently are different questions.
func TestQuestions(t *testing.T) {
	one, other := snapshotOf(t, `{"data":{}}`), snapshotOf(t, `{"data":{},"x":1}`)
	vars := func(text string) *bundle.Object {
		v, err := bundle.ParseValue([]byte(text))
		o, ok := v.(*bundle.Object)
		if err != nil || !ok {
			t.Fatal(text, err)
		}
		return o
	}
	seen := map[question]int{}
	for i, q := range []question{
		questionOf(one, &gql.Request{Query: "ab"}),
		questionOf(other, &gql.Request{Query: "ab"}),
		questionOf(one, &gql.Request{Query: "a", Operation: "b"}),
		questionOf(one, &gql.Request{Query: "b", Operation: "a"}),
		questionOf(one, &gql.Request{Query: "ab", Variables: vars(`{}`)}),
		questionOf(one, &gql.Request{Query: "ab", Variables: vars(`{"a":1}`)}),
		questionOf(one, &gql.Request{Query: "ab", Variables: vars(`{"a":"1"}`)}),
		questionOf(one, &gql.Request{Query: "ab", Variables: vars(`{"a":9007199254740993}`)}),
		questionOf(one, &gql.Request{Query: "ab", Variables: vars(`{"a":9007199254740992}`)}),
	} {
		if before, ok := seen[q]; ok {
			t.Errorf("%d and %d are the same question", before, i)
		}
		seen[q] = i
	}
	if _, ok := seen[questionOf(one, &gql.Request{Query: "ab"})]; !ok {
		t.Error("the same request is another question")
	}
}

// Persisted queries belong to one bundle and are forgotten when there are too
// many.
func TestPersisted(t *testing.T) {
	one, other := snapshotOf(t, `{"data":{}}`), snapshotOf(t, `{"data":{},"x":1}`)
	p := newPersisted()
	const text = "{ x }"
	p.put(one, text)
	p.put(one, text)
	if got, ok := p.get(one, sumOf(text)); got != text || !ok {
		t.Errorf("got %q, %v", got, ok)
	}
	if _, ok := p.get(other, sumOf(text)); ok {
		t.Error("known for another bundle")
	}
	for i := range 20 {
		p.put(one, strings.Repeat("y", 1<<20)+string(rune('a'+i)))
	}
	if _, ok := p.get(one, sumOf(text)); ok || p.size > maxPersisted || p.order.Len() != len(p.at) {
		t.Errorf("kept %d bytes in %d and %d entries", p.size, p.order.Len(), len(p.at))
	}
}

// The labels of paths are those that the metrics of qontract-server have.
func TestPathLabel(t *testing.T) {
	m := newMetrics()
	sha := strings.Repeat("0123456789abcdef", 4)
	for path, want := range map[string]string{
		"/":                              "/",
		"/graphql":                       "/graphql",
		"/graphqlsha/" + sha:             "/graphqlsha/#sha",
		"/graphqlsha/x/y":                "/graphqlsha/#sha",
		"/graphqlsha":                    "/graphqlsha",
		"/git-commit-info/" + sha:        "/git-commit-info/#val",
		"/diff/" + sha + "/" + sha:       "/diff/#val/#val",
		"/diff/" + sha + "/x/datafile/y": "/diff/#val/x/datafile/y",
		"/a/12/2026-01-02/-3":            "/a/#val/#val/#val",
		"/abcdef/ABCDEF0":                "/abcdef/#val",
		"//healthz/":                     "/healthz",
		"/" + strings.Repeat("a.", 200):  "#other",
	} {
		if got := m.pathLabel(path); got != want {
			t.Errorf("%s: got %s, want %s", path, got, want)
		}
	}
	for i := range maxPaths {
		m.pathLabel("/p" + strconv.Itoa(i))
	}
	if got := m.pathLabel("/one/more"); got != "#other" {
		t.Errorf("got %s after too many paths", got)
	}
	if got := m.pathLabel("/graphql"); got != "/graphql" {
		t.Errorf("got %s for a known path", got)
	}
	if got := methodLabel("BREW"); got != "OTHER" {
		t.Errorf("got %s", got)
	}
}
