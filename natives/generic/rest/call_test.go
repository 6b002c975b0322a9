package rest

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/natives/generic/family"
)

// An action obeys the limit, is followed to its end, and is sent once if it may have been carried out.
func TestDo(t *testing.T) {
	accepted := answer(202, nil, "Location", "https://cloud.example/op")
	for _, test := range []struct {
		name    string
		answers []*http.Response
		want    string // what is sent
		class   Class  // of the error
	}{
		{"done", []*http.Response{answer(200, nil)}, "POST", ""},
		{"busy", []*http.Response{failing(429, "TooManyRequests", "Retry-After", "7"), answer(200, nil)}, "POST POST", ""},
		{"followed", []*http.Response{accepted, answer(202, nil), answer(200, nil)}, "POST GET GET", ""},
		{"fails later", []*http.Response{accepted, failing(400, "SkuNotAvailable")}, "POST GET", Fatal},
		{"forgotten", []*http.Response{accepted, answer(404, nil)}, "POST GET", Retry},
		{"doubtful", []*http.Response{failing(500, "InternalServerError"), answer(200, nil)}, "POST", Retry},
		{"locked", []*http.Response{failing(409, "ScopeLocked"), answer(200, nil)}, "POST", Slow},
		{"another host", []*http.Response{answer(202, nil, "Location", "https://evil.example/op")}, "POST", Fatal},
		{"no address", []*http.Response{answer(202, nil)}, "POST", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newService(t, *family.ARM)
			var did []string
			s.before = func(r sent) *http.Response {
				did = append(did, r.method)
				return test.answers[min(len(did), len(test.answers))-1]
			}
			c := s.client()
			c.Throttle = &Throttle{}
			err := c.Do(t.Context(), target(putOnly),
				Action{Method: http.MethodPost, Path: "/subscriptions/s/gone/a/purge?api-version=1"}, &memory{})
			var e *Error
			if got := strings.Join(did, " "); got != test.want || (err == nil) != (test.class == "") ||
				err != nil && (!errors.As(err, &e) || e.Class != test.class) {
				t.Errorf("sent %s, %v; want %s and the class %q", got, err, test.want, test.class)
			}
			b := c.Throttle.buckets[throttleKey(c.Family, "/subscriptions/s", family.Writes)]
			if b == nil || b.tokens >= float64(b.limit.Tokens) {
				t.Error("the throttle was not asked")
			}
			c.Trial, did = true, nil
			if err := c.Do(t.Context(), target(putOnly), Action{Method: http.MethodPost, Path: "/x"}, &memory{}); err != nil ||
				did != nil {
				t.Errorf("a trial sent %q, %v", did, err)
			}
		})
	}
}
