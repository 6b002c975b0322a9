// Package cloud has the specifications of the example as files: they are resources of its bundle,
// and the simulated service is driven by them.
package cloud

import (
	"embed"
	"fmt"
	"io/fs"
)

//go:embed resources/cloud/*.json
var files embed.FS

// Specifications returns the specifications by the names of their files.
func Specifications() (map[string][]byte, error) {
	out := map[string][]byte{}
	const folder = "resources/cloud"
	entries, err := fs.ReadDir(files, folder)
	if err != nil {
		return nil, fmt.Errorf("listing the specifications of the example: %w", err)
	}
	for _, e := range entries {
		if out[e.Name()], err = files.ReadFile(folder + "/" + e.Name()); err != nil {
			return nil, fmt.Errorf("reading the specification %s of the example: %w", e.Name(), err)
		}
	}
	return out, nil
}
