package peers

import (
	"encoding/json"
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/app-sre/prcheck/integrations/saas/schedule"
)

// Schedules match the moments that croniter says.
func TestSchedules(t *testing.T) {
	judge(t, "schedules", func(t *testing.T, l line) (bool, string) {
		var input struct {
			Schedule string
			Moments  []int64
		}
		var want []bool
		if err := json.Unmarshal(l.Input, &input); err != nil {
			t.Fatal(err)
		}
		s, err := schedule.Parse(input.Schedule)
		if err != nil || l.isRefused() {
			return err != nil && l.isRefused(), fmt.Sprint(err)
		}
		if err := json.Unmarshal(l.Answer, &want); err != nil {
			t.Fatal(err)
		}
		var got []bool
		for _, at := range input.Moments {
			got = append(got, s.Matches(time.Unix(at, 0).UTC()))
		}
		return reflect.DeepEqual(got, want), fmt.Sprint(got)
	})
}
