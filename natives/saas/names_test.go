package saas

import (
	"testing"
	"time"
)

// Times are days, hours, minutes and seconds.
func TestParseTimeout(t *testing.T) {
	for text, want := range map[string]time.Duration{"90m": 90 * time.Minute, "1h30m": 90 * time.Minute,
		"2d1h": 49 * time.Hour, "10s": 10 * time.Second} {
		if got, err := ParseTimeout(text); err != nil || got != want {
			t.Errorf("%q: got %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "1", "m", "1m1h", "-1h", "1.5h", "99999999999999999999h"} {
		if got, err := ParseTimeout(text); err == nil {
			t.Errorf("%q: got %v", text, got)
		}
	}
}
