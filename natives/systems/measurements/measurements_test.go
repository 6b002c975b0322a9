package measurements

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/app-sre/prcheck/doubles/slotest"
	"github.com/app-sre/prcheck/integration/services"
	"github.com/app-sre/prcheck/natives/systems/jsonapi"
)

const token = "token-of-the-test"

func client() *Prometheus {
	return New(&jsonapi.Client{Timeout: 5 * time.Second, Pause: time.Millisecond})
}

func serve(t *testing.T) (*slotest.Server, string) {
	t.Helper()
	s := &slotest.Server{Authorization: "Bearer " + token}
	h := httptest.NewServer(s)
	t.Cleanup(h.Close)
	return s, h.URL
}

func TestMeasure(t *testing.T) {
	s, url := serve(t)
	for name, c := range map[string]struct {
		values []string
		want   float64
		err    string
	}{
		"one":        {[]string{"0.995"}, 0.995, ""},
		"zero":       {[]string{"0"}, 0, ""},
		"none":       {nil, 0, "0 numbers"},
		"two":        {[]string{"1", "1"}, 0, "2 numbers"},
		"NaN":        {[]string{"NaN"}, 0, "finite"},
		"infinity":   {[]string{"+Inf"}, 0, "finite"},
		"no number":  {[]string{"many"}, 0, "finite"},
		"empty text": {[]string{""}, 0, "finite"},
	} {
		s.Set("up{a=\"b c\"} > 0", c.values...)
		got, err := client().Measure(t.Context(), url, services.Login{Password: token}, "up{a=\"b c\"} > 0")
		if got != c.want || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: got %v, %v, want %v, %q", name, got, err, c.want, c.err)
		}
	}
	if _, err := client().Measure(t.Context(), url, services.Login{Password: "wrong"}, "up"); err == nil ||
		strings.Contains(err.Error(), "wrong") {
		t.Errorf("a wrong token: %v", err)
	}
	if _, err := client().Measure(t.Context(), url, services.Login{Password: token}, "unknown"); err == nil {
		t.Error("an unknown expression has a value")
	}
}

func TestMeasureNonsense(t *testing.T) {
	for _, body := range []string{
		"", "null", "{}", "[]", "<html>", `{"status":"success"}`,
		`{"status":"success","data":{"resultType":"matrix","result":[]}}`,
		`{"status":"success","data":{"resultType":"vector","result":[{}]}}`,
		`{"status":"success","data":{"resultType":"vector","result":[{"value":[1,2]}]}}`,
		`{"status":"success","data":{"resultType":"scalar","result":null}}`,
		`{"status":"error","data":{"resultType":"scalar","result":[1,"1"]}}`,
	} {
		s, url := serve(t)
		s.Fault = func(w http.ResponseWriter, _ *http.Request) bool {
			_, _ = io.WriteString(w, body)
			return true
		}
		if got, err := client().Measure(t.Context(), url, services.Login{Password: token}, "up"); err == nil {
			t.Errorf("%s is taken for %v", body, got)
		}
	}
	s, url := serve(t)
	s.Fault = func(w http.ResponseWriter, _ *http.Request) bool {
		_, _ = io.WriteString(w, `{"status":"success","data":{"resultType":"scalar","result":[1,"0.5"]}}`)
		return true
	}
	if got, err := client().Measure(t.Context(), url, services.Login{Password: token}, "up"); err != nil || got != 0.5 {
		t.Errorf("a scalar is %v, %v", got, err)
	}
}

var _ services.Measurements = (*Prometheus)(nil)
