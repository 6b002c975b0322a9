package settings

import "path/filepath"

// FileName is the name of the settings file that is read when the user names none.
const FileName = "prcheck.yaml"

// FromBase begins the name of settings that are read from the revision that base names. For
// example, base:ci/prcheck.yaml is the file ci/prcheck.yaml of that revision.
const FromBase = "base:"

// Folder returns the folder of the settings file, in which its query files lie and tasks
// start; the current folder for settings of no file.
func (s *Settings) Folder() string {
	if s.File == "" {
		return "."
	}
	return filepath.Dir(filepath.FromSlash(s.File))
}
