package source

import (
	"path/filepath"

	"github.com/app-sre/prcheck/state"
)

// WorldsIn returns the folder of a cache that has the files of the sides of changes.
func WorldsIn(cache string) string { return filepath.Join(cache, "worlds-1") }

// StatesIn returns the folder of a cache that has a state for each checkout.
func StatesIn(cache string) string { return filepath.Join(cache, "state") }

// StateOf returns the folder of a cache that has the state of one checkout, by its root.
func StateOf(cache, root string) string {
	return filepath.Join(StatesIn(cache), state.Name(root)[:12])
}
