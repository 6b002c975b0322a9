package rules

import (
	"io/fs"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/plan"
)

// An Origin says where settings are read from.
type Origin struct {
	Name     string // a file on disk, or a path in the repository when FromBase is set
	FromBase bool   // the settings are those of base's revision
}

// A Job is a job of GitLab that has head checked out, and whose settings are looked for.
type Job struct {
	Base, Head string // hashes of commits
	// Lstat describes a file on disk, and not where a link leads.
	Lstat func(name string) (fs.FileInfo, error)
	// PathOf returns the path in the repository of a file on disk, and whether it lies there.
	PathOf func(name string) (path string, inside bool)
	// HasPath reports whether one of some commits has a path.
	HasPath func(path string, commits ...string) (bool, error)
}

// Settings returns where the settings of the job's plan are read from, given the name that
// the user gave, "" for none. A file of the repository is taken from base, since head may
// have changed it. A file that neither side has was put there by the job, so it is read from
// disk, and so is a file outside of the repository.
func (j Job) Settings(name string) (Origin, error) {
	if name == "" {
		return j.usualSettings()
	}
	file, inside := j.PathOf(name)
	if !inside {
		return Origin{Name: name}, nil
	}
	if info, err := j.Lstat(name); err != nil || !info.Mode().IsRegular() {
		return Origin{file, true}, nil
	}
	known, err := j.HasPath(file, j.Base, j.Head)
	if known {
		return Origin{file, true}, err
	}
	return Origin{Name: name}, err
}

// usualSettings returns where the settings are read from when the user names none: base's of
// the current folder, or else base's at the root of the repository. Outside of the
// repository it is a file in the current folder.
func (j Job) usualSettings() (Origin, error) {
	file, inside := j.PathOf(integration.SettingsName)
	if _, err := j.Lstat(integration.SettingsName); !inside && err == nil {
		return Origin{Name: integration.SettingsName}, nil
	}
	if known, err := j.HasPath(file, j.Base); inside && known || err != nil {
		return Origin{file, true}, err
	}
	return Origin{integration.SettingsName, true}, nil
}

// SettingsOfPlan returns the settings that a plan was made with: those that the user names,
// or else those of the usual file when they have the plan's digest, or else those of the
// plan's base. open reads the settings of an origin; its name is "" for the usual file.
// When none have the plan's digest, the result is that of the first attempt.
func SettingsOfPlan[S interface{ Digest() string }](p *plan.Plan, name string, open func(Origin) (S, error)) (S, error) {
	first, err := open(Origin{Name: name})
	if name != "" || err == nil && first.Digest() == p.Config {
		return first, err
	}
	if base, trouble := open(Origin{integration.SettingsName, true}); trouble == nil && base.Digest() == p.Config {
		return base, nil
	}
	return first, err
}
