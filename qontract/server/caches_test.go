package server

import (
	"strings"
	"testing"

	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/qontract/gql"
)

func snapshotOf(t *testing.T, text string) *Snapshot {
	t.Helper()
	b, err := bundle.Parse([]byte(text), nil)
	if err != nil {
		t.Fatal(err)
	}
	return &Snapshot{Bundle: b}
}

// A full cache keeps the answers that were used last. Answers that nobody asks for again
// take an eighth of it.
func TestAnswerCache(t *testing.T) {
	const cost = 1000 + answerOverhead
	a := newAnswerCache(16 * cost) // two answers on trial, fourteen kept
	large := strings.Repeat("x", 1000)
	for i := range byte(16) {
		a.put(cacheKey{i}, newReply(200, "", large))
		if a.get(cacheKey{i}) == nil || a.get(cacheKey{0}) == nil {
			t.Fatalf("answer %d or 0 is not there", i)
		}
	}
	for i := range byte(100) {
		a.put(cacheKey{100 + i}, newReply(200, "", large))
	}
	if a.trial.Len() != 2 || a.kept.Len() != 14 || a.trial.size != 2*cost || a.kept.size != 14*cost ||
		len(a.elements) != 16 {
		t.Errorf("%d answers on trial, %d kept, %d in all", a.trial.Len(), a.kept.Len(), len(a.elements))
	}
	for i := range byte(17) {
		if got, want := a.get(cacheKey{i}) != nil, i != 1 && i != 2 && i != 16; got != want {
			t.Errorf("answer %d is there: %v, want %v", i, got, want)
		}
	}
	a.put(cacheKey{20}, newReply(200, "", large+large+large))
	if a.get(cacheKey{20}) != nil {
		t.Error("kept an answer that is too large")
	}
	p := a.get(cacheKey{3})
	p.contentType, p.body = "changed", nil
	if again := a.get(cacheKey{3}); again.contentType != "" || string(again.body) != large || again.etag == "" {
		t.Errorf("got %+v", again)
	}
	if newAnswerCache(-1) != nil {
		t.Error("a memory without room")
	}
}

// Requests that may have different answers have different keys.
func TestCacheKeys(t *testing.T) {
	one, other := snapshotOf(t, `{"data":{}}`), snapshotOf(t, `{"data":{},"x":1}`)
	vars := func(text string) *bundle.Object {
		v, err := bundle.ParseValue([]byte(text))
		o, ok := v.(*bundle.Object)
		if err != nil || !ok {
			t.Fatal(text, err)
		}
		return o
	}
	seen := map[cacheKey]int{}
	for i, q := range []cacheKey{
		cacheKeyOf(one, &gql.Request{Query: "ab"}),
		cacheKeyOf(other, &gql.Request{Query: "ab"}),
		cacheKeyOf(one, &gql.Request{Query: "a", Operation: "b"}),
		cacheKeyOf(one, &gql.Request{Query: "b", Operation: "a"}),
		cacheKeyOf(one, &gql.Request{Query: "ab", Variables: vars(`{}`)}),
		cacheKeyOf(one, &gql.Request{Query: "ab", Variables: vars(`{"a":1}`)}),
		cacheKeyOf(one, &gql.Request{Query: "ab", Variables: vars(`{"a":"1"}`)}),
		cacheKeyOf(one, &gql.Request{Query: "ab", Variables: vars(`{"a":9007199254740993}`)}),
		cacheKeyOf(one, &gql.Request{Query: "ab", Variables: vars(`{"a":9007199254740992}`)}),
		// a filter is judged in its order
		cacheKeyOf(one, &gql.Request{Query: "ab", Variables: vars(`{"f":{"a":1,"b":{"filter":{"c":2}}}}`)}),
		cacheKeyOf(one, &gql.Request{Query: "ab", Variables: vars(`{"f":{"b":{"filter":{"c":2}},"a":1}}`)}),
	} {
		if before, ok := seen[q]; ok {
			t.Errorf("%d and %d are the same question", before, i)
		}
		seen[q] = i
	}
	if _, ok := seen[cacheKeyOf(one, &gql.Request{Query: "ab"})]; !ok {
		t.Error("the same request is another question")
	}
}

// Persisted queries belong to one bundle. If there are too many, the oldest are dropped.
func TestQueryCache(t *testing.T) {
	one, other := snapshotOf(t, `{"data":{}}`), snapshotOf(t, `{"data":{},"x":1}`)
	p := newQueryCache()
	const text = "{ x }"
	p.put(one, text)
	p.put(one, text)
	if got, ok := p.get(one, sha256Hex(text)); got != text || !ok {
		t.Errorf("got %q, %v", got, ok)
	}
	if _, ok := p.get(other, sha256Hex(text)); ok {
		t.Error("known for another bundle")
	}
	for i := range 20 {
		p.put(one, strings.Repeat("y", 1<<20)+string(rune('a'+i)))
	}
	if _, ok := p.get(one, sha256Hex(text)); ok || p.size > maxQueryCacheBytes || p.recent.Len() != len(p.elements) {
		t.Errorf("kept %d bytes in %d and %d entries", p.size, p.recent.Len(), len(p.elements))
	}
}
