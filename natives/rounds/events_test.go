package rounds

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/natives/receiver"
	"github.com/app-sre/prcheck/settings"
)

// A watching native knows what its work depends on.
type watching struct{ fake }

func (watching) Watches(context.Context, integration.QueryFunc, settings.Integration) ([]string, error) {
	return []string{"https://a.example/shop"}, nil
}

// An event about something that matters brings the next round forward, many at once bring two (the first
// one at once, the rest together), and another event and a
// forged one change nothing.
func TestEventsBringRounds(t *testing.T) {
	const token = "0123456789abcdef"
	synctest.Test(t, func(t *testing.T) {
		var starts []time.Duration
		began := time.Now()
		in, _ := input(fake{})
		in.Natives = []integration.Native{watching{fake{dry: func(context.Context, integration.Environment) error {
			starts = append(starts, time.Since(began).Round(time.Second))
			return nil
		}}}}
		var err error
		if in.Events, err = receiver.New(token); err != nil {
			t.Fatal(err)
		}
		push := func(repository, id, with string) {
			req := httptest.NewRequest(http.MethodPost, "/",
				strings.NewReader(`{"after": "`+id+`", "repository": {"clone_url": "`+repository+`"}}`))
			req.Header.Set("X-Gitlab-Token", with)
			in.Events.ServeHTTP(httptest.NewRecorder(), req)
		}
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Minute, func() { push("https://a.example/other", "1", token) })
		time.AfterFunc(2*time.Minute, func() { push("https://a.example/shop", "2", "guess") })
		for i := range 20 {
			time.AfterFunc(10*time.Minute+time.Duration(i)*100*time.Millisecond, func() {
				push("https://a.example/shop.git", strings.Repeat("x", i), token)
			})
		}
		time.AfterFunc(50*time.Minute, cancel)
		orders := Orders{Every: time.Hour, Timeout: time.Hour}
		if _, err := New(in, orders).Run(ctx, func(*Report) error { return nil }); err != nil {
			t.Error(err)
		}
		if len(starts) != 3 || starts[1] != 10*time.Minute || starts[2] < starts[1]+minGap {
			t.Errorf("rounds began after %v", starts)
		}
	})
}
