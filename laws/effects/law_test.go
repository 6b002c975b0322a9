package main

import (
	"strings"
	"testing"
)

// The law holds over a small number of changes; the program holds it over many.
func TestLaw(t *testing.T) {
	var out strings.Builder
	if code := run(t.Context(), []string{"--changes", "60", "--seed", "41"}, &out); code != 0 {
		t.Errorf("exit %d: %s", code, out.String())
	}
	t.Log(out.String())
}
