package rest

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/internal/mask"
	"github.com/app-sre/prcheck/natives/generic/family"
)

// cutBody ends before all of it was read.
type cutBody struct{ io.Reader }

func (cutBody) Close() error { return nil }
func (b cutBody) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

// plainText makes an answer with any text and media type.
func plainText(status int, media, text string) func() *http.Response {
	return func() *http.Response {
		res := answer(status, nil, "Content-Type", media)
		res.Body = io.NopCloser(strings.NewReader(text))
		return res
	}
}

// Each answer that is none is one clear error of the right class, and never a resource that is
// not there.
func TestBadAnswers(t *testing.T) {
	deep := strings.Repeat("[", 5000) + strings.Repeat("]", 5000)
	for _, test := range []struct {
		name   string
		answer func() *http.Response
		class  Class
		want   string
	}{
		{"HTML", plainText(200, "text/html", "<html>login</html>"), Fatal,
			`the answer of cloud.example is "text/html", not JSON: check the endpoint`},
		{"no media type", plainText(200, "", "{}"), Fatal, "not JSON"},
		{"HTML in place of an error", plainText(403, "text/html", "<html>no</html>"), Slow,
			"status 403: the answer is no JSON"},
		{"HTML in place of 404", plainText(404, "text/html", "<html>no</html>"), Fatal,
			"status 404: the answer of cloud.example is \"text/html\", not JSON: check the endpoint"},
		{"a cut 404", plainText(404, mediaJSON, `{"error":{"co`), Retry, "status 404: the answer is cut"},
		{"a cut body", plainText(200, mediaJSON, `{"a": {"b`), Retry, "the answer is cut"},
		{"a cut line", func() *http.Response {
			res := plainText(200, mediaJSON, "")()
			res.Body = cutBody{strings.NewReader(`{"a":`)}
			return res
		}, Retry, "the answer is cut"},
		{"too large", plainText(200, mediaJSON, `"`+strings.Repeat("x", 2<<20)+`"`), Fatal, "the answer has more than 1 MiB"},
		{"too deep", plainText(200, mediaJSON, deep), Fatal, "the answer is no JSON"},
		{"a list", plainText(200, mediaJSON, `[]`), Fatal, "the answer is no JSON object"},
		{"nothing", plainText(200, mediaJSON, ``), Fatal, "the answer is no JSON object"},
		{"twice the same member", plainText(200, mediaJSON, `{"a":1,"a":2}`), Fatal, "the answer is no JSON"},
		{"invalid UTF-8", plainText(200, mediaJSON, "{\"a\":\"\xff\"}"), Fatal, "the answer is no JSON"},
		{"a redirect", func() *http.Response { return answer(302, nil, "Location", "https://evil.example/") }, Fatal,
			"redirect"},
		{"a permanent redirect", func() *http.Response { return answer(308, nil, "Location", "/there") }, Fatal, "redirect"},
		{"not allowed", plainText(401, mediaJSON, `{"error":{"code":"","message":"no"}}`), Fatal, "status 401: no"},
		{"escapes in a message", plainText(400, mediaJSON, `{"error":{"code":"X","message":"a\u001b[31m\nred"}}`), Fatal,
			"status 400 X: a red"},
		{"a secret in a message", plainText(400, mediaJSON, `{"error":{"code":"X","message":"hunter2-canary is wrong"}}`), Fatal,
			"status 400 X: *** is wrong"},
		{"a long message", plainText(400, mediaJSON, `{"error":{"code":"X","message":"`+strings.Repeat("m", 5000)+`"}}`), Fatal,
			"status 400 X: mmm"},
		{"no line", func() *http.Response { return &http.Response{} }, Retry, "no answer: the line is cut"},
	} {
		s := newService(t, *family.ARM)
		s.before = func(sent) *http.Response { return test.answer() }
		c := s.client()
		c.MaxBody, c.Mask = 1<<20, mask.New([]string{"hunter2-canary"}).Text
		live, err := c.Read(t.Context(), target(putOnly))
		var e *Error
		switch {
		case !errors.As(err, &e) || e.Class != test.class || !strings.Contains(err.Error(), test.want) || live.Found:
			t.Errorf("%s: got %v of the class %v, want %q of %s", test.name, err, e, test.want, test.class)
		case len(err.Error()) > 500 || strings.ContainsAny(err.Error(), "\n\x1b") || strings.Contains(err.Error(), "canary"):
			t.Errorf("%s: the message is %q", test.name, err)
		}
		if n := len(s.log); (n > 1) != (test.class == Retry) {
			t.Errorf("%s: %d requests", test.name, n)
		}
	}
}

