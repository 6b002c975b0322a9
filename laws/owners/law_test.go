package main

import (
	"strings"
	"testing"

	"github.com/app-sre/prcheck/laws/broken"
)

// The laws hold over a small number of worlds; the program holds them over many.
func TestLaw(t *testing.T) {
	var out strings.Builder
	if code := run(t.Context(), []string{"--worlds", "3000", "--seed", "37"}, &out); code != 0 {
		t.Errorf("exit %d: %s", code, out.String())
	}
}

// Each mutant can still be made.
func TestMutants(t *testing.T) {
	all, err := broken.Read(mutants)
	if err != nil || len(all) < 15 {
		t.Fatal(len(all), err)
	}
	for _, m := range all {
		if _, err := m.Apply("../.."); err != nil {
			t.Error(err)
		}
	}
}
