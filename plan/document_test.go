package plan

import (
	"strings"
	"testing"
)

func TestReadAllIsBounded(t *testing.T) {
	if raw, err := readAll(strings.NewReader("12345"), 5); err != nil || string(raw) != "12345" {
		t.Errorf("got %q, %v", raw, err)
	}
	if _, err := readAll(strings.NewReader("123456"), 5); err == nil ||
		!strings.Contains(err.Error(), "larger than 5 bytes") {
		t.Errorf("got %v, want a size error", err)
	}
}
