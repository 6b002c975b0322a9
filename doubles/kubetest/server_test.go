package kubetest

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// ask sends a request to a server in memory.
func ask(t *testing.T, s *Server, method, path, body string) (int, string, error) {
	t.Helper()
	req, err := http.NewRequest(method, s.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+s.Token)
	req.Header.Set("Content-Type", "application/apply-patch+yaml")
	answer, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, "", err
	}
	defer func() { _ = answer.Body.Close() }()
	raw, err := io.ReadAll(answer.Body)
	return answer.StatusCode, string(raw), err
}

const shop = "/api/v1/namespaces/shop"

func TestFaults(t *testing.T) {
	for name, c := range map[string]struct {
		fault  Fault
		code   int
		isDone bool // the server did its work
		fails  bool
	}{
		"none":   {Fault{}, 201, true, false},
		"status": {Fault{Status: 503, Body: "away"}, 503, false, false},
		"late":   {Fault{Delay: time.Millisecond}, 201, true, false},
		"cut":    {Fault{Cut: true}, 201, true, true},
		"lost":   {Fault{Lost: true}, 0, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			s := New(t)
			s.Fail(func(*http.Request) *Fault { return &c.fault })
			code, _, err := ask(t, s, http.MethodPatch, shop+"?fieldManager=m",
				`{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}}`)
			if isDone := s.Object(shop) != nil; code != c.code || isDone != c.isDone || (err != nil) != c.fails {
				t.Errorf("got %d, done %t, %v", code, isDone, err)
			}
			if got := fmt.Sprint(s.Requests()); !strings.HasPrefix(got, "[patch "+shop) {
				t.Errorf("noted %s", got)
			}
		})
	}
}

// A POST gives the fields to another manager than an apply does.
func TestPost(t *testing.T) {
	s := New(t)
	body := `{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop", "labels": {"a": "1"}}}`
	for _, want := range []int{201, 409} {
		if code, text, err := ask(t, s, http.MethodPost, "/api/v1/namespaces?fieldManager=m", body); code != want ||
			err != nil {
			t.Errorf("got %d %s %v, want %d", code, text, err, want)
		}
	}
	code, text, err := ask(t, s, http.MethodPatch, shop+"?fieldManager=m", strings.Replace(body, `"1"`, `"2"`, 1))
	if code != 409 || !strings.Contains(text, `".metadata.labels.a"`) || err != nil {
		t.Errorf("got %d %s %v", code, text, err)
	}
	if got := fmt.Sprint(s.Writes()); got != "[create /api/v1/namespaces 201 create /api/v1/namespaces 409 patch "+shop+
		" 409]" {
		t.Errorf("noted %s", got)
	}
	s.Forget()
	s.Remove(shop)
	if got := s.Requests(); got != nil || len(s.Paths()) != 0 {
		t.Errorf("left %v and %v", got, s.Paths())
	}
}
