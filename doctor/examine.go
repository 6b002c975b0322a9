package doctor

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/internal/git"
	"github.com/app-sre/prcheck/internal/mask"
	"github.com/app-sre/prcheck/internal/phrase"
	"github.com/app-sre/prcheck/internal/suggest"
	"github.com/app-sre/prcheck/planner"
	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/settings"
	"github.com/app-sre/prcheck/source"
	"github.com/app-sre/prcheck/state"
)

// An Input is the installation that is examined.
type Input struct {
	Dir    string // a folder of the checkout
	Config string // as for planner plan; "" for the default
	Base   string // reference to base; "" if it is to be found
	Open   source.Opener

	State   State
	Getenv  func(string) string
	Secrets []string // values that no finding may show
	InJob   bool     // whether this is a job of GitLab, whose variables name base
	// FindProgram returns an error unless a program is in the PATH.
	FindProgram func(name string) error
	Now         func() time.Time
	Natives     []integration.DryRunner
}

// A State is how the state is reached.
type State struct {
	Place string // "" if there is none
	// Check returns an error if the place cannot be used as a state with these settings, and
	// otherwise a note about which documents count, or "".
	Check func(ctx context.Context, settings source.OpenedSettings, base string) (note string, err error)
	// Open opens the state for writing, without regard to signatures.
	Open func(ctx context.Context) (state.Store, error)
	// SigningKey returns the public key that belongs to the private key of the environment, as
	// settings have it; "" if there is no private key.
	SigningKey func() (string, error)
}

// An examination is the work of Examine.
type examination struct {
	Input
	mask     func(string) string
	found    []Finding
	repo     *git.Repository        // nil if there is no checkout
	settings *source.OpenedSettings // nil if they cannot be read
	ofBase   *source.OpenedSettings // the settings of base; nil if they are not known
	head     *bundle.Bundle         // nil if it cannot be made
	list     []integration.Definition
}

// Examine checks an installation. An error says that the examination was interrupted.
func Examine(ctx context.Context, in Input) (Report, error) {
	e := &examination{Input: in, mask: mask.New(in.Secrets).Text}
	for _, check := range []func(context.Context){
		e.checkGit, e.checkBase, e.checkSettings, e.checkBundle, e.checkDefinitions, e.checkHosts,
		e.checkSchemas, e.checkPrograms, e.checkEnvironment, e.checkVariables, e.checkSkips,
		e.checkState, e.checkKey, e.checkDisk, e.checkGitLab,
	} {
		if check(ctx); ctx.Err() != nil {
			return Report{}, ctx.Err()
		}
	}
	for i, f := range e.found {
		e.found[i].What, e.found[i].Remedy = harmless(f.What, e.mask), harmless(f.Remedy, e.mask)
	}
	return Report{Version: "prcheck/v1", Findings: e.found}, nil
}

func (e *examination) ok(check, what string) {
	e.found = append(e.found, Finding{Check: check, Level: OK, What: what})
}

func (e *examination) warn(check, what, remedy string) {
	e.found = append(e.found, Finding{Check: check, Level: Warn, What: what, Remedy: remedy})
}

func (e *examination) fail(check, what, remedy string) {
	e.found = append(e.found, Finding{Check: check, Level: Fail, What: what, Remedy: remedy})
}

// unreachable notes that something outside did not answer.
func (e *examination) unreachable(check, what, remedy string) {
	e.found = append(e.found, Finding{Check: check, Level: Fail, What: what, Remedy: remedy, Unreachable: true})
}

// checkSettings reads the settings.
func (e *examination) checkSettings(ctx context.Context) {
	name := e.Config
	if name == "" && e.repo != nil {
		name = source.SettingsIn(e.repo.Root())
	}
	rules, err := source.OpenSettings(ctx, name, e.Base)
	if err != nil {
		for line := range strings.Lines(err.Error()) {
			e.fail("settings", line, "docs/settings.md describes every key")
		}
		return
	}
	e.settings = &rules
	if rules.File == "" {
		e.fail("settings", "there is no "+settings.FileName+", so nothing says how to start an integration",
			"run runner init")
		return
	}
	e.ok("settings", rules.File+" can be read")
}

