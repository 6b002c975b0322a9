package settings

import (
	"testing"
	"time"
)

func TestReuse(t *testing.T) {
	s := read(t, "version: 1\nreuse: 4h\nintegrations:\n  own: {reuse: 90s}\n  never: {reuse: none}\n  plain: {}\n")
	for name, want := range map[string]time.Duration{"own": 90 * time.Second, "never": 0, "plain": 4 * time.Hour,
		"unnamed": 4 * time.Hour} {
		if got := s.For(name).Reuse; got != want {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
	}
	if got := read(t, "version: 1\nreuse: none\n").For("any").Reuse; got != 0 {
		t.Errorf("none: got %s", got)
	}
}
