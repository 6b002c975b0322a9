package doctor

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/internal/phrase"
	"github.com/app-sre/prcheck/settings"
)

// checkPrograms looks for the programs that tasks start.
func (e *examination) checkPrograms(context.Context) {
	if len(e.list) == 0 || e.settings.File == "" {
		return
	}
	users := map[string]string{} // a program that is not here, and an integration that starts it
	var unknown, silent []string
	for _, d := range e.list {
		program := e.programOf(d.Name, d.Check.Cmd)
		switch {
		case e.isNative(d.Name): // it runs within the program
		case program == "":
			silent = append(silent, d.Name)
		case strings.Contains(program, "{"): // it is known only when the task starts
		case e.hasProgram(program):
		case users[program] == "":
			users[program], unknown = d.Name, append(unknown, program)
		}
	}
	if len(silent) > 0 {
		e.fail("programs", fmt.Sprintf("nothing says what to start for %s: %s", phrase.Count(len(silent), "integration"),
			list(silent)),
			"set exec.argv in the settings, and pr_check.cmd in the definition where argv has {cmd}")
	}
	if len(unknown) > 0 {
		e.fail("programs", fmt.Sprintf("not in PATH here: %s (%s)", list(unknown), "started for "+users[unknown[0]]),
			"install them where tasks run; if that is another machine or image, run planner doctor there")
	}
	if len(silent)+len(unknown) == 0 {
		e.ok("programs", "the programs of all integrations are here")
	}
}

// checkVariables looks for the variables of the environment that commands are filled in with.
func (e *examination) checkVariables(context.Context) {
	var unset []string
	for _, d := range e.list {
		if e.isNative(d.Name) {
			continue
		}
		exec := e.settings.For(d.Name).Exec
		texts := append([]string{exec.Config}, exec.Argv...)
		for _, value := range exec.Env {
			texts = append(texts, value)
		}
		for _, name := range settings.EnvPlaceholderNames(texts...) {
			if e.Getenv(name) == "" {
				unset = append(unset, name)
			}
		}
	}
	if unset = sortedSet(unset); len(unset) > 0 {
		e.fail("variables", fmt.Sprintf("the settings fill in variables that are not set here: %s", list(unset)),
			"without them tasks fail with the class config; set them where tasks run")
	}
}

// isNative reports whether an integration is part of the program.
func (e *examination) isNative(name string) bool {
	_, is := integration.FindNative(e.Natives, e.settings.For(name))
	return is
}

// programOf returns the first word of the command of a task, "" if there is none.
func (e *examination) programOf(name, cmd string) string {
	argv := e.settings.For(name).Exec.Argv
	if len(argv) == 0 {
		return ""
	}
	if argv[0] != "{cmd}" {
		return strings.ReplaceAll(argv[0], "{name}", name)
	}
	if words := strings.Fields(cmd); len(words) > 0 {
		return words[0]
	}
	return ""
}

// hasProgram reports whether a task can start a program. A path starts in the folder of the
// settings.
func (e *examination) hasProgram(program string) bool {
	if !strings.ContainsRune(program, '/') {
		return e.FindProgram(program) == nil
	}
	if !filepath.IsAbs(program) {
		program = filepath.Join(e.settings.Folder(), filepath.FromSlash(program))
	}
	info, err := os.Stat(program)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}
