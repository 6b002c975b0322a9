package simulation

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/app-sre/prcheck/doubles/armtest"
)

// Answers that no service should give are one clear error of the resource, and nothing is written
// after one that was to be read.
func TestBadAnswers(t *testing.T) {
	const json = "application/json"
	deep := strings.Repeat("[", 5000) + strings.Repeat("]", 5000)
	for _, c := range []struct {
		name  string
		fault armtest.Fault
	}{
		{"HTML", armtest.Fault{Status: 200, Body: "<html>Sign in</html>", Type: "text/html"}},
		{"HTML that says it is JSON", armtest.Fault{Status: 200, Body: "<html>Sign in</html>", Type: json}},
		{"a redirect", armtest.Fault{Status: 302, Header: http.Header{"Location": {"https://evil.example/"}}, Body: "{}",
			Type: json}},
		{"half a body", armtest.Fault{Status: 200, Body: `{"location": "westus", "prop`, Type: json}},
		{"invalid UTF-8", armtest.Fault{Status: 200, Body: "{\"location\": \"\xff\xfe\"}", Type: json}},
		{"no object", armtest.Fault{Status: 200, Body: `["a"]`, Type: json}},
		{"5,000 levels", armtest.Fault{Status: 200, Body: deep, Type: json}},
		{"a member twice", armtest.Fault{Status: 200, Body: `{"location": "a", "location": "b"}`, Type: json}},
		{"no body", armtest.Fault{Status: 200, Body: " ", Type: json}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				path, e := makers[4](0, 1)
				w.put(path, e)
				w.Fail(func(r armtest.Request) *armtest.Fault {
					if r.IsWrite() {
						return nil
					}
					return &c.fault
				})
				err := w.run()
				if err == nil && !strings.HasPrefix(w.told(), "error") {
					t.Errorf("there is no error\n%s\n%s", w.told(), w.log.String())
				}
				if len(w.Writes()) > 0 || len(w.broken) > 0 {
					t.Errorf("it sent %v %v", w.Writes(), w.broken)
				}
				for line := range strings.Lines(fmt.Sprint(err) + "\n" + w.log.String()) {
					if len(line) > 2000 {
						t.Errorf("a line has %d bytes: %.200q", len(line), line)
					}
				}
			})
		})
	}
}

// The address of an operation at another host is not followed, and the resource itself decides.
func TestOperationElsewhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		path, e := makers[0](0, 1)
		w.put(path, e)
		w.Fail(func(r armtest.Request) *armtest.Fault {
			if !r.IsWrite() {
				return nil
			}
			return &armtest.Fault{Status: 202, Header: http.Header{"Azure-Asyncoperation": {"https://evil.example/op"}},
				Body: "{}", Type: "application/json"}
		})
		err := w.run()
		if !strings.Contains(fmt.Sprint(err)+w.told()+w.log.String(), "LRO_HOST") {
			t.Errorf("got %v\n%s\n%s", err, w.told(), w.log.String())
		}
		if len(w.broken) > 0 {
			t.Error(w.broken)
		}
	})
}

// Names that could lead elsewhere are mistakes of the data, and nothing is sent for them.
func TestBadNames(t *testing.T) {
	for _, name := range []string{"a/b", "..", ".", "", "a%2fb", "a?x=1", "a#b", "a\\b", "a\nb", "a\x00b",
		strings.Repeat("n", 5000)} {
		t.Run(fmt.Sprintf("%.10q", name), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				path, e := makers[4](0, 1)
				e["name"] = name
				w.put(path, e)
				err := w.run()
				if err == nil && !strings.Contains(w.told(), "error") {
					t.Errorf("%q is taken: %s\n%s", name, w.told(), w.log.String())
				}
				if len(w.Requests()) > 0 {
					t.Errorf("it sent %v", w.Requests())
				}
			})
		})
	}
}
