package main

import (
	"strings"
	"testing"
)

// The law holds over some scenes; the program holds it over many.
func TestLaw(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts git many times")
	}
	var out strings.Builder
	if code := run(t.Context(), []string{"--scenes", "12", "--seed", "38"}, &out); code != 0 {
		t.Errorf("exit %d: %s", code, out.String())
	}
	if strings.Contains(out.String(), " 0 tasks held") {
		t.Errorf("nothing held: %s", out.String())
	}
}
