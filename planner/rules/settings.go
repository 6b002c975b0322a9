package rules

import (
	"io/fs"
	"strings"

	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/settings"
)

// A JobCheckout is a job of GitLab that has head checked out, and whose settings are looked for.
type JobCheckout struct {
	Base, Head string // hashes of commits
	// Lstat describes a file on disk, and not where a link leads.
	Lstat func(name string) (fs.FileInfo, error)
	// PathOf returns the path in the repository of a file on disk, and whether it lies there.
	PathOf func(name string) (path string, inside bool)
	// HasPath reports whether one of some commits has a path.
	HasPath func(path string, commits ...string) (bool, error)
}

// Settings returns the name of the settings of the job's plan, given the name that the user
// gave, "" for none. Settings of a revision, base:PATH or git:REV:PATH, stay as they are. A file of the repository is
// taken from base, since head may have changed it. A file that neither side has was put there by the job, so it is read
// from disk, and so is a file outside of the repository.
func (j JobCheckout) Settings(name string) (string, error) {
	switch {
	case name == "":
		return j.usualSettings()
	case strings.HasPrefix(name, settings.FromBase), strings.HasPrefix(name, "git:"):
		return name, nil
	}
	file, inside := j.PathOf(name)
	if !inside {
		return name, nil
	}
	if info, err := j.Lstat(name); err != nil || !info.Mode().IsRegular() {
		return settings.FromBase + file, nil
	}
	known, err := j.HasPath(file, j.Base, j.Head)
	if known {
		return settings.FromBase + file, err
	}
	return name, err
}

// usualSettings returns the name of the settings when the user names none: base's of the
// current folder, or else base's at the root of the repository. Outside of the repository it
// is a file in the current folder.
func (j JobCheckout) usualSettings() (string, error) {
	file, inside := j.PathOf(settings.FileName)
	if _, err := j.Lstat(settings.FileName); !inside && err == nil {
		return settings.FileName, nil
	}
	if known, err := j.HasPath(file, j.Base); inside && known || err != nil {
		return settings.FromBase + file, err
	}
	return settings.FromBase + settings.FileName, nil
}

// SettingsOfPlan returns the settings that a plan was made with: those that the user names,
// or else those of the usual file when they have the plan's digest, or else those of the
// plan's base. open reads the settings of a name, "" for the usual file. When none have the plan's digest, the result
// is that of the first attempt.
func SettingsOfPlan[S interface{ Digest() string }](p *plan.Plan, name string,
	open func(name string) (S, error)) (S, error) {
	first, err := open(name)
	if name != "" || err == nil && first.Digest() == p.Config {
		return first, err
	}
	if base, trouble := open(settings.FromBase + settings.FileName); trouble == nil && base.Digest() == p.Config {
		return base, nil
	}
	return first, err
}
