package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Each mutant breaks the product as it is now.
func TestMutantsFit(t *testing.T) {
	for _, m := range mutants {
		raw, err := os.ReadFile(filepath.Join("..", "..", m.file))
		if err != nil {
			t.Errorf("%s: %v", m.name, err)
			continue
		}
		if n := strings.Count(string(raw), m.text); n != 1 || m.text == m.instead {
			t.Errorf("%s: %s has %q %d times, want once", m.name, m.file, m.text, n)
		}
	}
}
