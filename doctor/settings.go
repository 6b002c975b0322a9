package doctor

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/internal/phrase"
	"github.com/app-sre/prcheck/internal/suggest"
	"github.com/app-sre/prcheck/planner"
	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/settings"
	"github.com/app-sre/prcheck/source"
)

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
