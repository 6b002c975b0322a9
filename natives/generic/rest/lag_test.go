package rest

import (
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/natives/generic/family"
)

// A service may show late what it took: a missing resource or an old value is waited for, and is neither a failure nor a
// lesson about the classes of a type.
func TestLag(t *testing.T) {
	for name, c := range map[string]struct {
		live     object
		lag      time.Duration // until it shows what it took
		isPlain  bool          // it has no versions
		isBroken bool          // it is not shown in time
	}{
		"created, at once":           {nil, 0, false, false},
		"created, after a minute":    {nil, time.Minute, false, false},
		"created, too late":          {nil, time.Hour, false, true},
		"changed, after a minute":    {props("a", "1"), time.Minute, false, false},
		"changed, too late":          {props("a", "1"), time.Hour, false, true},
		"without versions":           {props("a", "1"), time.Minute, true, false},
		"without versions, too late": {props("a", "1"), time.Hour, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			s := newService(t, *family.ARM)
			if c.isPlain {
				s.etag = func(object) string { return "" }
			}
			if c.live != nil {
				s.put(thing, c.live)
			}
			var wrote time.Time
			s.before = func(r sent) *http.Response {
				switch {
				case r.method != http.MethodGet:
					wrote = s.time()
				case wrote.IsZero() || s.time().Sub(wrote) >= c.lag:
				case c.live == nil:
					return answer(404, object{"error": object{"code": "ResourceNotFound"}})
				case c.isPlain:
					return answer(200, props("a", "1"))
				default:
					return answer(200, props("a", "1"), "ETag", `"1"`)
				}
				return nil
			}
			_, err := s.client().Write(t.Context(), target(putOnly), &planner{desired: props("a", "2")}, &memory{})
			if !c.isBroken {
				if err != nil {
					t.Fatal(err)
				}
			} else {
				var e *Error
				if !errors.As(err, &e) || e.Code == CodeMismatch || len(e.Overrides) > 0 ||
					e.FailureClass() != string(integration.FailureTransient) {
					t.Fatalf("got %v", err)
				}
				if spent := s.time().Sub(wrote); spent < DefaultLag || spent > DefaultLag+time.Minute {
					t.Errorf("it waited %s", spent)
				}
			}
			if n := len(s.writes()); n != 1 {
				t.Errorf("%d writes", n)
			}
			wrote = time.Time{} // the next run sees it, and writes nothing
			if r, err := s.client().Write(t.Context(), target(putOnly),
				&planner{desired: props("a", "2"), applied: props("a", "2")}, &memory{}); err != nil || r.Did != Nothing {
				t.Errorf("the next run: %s, %v", r.Did, err)
			}
		})
	}
}
