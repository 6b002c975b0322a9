package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/app-sre/prcheck/internal/cli"
	"github.com/app-sre/prcheck/plan"
)

// readResults reads the results of all parts and puts them together. A file of a
// folder that cannot be read is a part that is missing, and a warning: its tasks
// have failed, and the others are reported all the same.
func readResults(p *plan.Plan, names []string) (*plan.Results, error) {
	if len(names) == 0 {
		return nil, cli.Usage(errors.New("--results is required: what runner run wrote"))
	}
	var parts []*plan.Results
	var damaged []string
	for _, name := range names {
		files, found, err := resultFiles(name)
		if err != nil {
			return nil, cli.Invalid(fmt.Errorf("looking for results: %w", err))
		}
		for _, file := range files {
			part, err := readPart(file)
			switch {
			case err == nil:
				parts = append(parts, part)
			case found:
				damaged = append(damaged, err.Error())
			default:
				return nil, cli.Invalid(err)
			}
		}
	}
	merged, err := plan.MergeResults(p, parts...)
	if err != nil {
		return nil, cli.Invalid(err)
	}
	merged.Warnings = append(merged.Warnings, damaged...)
	return merged, nil
}

func readPart(name string) (*plan.Results, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("reading results: %w", err)
	}
	defer f.Close()
	part, err := plan.ReadResults(f)
	if err != nil {
		return nil, fmt.Errorf("results %q: %w", name, err)
	}
	return part, nil
}

// resultFiles returns the files that a name stands for: those of results that
// were found in the folder, or itself.
func resultFiles(name string) (files []string, found bool, err error) {
	if info, err := os.Stat(name); err != nil || !info.IsDir() {
		return []string{name}, false, nil
	}
	err = filepath.WalkDir(name, func(file string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && isResults(file) {
			files = append(files, file)
		}
		return err
	})
	return files, true, err
}

// isResults tells results files from others by their names.
func isResults(name string) bool {
	name = filepath.Base(name)
	return strings.HasPrefix(name, "results") && strings.HasSuffix(name, ".json")
}
