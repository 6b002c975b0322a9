package saas

import (
	"encoding/json"
	"testing"

	"github.com/app-sre/prcheck/natives/saas/saastest"
)

// Reading 300 saas files with 3,000 targets, their cells and hashes takes far less than a second.
func BenchmarkRead(b *testing.B) {
	query := saastest.Large(300, 3000).Query(b)
	for b.Loop() {
		m, err := Read(b.Context(), query, Settings{})
		if err != nil {
			b.Fatal(err)
		}
		n := 0
		for _, c := range m.Cells() {
			for _, t := range c.Targets {
				if t.Hash() != "" {
					n++
				}
			}
		}
		if n != 3000 || len(m.Findings) > 0 {
			b.Fatalf("got %d targets and %d findings", n, len(m.Findings))
		}
	}
}

// The states of all cells are made and written in less than a second, too.
func BenchmarkCellState(b *testing.B) {
	m, err := Read(b.Context(), saastest.Large(300, 3000).Query(b), Settings{})
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		for _, c := range m.Cells() {
			if _, err := json.Marshal(m.CellState(c)); err != nil {
				b.Fatal(err)
			}
		}
	}
}