// Numbers are exact, and those of 400 digits are read and sent back as they are.
func TestExactNumbers(t *testing.T) {
	long := strings.Repeat("9", 400)
	s := newService(t, *family.ARM)
	s.put(thing, props("a", "1", "n", json.Number("9007199254740993"), "long", json.Number(long)))
	if _, err := s.client().Write(t.Context(), target(putOnly), &planner{desired: props("a", "2")},
		&memory{}); err != nil {
		t.Fatal(err)
	}
	p := s.things[thing]["properties"].(object)
	if fmt.Sprint(p["n"]) != "9007199254740993" || fmt.Sprint(p["long"]) != long {
		t.Errorf("got %v", p)
	}
}

// A client never sends anything to another host, whatever an answer says.
func TestOtherHosts(t *testing.T) {
	for _, next := range []string{"https://evil.example/x", "//evil.example/x", "http://cloud.example/x",
		"https://cloud.example:8443/x", "https://u:p@cloud.example/x", `https://cloud.example\@evil.example/`} {
		s := newService(t, *family.ARM)
		s.before = func(sent) *http.Response { return answer(200, object{"value": []any{}, "nextLink": next}) }
		_, err := s.client().List(t.Context(), target(putOnly), "/things")
		var e *Error
		if !errors.As(err, &e) || e.Code != "LRO_HOST" || len(s.log) != 1 {
			t.Errorf("%s: got %v after %d requests", next, err, len(s.log))
		}
	}
}

// All pages of a collection are read, and a circle of pages ends.
func TestList(t *testing.T) {
	kube := family.Family{Name: "k", ItemsAt: "items", NextAt: "metadata/continue", NextQuery: "continue"}
	for _, test := range []struct {
		name    string
		family  family.Family
		answers []object
		want    string
	}{
		{"addresses", *family.ARM,
			[]object{{"value": []any{"a"}, "nextLink": "https://cloud.example/things?page=2&api-version=1"},
				{"value": []any{"b"}}}, "[a b] api-version=1 api-version=1&page=2"},
		{"tokens", kube, []object{{"items": []any{"a"}, "metadata": object{"continue": "t/1"}},
			{"items": []any{"b"}, "metadata": object{}}}, "[a b] api-version=1 api-version=1&continue=t%2F1"},
		{"no list", *family.ARM, []object{{"things": []any{}}},
			`status 200: the answer of the collection has no list "value"`},
		{"the same page", *family.ARM, []object{{"value": []any{"a"}, "nextLink": "/things?api-version=1"}},
			"status 200: the next page of the collection is the same page"},
	} {
		s := newService(t, test.family)
		n := 0
		s.before = func(sent) *http.Response { n++; return answer(200, test.answers[n-1]) }
		items, err := s.client().List(t.Context(), target(putOnly), "/things")
		got := fmt.Sprint(items)
		for _, r := range s.log {
			got += " " + sortQuery(r.query)
		}
		if err != nil {
			got = err.Error()
		}
		if got != test.want {
			t.Errorf("%s: got %s, want %s", test.name, got, test.want)
		}
	}
}

func sortQuery(q string) string {
	parts := strings.Split(q, "&")
	if len(parts) == 2 && parts[0] > parts[1] {
		parts[0], parts[1] = parts[1], parts[0]
	}
	return strings.Join(parts, "&")
}
