package receiver_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/app-sre/prcheck/natives/receiver"
)

const token = "0123456789abcdef-sesame"

// The bodies are in the forms that forges document, cut to what names something and to one field beside it.
const (
	github = `{"ref": "refs/heads/main", "after": "%", "repository": {"clone_url": "https://github.com/Acme/Shop.git",
		"html_url": "https://github.com/Acme/Shop"}}`
	gitlab = `{"object_kind": "push", "after": "%", "project": {"web_url": "https://gitlab.example.com/acme/shop",
		"git_http_url": "https://gitlab.example.com/acme/shop.git"}}`
	event = `{"specversion": "1.0", "id": "%", "type": "Microsoft.Resources.ResourceWriteSuccess", "source": "/subscriptions/S1",
		"subject": "/subscriptions/S1/resourceGroups/shop"}`
)

func sign(key, body string) string {
	h := hmac.New(sha256.New, []byte(key))
	_, _ = io.WriteString(h, body)
	return "sha256=" + hex.EncodeToString(h.Sum(nil))
}

// A request is an event with what its sender knows.
type request struct {
	method, body string
	header       map[string]string
}

func (q request) send(r *receiver.Receiver) int {
	req := httptest.NewRequest(q.method, "/", strings.NewReader(q.body))
	for name, value := range q.header {
		req.Header.Set(name, value)
	}
	w := httptest.NewRecorder()
	r.ServeHTTP(w, req)
	return w.Code
}

func isAwake(r *receiver.Receiver) bool {
	select {
	case <-r.Woken():
		return true
	default:
		return false
	}
}

// Only an event that is new, from somebody who knows the token, and about something that matters wakes the loop.
func TestEvents(t *testing.T) {
	with := func(body, id string) string { return strings.Replace(body, "%", id, 1) }
	signed := func(id, key string) request {
		body := with(github, id)
		return request{"POST", body, map[string]string{"X-GitHub-Event": "push", "X-Hub-Signature-256": sign(key, body)}}
	}
	lab := func(id, key string) request {
		return request{"POST", with(gitlab, id), map[string]string{"X-Gitlab-Event": "Push Hook", "X-Gitlab-Token": key}}
	}
	cloud := func(id, authorization string) request {
		return request{"POST", with(event, id), map[string]string{"Authorization": authorization,
			"Content-Type": "application/cloudevents+json; charset=utf-8"}}
	}
	r, err := receiver.New(token + "\n")
	if err != nil {
		t.Fatal(err)
	}
	all := []string{"https://github.com/acme/shop", "https://gitlab.example.com/acme/shop.git",
		"/subscriptions/s1/resourcegroups/shop"}
	for _, c := range []struct {
		name   string
		watch  []string
		of     request
		status int
		wakes  bool
	}{
		{"of github", all, signed("1", token), 202, true},
		{"of github again", all, signed("1", token), 409, false},
		{"of github with another token", all, signed("2", "0123456789abcdef-guess"), 401, false},
		{"of github with the signature of another body", all, request{"POST", with(github, "3"),
			map[string]string{"X-Hub-Signature-256": sign(token, "{}")}}, 401, false},
		{"of github with a signature of another kind", all, request{"POST", with(github, "3"),
			map[string]string{"X-Hub-Signature-256": strings.Replace(sign(token, with(github, "3")), "256", "1", 1)}}, 401,
			false},
		{"of github about another repository", all[1:], signed("4", token), 200, false},
		{"of github about nothing", all, request{"POST", "{}", map[string]string{"X-GitHub-Event": "ping",
			"X-Hub-Signature-256": sign(token, "{}")}}, 200, false},
		{"as a form", all, request{"POST", "payload=%7B%22repository%22%3A%7B%22clone_url%22%3A%22https%3A%2F%2Fgithub.com%2Facme%2Fshop%22%7D%7D",
			map[string]string{"X-Gitlab-Token": token, "Content-Type": "application/x-www-form-urlencoded"}}, 202, true},
		{"of gitlab", all, lab("1", token), 202, true},
		{"of gitlab without a token", all, lab("2", ""), 401, false},
		{"of gitlab with the beginning of the token", all, lab("2", token[:20]), 401, false},
		{"when nothing is known yet", nil, lab("3", token), 202, true},
		{"when nothing matters", []string{}, lab("4", token), 200, false},
		{"a cloud event", all, cloud("1", "Bearer "+token), 202, true},
		{"a cloud event again", all, cloud("1", "Bearer "+token), 409, false},
		{"a cloud event without a token", all, cloud("2", "Bearer "), 401, false},
		{"a cloud event with a word before the token", all, cloud("2", token), 401, false},
		{"a cloud event in headers", all, request{"POST", "x", map[string]string{"Ce-Id": "7", "Ce-Specversion": "1.0",
			"Ce-Source": "/subscriptions/S1/resourceGroups/shop", "Authorization": "Bearer " + token}}, 202, true},
		{"no event", all, request{"POST", `{"hello": "world"}`, map[string]string{"X-Gitlab-Token": token}}, 400, false},
		{"no JSON", all, request{"POST", `{`, map[string]string{"X-Gitlab-Token": token}}, 400, false},
		{"too large", all, request{"POST", strings.Repeat(" ", 6<<20), map[string]string{"X-Gitlab-Token": token}}, 413,
			false},
		{"a question", all, request{"GET", "", map[string]string{"X-Gitlab-Token": token}}, 405, false},
		{"a handshake", all, request{"OPTIONS", "", nil}, 200, false},
	} {
		r.Watch(c.watch)
		if got := c.of.send(r); got != c.status {
			t.Errorf("%s: status %d, want %d", c.name, got, c.status)
		}
		if got := isAwake(r); got != c.wakes {
			t.Errorf("%s: the loop is awake: %v", c.name, got)
		}
	}
}

