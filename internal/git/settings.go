package git

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// Settings are the settings of a repository that decide about bytes and modes of files.
type Settings struct {
	IgnoresModes bool     // core.fileMode is false: modes are those of the index
	HasNoLinks   bool     // core.symlinks is false: links are files with the text of the link
	AutoCRLF     string   // core.autocrlf, "" when it is false
	EOL          string   // core.eol
	Attributes   string   // core.attributesFile
	Filters      []string // names of filters that have a program for checkouts
}

// ReadSettings reads the settings of a repository.
func ReadSettings(ctx context.Context, dir string) (Settings, error) {
	return pinned(ctx, "settings", dir, "", func() (Settings, error) { return readSettings(ctx, dir) })
}

// readSettings asks git for the settings.
func readSettings(ctx context.Context, dir string) (Settings, error) {
	var s Settings
	out, err := run(ctx, dir, "config", "-z", "--get-regexp",
		`^(core\.(filemode|symlinks|autocrlf|eol|attributesfile)|filter\..*\.(smudge|process))$`)
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == 1 { // it has none of them
		return s, nil
	}
	for _, line := range splitZero(out) {
		name, value, hasValue := strings.Cut(line, "\n")
		isFalse := hasValue && isFalse(value)
		switch name {
		case "core.filemode":
			s.IgnoresModes = isFalse
		case "core.symlinks":
			s.HasNoLinks = isFalse
		case "core.autocrlf":
			if s.AutoCRLF = strings.ToLower(value); isFalse {
				s.AutoCRLF = ""
			} else if s.AutoCRLF != "input" {
				s.AutoCRLF = "true"
			}
		case "core.eol":
			s.EOL = strings.ToLower(value)
		case "core.attributesfile":
			s.Attributes = value
		default:
			filter := strings.TrimPrefix(name, "filter.")
			s.Filters = append(s.Filters, filter[:strings.LastIndexByte(filter, '.')])
		}
	}
	slices.Sort(s.Filters)
	s.Filters = slices.Compact(s.Filters)
	return s, err
}

// isFalse reports whether git takes a value for false.
func isFalse(value string) bool {
	switch strings.ToLower(value) {
	case "", "false", "no", "off", "0":
		return true
	}
	return false
}

// isFolder reports whether there is a folder of that name, and no link to one.
func isFolder(name string) bool {
	info, err := os.Lstat(name)
	return err == nil && info.IsDir()
}

// Folders returns the folder of a working tree's own git files, and the one that it shares with others: the same,
// unless it is a linked working tree.
func Folders(ctx context.Context, dir string) (own, common string, err error) {
	out, err := pinned(ctx, "git folders", dir, "", func() ([]byte, error) {
		return run(ctx, dir, "rev-parse", "--absolute-git-dir", "--git-common-dir")
	})
	if err != nil {
		return "", "", err
	}
	own, common, _ = strings.Cut(strings.TrimSuffix(string(out), "\n"), "\n")
	if own == "" || common == "" || strings.Contains(common, "\n") {
		return "", "", errors.New("the name of the git folder has a line break: rename it")
	}
	if !filepath.IsAbs(common) {
		common = filepath.Join(dir, common)
	}
	return own, common, nil
}
