package parts

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/app-sre/prcheck/internal/cli"
	"github.com/app-sre/prcheck/internal/safepath"
	"github.com/app-sre/prcheck/plan"
)

// Read reads the results of all parts of a plan and merges them. Each name is a file of
// results, or a folder that contains files results*.json.
//
// A file that is named must be readable. A file that was found in a folder and cannot
// be read is a warning in the merged results; the tasks of its part have failed.
func Read(p *plan.Plan, names []string) (*plan.Results, error) {
	if len(names) == 0 {
		return nil, cli.Usage(errors.New("--results is required: the files that runner run wrote"))
	}
	var all []*plan.Results
	var damaged []string
	for _, name := range names {
		files, inFolder, err := filesOf(name)
		if err != nil {
			return nil, cli.Invalid(fmt.Errorf("looking for results: %w", err))
		}
		for _, file := range files {
			part, err := readFile(file)
			switch {
			case err == nil:
				all = append(all, part)
			case inFolder:
				damaged = append(damaged, err.Error())
			default:
				return nil, cli.Invalid(err)
			}
		}
	}
	merged, err := plan.MergeResults(p, all...)
	if err != nil {
		return nil, cli.Invalid(err)
	}
	merged.Warnings = append(merged.Warnings, damaged...)
	return merged, nil
}

// readFile reads one file of results.
func readFile(name string) (*plan.Results, error) {
	f, err := safepath.Open(name)
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

// filesOf returns the files that a name stands for: the name itself, or the files of
// results in the folder of that name.
func filesOf(name string) (files []string, inFolder bool, err error) {
	if info, err := safepath.Stat(name); err != nil || !info.IsDir() {
		return []string{name}, false, nil
	}
	err = filepath.WalkDir(name, func(file string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && IsFile(file) {
			files = append(files, file)
		}
		return err
	})
	return files, true, err
}

// IsFile reports whether a file is named like a file of results: results*.json.
func IsFile(name string) bool {
	name = filepath.Base(name)
	return strings.HasPrefix(name, "results") && strings.HasSuffix(name, ".json")
}