// Whoever recorded a signed event cannot wake a loop with it, whatever headers it has: they are not signed. An event of
// GitLab has an id, so an equal body with another one is another event.
func TestReplays(t *testing.T) {
	r, err := receiver.New(token)
	if err != nil {
		t.Fatal(err)
	}
	r.Watch([]string{"https://github.com/acme/shop", "https://gitlab.example.com/acme/shop", "other"})
	const about = `{"repository": {"clone_url": "https://github.com/acme/none"}}`
	ce := map[string]string{"Ce-Id": "1", "Ce-Specversion": "1.0", "Ce-Source": "other"}
	uuid := func(id string) map[string]string {
		return map[string]string{"X-Gitlab-Token": token, "X-Gitlab-Event-UUID": id}
	}
	for _, c := range []struct {
		name, body string
		header     map[string]string
		isSigned   bool
		status     int
		wakes      bool
	}{
		{"an event", github, map[string]string{"X-GitHub-Event": "push"}, true, 202, true},
		{"as another event", github, map[string]string{"X-GitHub-Event": "pull_request"}, true, 409, false},
		{"as a ping", github, map[string]string{"X-GitHub-Event": "ping"}, true, 409, false},
		{"with an id of GitLab", github, map[string]string{"X-Gitlab-Event-UUID": "1"}, true, 409, false},
		{"as a cloud event", github, ce, true, 409, false},
		{"as a cloud event about another name", about, ce, true, 200, false},
		{"of GitLab", gitlab, uuid("1"), false, 202, true},
		{"of GitLab again", gitlab, uuid("1"), false, 409, false},
		{"of GitLab, as before by chance", gitlab, uuid("2"), false, 202, true},
	} {
		if c.isSigned {
			c.header = maps.Clone(c.header)
			c.header["X-Hub-Signature-256"] = sign(token, c.body)
		}
		if got := (request{"POST", c.body, c.header}).send(r); got != c.status {
			t.Errorf("%s: status %d, want %d", c.name, got, c.status)
		}
		if got := isAwake(r); got != c.wakes {
			t.Errorf("%s: the loop is awake: %v", c.name, got)
		}
	}
}

// However many events come, the loop is woken once, and what is remembered of them is bounded.
func TestFlood(t *testing.T) {
	r, err := receiver.New(token)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 20_000 {
		id := strings.Repeat("x", i%7) + strings.Repeat("y", i/7)
		request{"POST", gitlab, map[string]string{"X-Gitlab-Token": token, "Ce-Id": "", "X-GitHub-Event": id}}.send(r)
	}
	if !isAwake(r) || isAwake(r) {
		t.Error("the loop is not woken just once")
	}
	if _, err := receiver.New("short"); err == nil || strings.Contains(err.Error(), "short\"") {
		t.Errorf("a short token is taken: %v", err)
	}
}

// The server takes events until the work ends, and many at once.
func TestServe(t *testing.T) {
	r, err := receiver.New(token)
	if err != nil {
		t.Fatal(err)
	}
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	err = r.Serve(t.Context(), l, func() error {
		var all sync.WaitGroup
		for i := range 20 {
			all.Go(func() {
				body := strings.Replace(gitlab, "%", strings.Repeat("x", i), 1)
				req, err := http.NewRequestWithContext(t.Context(), "POST", "http://"+l.Addr().String(), strings.NewReader(body))
				if err != nil {
					t.Error(err)
					return
				}
				req.Header.Set("X-Gitlab-Token", token)
				res, err := http.DefaultClient.Do(req)
				if err != nil || res.Body.Close() != nil || res.StatusCode != 202 && res.StatusCode != 503 {
					t.Errorf("%v %+v", err, res)
				}
			})
		}
		all.Wait()
		return nil
	})
	if err != nil || !isAwake(r) {
		t.Errorf("%v", err)
	}
}