// checkBundle makes the bundle of the working tree.
func (e *examination) checkBundle(ctx context.Context) {
	if e.repo == nil || e.settings == nil {
		return
	}
	head, err := e.Open.With(*e.settings).Bundle(ctx, "dir:"+e.repo.Root(), nil)
	if err != nil {
		first, _, more := strings.Cut(err.Error(), "\n")
		if more {
			first += " (and more; see planner validate --bundle dir:.)"
		}
		e.fail("bundle", "the working tree cannot be bundled: "+first,
			"mend the file, or say under checkout in the settings where the parts of the bundle are")
		return
	}
	e.head = head
	e.ok("bundle", fmt.Sprintf("%s, %s, %s", phrase.Count(len(head.Datafiles()), "datafile"),
		phrase.Count(len(head.Resources()), "resource"), phrase.Count(len(head.JSONSchemas()), "JSON schema")))
	at := e.settings.Checkout()
	if at.Resources != "resources" && !e.hasFolder(at.Resources) {
		e.warn("bundle", fmt.Sprintf("the folder of the resources, %s, is missing, so there are no resources", at.Resources),
			"mend checkout.resources in the settings")
	}
}

func (e *examination) hasFolder(name string) bool {
	info, err := source.Files(e.repo.Root()).Lstat(name)
	return err == nil && info.IsDir()
}

// checkDefinitions looks at the integration definitions, and at whether the settings fit
// them.
func (e *examination) checkDefinitions(context.Context) {
	if e.head == nil {
		return
	}
	list, err := integration.List(e.head, e.settings.Settings)
	if err != nil {
		e.fail("definitions", err.Error(), "")
		return
	}
	read := e.settings.ReadQuery
	if read == nil {
		read = func(string) ([]byte, error) { return nil, os.ErrNotExist }
	}
	if err := planner.Check(planner.Input{Base: e.head, Head: e.head, Settings: e.settings.Settings, Natives: e.Natives,
		ReadQuery: read}); err != nil {
		for line := range strings.Lines(err.Error()) {
			e.fail("definitions", e.shown(line), "")
		}
		if len(list) == 0 {
			return
		}
	}
	for _, d := range list {
		if d.Check != nil && !d.Check.Disabled {
			e.list = append(e.list, d)
		}
	}
	if len(e.list) == 0 {
		e.fail("definitions", fmt.Sprintf("no definition (of %d) has an enabled pr_check, so nothing is ever dry-run",
			len(list)), "write pr_check.cmd into the definitions of the integrations that are to be checked")
		return
	}
	e.ok("definitions", fmt.Sprintf("%s, %d of them dry-run", phrase.Count(len(list), "integration"), len(e.list)))
}

// shown returns a message without the folder of the checkout.
func (e *examination) shown(text string) string {
	return strings.ReplaceAll(text, e.repo.Root()+string(os.PathSeparator), "")
}

// maxEdits is how different from a schema another one may be that is suggested for it.
const maxEdits = 6

// checkSchemas looks for schemas whose datafiles no integration may read, and for schemas
// that definitions allow although they do not exist.
func (e *examination) checkSchemas(context.Context) {
	if len(e.list) == 0 {
		return
	}
	allowed := map[bundle.SchemaPath]bool{e.settings.DefinitionSchema(): true}
	for _, d := range e.list {
		if d.Check.Unenforced {
			e.ok("schemas", "an integration may read the datafiles of all schemas, since its definition says "+
				"no_validate_schemas")
			return
		}
		for _, s := range d.Schemas {
			allowed[s] = true
		}
	}
	var unread, known []string
	for _, f := range e.head.Datafiles() {
		known = append(known, string(f.Schema))
		if !allowed[f.Schema] {
			unread = append(unread, string(f.Schema))
		}
	}
	for _, f := range e.head.JSONSchemas() {
		known = append(known, string(f.Path))
	}
	unread, known = sortedSet(unread), sortedSet(known)
	if len(unread) > 0 {
		e.warn("schemas", fmt.Sprintf("no integration that is dry-run may read the datafiles of %s: %s",
			phrase.Count(len(unread), "schema"), list(unread)),
			"a change of them starts nothing; if an integration reads them, add them to schemas of its definition")
	}
	misspelt := e.misspelt(allowed, known)
	if len(misspelt) > 0 {
		e.warn("schemas", fmt.Sprintf("definitions allow schemas that do not exist: %s", list(misspelt)),
			"mend or remove them")
	}
	if len(unread)+len(misspelt) == 0 {
		e.ok("schemas", "every schema with datafiles is read by some integration")
	}
}

