package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/app-sre/prcheck/internal/cli"
)

// resultFiles puts the results files that are in a folder in its place.
func resultFiles(names []string) ([]string, error) {
	var out []string
	for _, name := range names {
		if info, err := os.Stat(name); err != nil || !info.IsDir() {
			out = append(out, name)
			continue
		}
		err := filepath.WalkDir(name, func(file string, d fs.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() && isResults(file) {
				out = append(out, file)
			}
			return err
		})
		if err != nil {
			return nil, cli.Invalid(fmt.Errorf("looking for results: %w", err))
		}
	}
	return out, nil
}

// isResults tells results files from others by their names.
func isResults(name string) bool {
	name = filepath.Base(name)
	return strings.HasPrefix(name, "results") && strings.HasSuffix(name, ".json")
}
