package rounds

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/app-sre/prcheck/integration"
)

// stands returns a native whose units stand like this.
func stands(units ...integration.Standing) fake {
	return fake{dry: func(_ context.Context, env integration.Environment) error {
		for _, u := range units {
			env.Stand(u)
		}
		return nil
	}}
}

func TestTable(t *testing.T) {
	opens := time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)
	in, _ := input(stands(
		integration.Standing{Key: "shop/stage", State: "same"},
		integration.Standing{Key: "shop/production", State: "held", Reasons: []string{"commit", "config"},
			Hold: "promotion: it soaks\nfor a day", Opens: opens},
	))
	r := once(t, in, Orders{})
	var text strings.Builder
	if err := r.WriteText(&text); err != nil {
		t.Fatal(err)
	}
	want := `
  UNIT             STATE  REASONS        OPENS              WAITS FOR
  shop/production  held   commit,config  2026-05-04 12:00Z  promotion: it soaks for a day
  shop/stage       same   -              -                  -
`
	if !strings.Contains(text.String(), want) {
		t.Errorf("got\n%s\nwant\n%s", text.String(), want)
	}
	text.Reset()
	if err := r.WriteJSON(&text); err != nil ||
		!strings.Contains(text.String(),
			`{"key":"shop/production","state":"held","reasons":["commit","config"],"hold":"promotion: it soaks for a day","opens":"2026-05-04T12:00:00Z"}`) {
		t.Errorf("got %s, %v", text.String(), err)
	}
}

func TestUnitCount(t *testing.T) {
	now := time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)
	var c unitCount
	c.count([]integration.Standing{{Key: "a", State: "held", Waits: true},
		{Key: "b", State: "start", Reasons: []string{"commit", "commit", "config"}, Started: true}}, now)
	c.count([]integration.Standing{{Key: "a", State: "held", Waits: true},
		{Key: "c", State: "off", Hold: "it is deprecated"},
		{Key: "b", State: "failed", Waits: true, Since: now.Add(-time.Minute)}}, now.Add(time.Hour))
	if got := c.oldest(now.Add(2 * time.Hour)); got != 2*time.Hour+time.Minute {
		t.Errorf("the oldest waits for %v", got)
	}
	if c.starts["commit"] != 1 || c.starts["config"] != 1 || c.states["held"] != 1 || c.states["start"] != 0 {
		t.Errorf("got %+v", c)
	}
	c.count([]integration.Standing{{Key: "a", State: "same"}, {Key: "m", State: "merged", Took: time.Minute}},
		now.Add(3*time.Hour))
	if c.ended != 1 || c.took != time.Minute {
		t.Errorf("got %d ended after %v", c.ended, c.took)
	}
	if got := c.oldest(now.Add(4 * time.Hour)); got != 0 {
		t.Errorf("nothing waits, and yet for %v", got)
	}
}

// The status of an integration with units is how these stand.
func TestStatusOfUnits(t *testing.T) {
	opens := time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)
	in, log := input(stands(
		integration.Standing{Key: "shop/stage", State: "same"},
		integration.Standing{Key: "shop/other", State: "unknown", Waits: true, Hold: "nobody answers"},
		integration.Standing{Key: "shop/production", State: "held", Waits: true, Hold: "it soaks", Opens: opens},
	))
	r := once(t, in, Orders{Status: true})
	var text strings.Builder
	if err := r.WriteStatus(&text); err != nil {
		t.Fatal(err)
	}
	want := `  shop/other  Synced=Unknown Blocked=True
    Blocked: unknown: nobody answers
  shop/production  Synced=False Blocked=True
    Blocked: held: it soaks; it opens at 2026-05-04 12:00Z
  shop/stage  Synced=True Blocked=False
3 things
`
	if !strings.Contains(text.String(), want) || r.Outcome != Done || strings.Contains(log.String(), "dry run") {
		t.Errorf("%s\n%s", r.Outcome, text.String())
	}
	in, _ = input(stands())
	if r := once(t, in, Orders{Status: true}); r.Outcome == Done {
		t.Error("an integration without units tells a status")
	}
}