// misspelt returns the allowed schemas that do not exist, with the nearest one that does.
func (e *examination) misspelt(allowed map[bundle.SchemaPath]bool, known []string) []string {
	var out []string
	for s := range allowed {
		if slices.Contains(known, string(s)) || slices.Contains(integration.RequiredSchemas(), s) {
			continue
		}
		said := string(s)
		if near := suggest.Words(said, known, maxEdits); len(near) > 0 {
			said += " (is " + near[0] + " meant?)"
		}
		out = append(out, said)
	}
	return sortedSet(out)
}

func sortedSet(names []string) []string {
	slices.Sort(names)
	return slices.Compact(names)
}

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

// checkGit looks for git and the checkout.
func (e *examination) checkGit(ctx context.Context) {
	repo, err := git.FindRepository(ctx, e.Dir)
	if err != nil {
		e.fail("git", err.Error(), "")
		return
	}
	e.repo = repo
	if _, _, err := repo.Head(ctx); err != nil {
		e.fail("git", err.Error(), "")
		return
	}
	if repo.IsShallow(ctx) {
		e.warn("git", "the clone is shallow, so commits that a check compares with may be missing",
			"run git fetch --unshallow; in GitLab set GIT_DEPTH: 0, or let planner plan fetch the commit of base")
		return
	}
	e.ok("git", "a checkout with its whole history")
}

// checkBase finds the commit that a change is compared with, and the settings in it.
func (e *examination) checkBase(ctx context.Context) {
	if e.repo == nil {
		return
	}
	if e.Base == "" {
		local, err := source.FindLocalChange(ctx, e.repo.Root())
		if err != nil {
			return // checkGit told it
		}
		commit, target, err := local.Base(ctx)
		if err != nil {
			e.fail("base", err.Error(), "")
			return
		}
		e.Base = source.RevisionOf(e.repo, commit)
		e.ok("base", "changes are compared with where they left "+target+", "+git.Short(commit))
	}
	found, err := source.OpenSettings(ctx, settings.FromBase+settings.FileName, e.Base)
	switch {
	case err != nil:
		e.fail("base", "the settings of base cannot be used: "+err.Error(), "mend them in a merge request of their own")
	case found.Revision != nil && found.Revision.Missing:
		e.warn("base", "base has no "+settings.FileName+", so a job starts nothing yet",
			"merge the settings first: a merge request is always checked by the settings of base")
	default:
		if e.InJob {
			e.ok("base", "the settings of base, "+git.Short(found.Revision.Commit)+", can be read")
		}
		e.ofBase = &found
	}
}

// checkEnvironment looks for folders that git ignores and that programs often need. A task on base
// has them only if the settings say so.
func (e *examination) checkEnvironment(ctx context.Context) {
	uses := func(d integration.Definition) bool {
		return !e.isNative(d.Name) && !e.settings.For(d.Name).Programs.None
	}
	if e.repo == nil || !slices.ContainsFunc(e.list, uses) || len(e.settings.Prepare()) > 0 {
		return
	}
	built, err := source.FindBuilt(ctx, e.repo.Root())
	if err != nil {
		e.fail("environment", err.Error(), "")
		return
	}
	declared := e.settings.Environment()
	built = slices.DeleteFunc(built, func(name string) bool {
		return slices.ContainsFunc(declared, func(d string) bool { return name == d || strings.HasPrefix(name, d+"/") })
	})
	if len(built) == 0 {
		return
	}
	suggested := strings.Join(append(declared, built[:min(len(built), maxNames)]...), ", ")
	e.warn("environment", fmt.Sprintf("git ignores %s, so tasks on base do not have %s", list(built), pronoun(built)),
		fmt.Sprintf("if programs need %s, add to the settings: environment: [%s]; or prepare (docs/input.md)", pronoun(built),
			suggested))
}

// pronoun stands for some names in a sentence.
func pronoun(names []string) string {
	if len(names) == 1 {
		return "it"
	}
	return "them"
}
