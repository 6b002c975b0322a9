package setup

import (
	"io/fs"
	"slices"
	"strings"

	reconcile "github.com/app-sre/prcheck/examples/qontract-reconcile"
	"github.com/app-sre/prcheck/internal/lazyregexp"
	"github.com/app-sre/prcheck/settings"
)

// shippedText returns the settings for qontract-reconcile. They are a part of the program.
func shippedText() string {
	raw, err := fs.ReadFile(reconcile.Files, settings.FileName)
	if err != nil {
		panic(err) // it is embedded
	}
	return string(raw)
}

// shippedNames returns the integrations that the settings for qontract-reconcile know.
func shippedNames() map[string]bool {
	s, err := settings.Read(settings.FileName, []byte(shippedText()))
	if err != nil {
		panic(err) // a test reads the file, too
	}
	names := map[string]bool{}
	for _, name := range s.Names() {
		names[name] = true
	}
	return names
}

// reconcileText returns the settings for qontract-reconcile with those integrations that a
// repository defines, since a name that no bundle defines is a mistake. The text begins with
// head.
func reconcileText(head string, defined map[string]bool) string {
	_, body, _ := strings.Cut(shippedText(), "\nversion: 1\n")
	var out []string
	for _, s := range splitSections(strings.Split(strings.TrimSuffix(body, "\n"), "\n")) {
		switch s.key {
		case "paths":
			s.lines = keepRules(s.lines, defined)
		case "integrations":
			s.lines = keepEntries(s.lines, defined)
		}
		out = append(append(out, s.before...), s.lines...)
	}
	return head + "version: 1\n" + strings.Join(out, "\n") + "\n"
}

// A section is a key at the top of a settings file with everything that belongs to it.
type section struct {
	key    string
	before []string // blank lines and comments before the key
	lines  []string
}

// splitSections divides lines into sections. What stands before the first key belongs to it.
func splitSections(lines []string) []section {
	var out []section
	var before []string
	for _, line := range lines {
		switch isComment := strings.HasPrefix(line, "#"); {
		case line == "" || isComment:
			before = append(before, line)
		case strings.HasPrefix(line, " ") && len(out) > 0:
			last := &out[len(out)-1]
			last.lines, before = append(append(last.lines, before...), line), nil
		default:
			key, _, _ := strings.Cut(line, ":")
			out, before = append(out, section{key, before, []string{line}}), nil
		}
	}
	if len(out) > 0 {
		out[len(out)-1].lines = append(out[len(out)-1].lines, before...)
	}
	return out
}

var ruleLine = lazyregexp.New(`^    - \{when: .*, run: \[([^]]*)\]\}`)

// keepRules leaves out the rules of paths.select that run an integration that is not defined.
// Without a rule, the key and the comment before it go, too.
func keepRules(lines []string, defined map[string]bool) []string {
	isForeign := func(name string) bool { return !defined[strings.TrimSpace(name)] }
	out := slices.DeleteFunc(slices.Clone(lines), func(line string) bool {
		m := ruleLine.FindStringSubmatch(line)
		return m != nil && slices.ContainsFunc(strings.Split(m[1], ","), isForeign)
	})
	last := len(out) - 1
	if strings.TrimSpace(out[last]) != "select:" {
		return out
	}
	for last > 0 && strings.HasPrefix(strings.TrimSpace(out[last-1]), "#") {
		last--
	}
	return out[:last]
}

var entryLine = lazyregexp.New(`^  ([A-Za-z0-9_-]+):(.*)$`)

// keepEntries leaves out the integrations that are not defined. A comment goes with the entry
// that follows it; one before entries of one line each stays while one of them does.
func keepEntries(lines []string, defined map[string]bool) []string {
	out := []string{lines[0]}
	var before []string
	keep := false
	for _, line := range lines[1:] {
		entry := entryLine.FindStringSubmatch(line)
		switch {
		case line == "" || strings.HasPrefix(line, "  #"):
			before = append(before, line)
		case entry == nil:
			if keep {
				out = append(out, line)
			}
		case defined[entry[1]]:
			out, before, keep = append(append(out, before...), line), nil, true
		default:
			keep = false
			if entry[2] == "" {
				before = nil
			}
		}
	}
	return out
}
