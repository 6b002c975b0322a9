package peers

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/app-sre/prcheck/internal/shared"
	"github.com/app-sre/prcheck/natives/saas/schedule"
)

// Schedules match the moments that croniter says.
func TestSchedules(t *testing.T) { shared.Judge(t, "schedules", matchesSame) }

// matchesSame compares which moments match a schedule.
func matchesSame(t *testing.T, l shared.Answer) (bool, string) {
	t.Helper()
	var input struct {
		Schedule string
		Moments  []int64
	}
	var want []bool
	if err := json.Unmarshal(l.Input, &input); err != nil {
		t.Fatal(err)
	}
	s, err := schedule.Parse(input.Schedule)
	if err != nil || l.IsRefused() {
		return err != nil && l.IsRefused(), fmt.Sprint(err)
	}
	if err := json.Unmarshal(l.Answer, &want); err != nil {
		t.Fatal(err)
	}
	var got []bool
	for _, at := range input.Moments {
		got = append(got, s.Matches(time.Unix(at, 0).UTC()))
	}
	return slices.Equal(got, want), fmt.Sprint(got)
}
