package rules

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/settings"
	"github.com/app-sre/prcheck/world"
)

// Edits are the changes that head makes to the rules by which it is planned: to settings,
// queries, programs and CI files. The zero value has none.
type Edits struct {
	Notes []string // warnings for the reader of the plan
	// Of returns the edits that concern an integration, which then runs in full.
	Of func(integration string) []string
	// Files returns those of them that are edits of files which its command may use. Earlier runs
	// may show that it does not read them. Nil: there are none.
	Files func(integration string) []string
	// Unread reports whether nobody knows yet which files an integration reads, although its command
	// may use files of the repository, and some of these changed. Nil: that is known of all.
	Unread func(integration string) bool
}

// OnlyFiles reports whether some edits of an integration are all edits of files.
func (e Edits) OnlyFiles(integration string, edits []string) bool {
	if e.Files == nil || len(edits) == 0 {
		return len(edits) == 0
	}
	known := e.Files(integration)
	return !slices.ContainsFunc(edits, func(edit string) bool { return !slices.Contains(known, edit) })
}

// SideSettings are the settings of a plan and where they come from: base, head's own files, or
// outside of the repository.
type SideSettings struct {
	*settings.Settings
	Path    string // in the repository; "" when they are not those of a revision
	Commit  string // the revision
	Missing bool   // the revision has no such file, so the settings say nothing
	// Own is the name of the file on disk that they were read from, "" when they are those of a
	// revision or an object. A file of the repository is head's.
	Own string
}

// A Comparison is what differs between base and head, which are both of one repository.
type Comparison struct {
	Changed []string // paths of the repository that differ
	// ReadBase and ReadHead return the text of a file of the repository. The error is
	// [fs.ErrNotExist] when there is no such file.
	ReadBase, ReadHead func(path string) ([]byte, error)
	// PathOf returns the path in the repository of a file on disk, and whether it lies there.
	PathOf func(name string) (path string, inside bool)
	// New and Gone are those of them that only head has, and only base.
	New, Gone map[string]bool
	// Head returns the files of head. It is called when a command may live in the repository; nil:
	// they are not known.
	Head func() (*world.Tree, error)
	// Behind returns, for each file of either side, the paths that lead to it through links. ok is
	// false when they are not all known. Nil: there are no links.
	Behind func() (paths map[string][]string, ok bool, err error)
}

// An Input is what edits are found in.
type Input struct {
	Settings SideSettings
	InJob    bool // the settings are those of a job of GitLab
	// IsData reports whether a path of the repository is a part of the bundles, or the
	// settings, so that it is no program.
	IsData func(path string) bool
	CIFile string // the project's CI file in the repository; "" when it is not known
	// Compare compares base and head. The result is nil when they are not both of one
	// repository.
	Compare func() (*Comparison, error)
	// Named returns the paths of files and links of either side that the words of the command of an
	// integration name; nil: that is not known.
	Named   func(integration string) []string
	Natives []integration.DryRunner // they read no files of the repository
	// Reads returns which files the runs of an integration read; nil: that is not known.
	Reads func(integration string) Reads
	// CanPlan tells why no plan can be made of head with these settings; nil when it can.
	CanPlan func(head *settings.Settings, readQuery func(path string) ([]byte, error)) error
}

// FindEdits finds what head edits of the rules by which it is planned, if base and head are
// both of one checkout. The rules are those of base, or head's own: then base's are what they
// are compared with.
func FindEdits(in Input) (Edits, error) {
	c, err := in.Compare()
	if err != nil {
		return Edits{}, err
	}
	if c == nil {
		if in.Settings.Path == "" && !in.InJob {
			return Edits{}, nil
		}
		return Edits{Notes: []string{"whether head edits the rules that it is planned by is not known, since base and head " +
			"are not both of one checkout"}}, nil
	}
	f := finder{Input: in, Comparison: *c, changed: map[string]bool{}, paths: slices.Sorted(slices.Values(c.Changed)),
		programs: map[string]*program{}}
	for _, p := range f.paths {
		f.changed[p] = true
	}
	if err := f.followLinks(); err != nil {
		return Edits{}, err
	}
	if own, isOwn := f.ownSettings(); isOwn {
		f.Settings.Path = own
		f.compareOwnSettings()
	} else if in.Settings.Path != "" {
		f.compareSettings()
		if f.other != nil {
			f.checkMerged()
		}
	}
	f.findCIFiles()
	files := func(name string) []string { return f.changedPrograms(f.Settings.For(name)) }
	unread := func(name string) bool { return f.isUnread(f.Settings.For(name)) }
	return Edits{Notes: f.notes, Of: f.editsOf, Files: files, Unread: unread}, nil
}

// ownSettings returns the path of head's own settings in the repository, and whether the
// settings are head's own. A file that a job made is not of head.
func (f *finder) ownSettings() (path string, isOwn bool) {
	if f.Settings.Path != "" || f.Settings.Own == "" {
		return "", false
	}
	path, inside := f.PathOf(f.Settings.Own)
	if !inside {
		return "", false
	}
	_, err := f.ReadHead(path)
	return path, err == nil
}

// A finder gathers edits.
type finder struct {
	Input
	Comparison
	changed map[string]bool     // paths of the repository
	paths   []string            // the same, sorted
	behind  map[string][]string // for changed paths, those that lead there through links
	unsure  bool                // links may lead to any changed path
	// programs are the programs of integrations, see programOf.
	programs map[string]*program
	other    *settings.Settings // those of the other side; nil when it has none, or they cannot be read
	general  []string           // edits that concern every integration
	notes    []string
}

func (f *finder) note(format string, args ...any) {
	f.notes = append(f.notes, fmt.Sprintf(format, args...))
}

// compareSettings compares head's settings file with base's.
func (f *finder) compareSettings() {
	base := f.Settings
	if base.Missing {
		f.note("base %s has no %s, so nothing can be started; until it is merged, give settings from outside of the "+
			"repository with --config FILE", short(base.Commit), base.Path)
	}
	raw, err := f.ReadHead(base.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if !base.Missing {
			f.note("head removes %s: the plan follows base's, and everything runs in full", base.Path)
			f.general = append(f.general, base.Path+", which head removes")
		}
		return
	case err == nil && base.Missing:
		f.general = append(f.general, base.Path+", which head adds")
		return
	case err == nil:
		f.other, err = settings.Read(base.Path, raw)
	}
	switch {
	case err != nil:
		f.other = nil
		first, _, _ := strings.Cut(err.Error(), "\n")
		f.note("head's %s cannot be read, so everything runs in full by base's: %s", base.Path, first)
		f.general = append(f.general, base.Path+", which cannot be read on head")
	case f.other.Digest() != base.Digest():
		f.note("head edits %s: the plan follows base's, and what the edit concerns runs in full", base.Path)
	}
}

// compareOwnSettings compares base's settings file with head's, which are those of the plan.
func (f *finder) compareOwnSettings() {
	name := f.Settings.Path
	raw, err := f.ReadBase(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		f.general = append(f.general, name+", which head adds")
		return
	case err == nil:
		f.other, err = settings.Read(name, raw)
	}
	if err != nil {
		f.other = nil
		f.general = append(f.general, name+", which cannot be read on base")
	} else if f.other.Digest() != f.Settings.Digest() {
		f.note("head edits %s: what the edit concerns runs in full", name)
	}
}

// checkMerged notes when no plan could be made any more once head is merged.
func (f *finder) checkMerged() {
	err := f.CanPlan(f.other, func(name string) ([]byte, error) { return f.ReadHead(f.besideSettings(name)) })
	if err != nil {
		f.note("once head is merged no plan can be made: %v", err)
		f.general = append(f.general, f.Settings.Path+", with which no plan can be made on head")
	}
}

// besideSettings returns the path in the repository of a file that the settings name.
func (f *finder) besideSettings(name string) string {
	return path.Join(path.Dir(f.Settings.Path), name)
}

// editsOf lists the edits that concern one integration.
func (f *finder) editsOf(name string) []string {
	out := slices.Clone(f.general)
	if f.other != nil {
		for _, key := range f.Settings.DifferingKeys(f.other, name) {
			out = append(out, key+" in "+f.Settings.Path)
		}
	}
	it := f.Settings.For(name)
	for _, q := range it.Queries {
		if p := f.besideSettings(q.Path); f.Settings.Path != "" && f.changed[p] {
			out = append(out, printable(p))
		}
	}
	return append(out, f.changedPrograms(it)...)
}

// maxPrograms bounds how many edited programs of an integration are named.
const maxPrograms = 3

// followLinks finds the paths that lead to files through links, on either side.
func (f *finder) followLinks() error {
	if f.Behind == nil || len(f.paths) == 0 {
		return nil
	}
	paths, ok, err := f.Behind()
	f.behind, f.unsure = paths, !ok
	return err
}

// changedPrograms lists the changed files that the command of an integration may use. The
// command starts with them as head has them.
func (f *finder) changedPrograms(it settings.Integration) []string {
	var out []string
	more := 0
	if it.Reads == settings.ReadsStrict && f.isUnread(it) {
		out = append(out, "files that nobody has recorded yet (reads: strict)")
	}
	for _, p := range f.paths {
		switch {
		case len(it.Exec.Argv) == 0 || !f.mayUse(it, p) || f.isQuery(it, p):
		case len(out) == maxPrograms:
			more++
		default:
			out = append(out, printable(p)+", which its command may use as head has it")
		}
	}
	if more > 0 {
		out = append(out, fmt.Sprintf("%d more files that its command may use", more))
	}
	return out
}

// isQuery reports whether a path is that of a query file of an integration.
func (f *finder) isQuery(it settings.Integration, p string) bool {
	return slices.ContainsFunc(it.Queries, func(q settings.QueryFile) bool { return f.besideSettings(q.Path) == p })
}

// printable returns a path of head as it can stand in a sentence.
func printable(p string) string {
	if quoted := strconv.Quote(p); quoted != `"`+p+`"` || strings.Contains(p, ", ") {
		return quoted
	}
	return p
}

// short returns the first digits of a commit's hash, for people.
func short(commit string) string { return commit[:min(len(commit), 12)] }

// Reads are the files that runs of an integration read, as they are remembered.
type Reads struct {
	// Paths are those of files, sorted; that of a folder that was listed has a slash at its end.
	Paths []string
	// All tells that more files were read than are remembered.
	All bool
}

// isRecorded reports whether any run was recorded.
func (r Reads) isRecorded() bool { return r.All || len(r.Paths) > 0 }

// has reports whether a path was read.
func (r Reads) has(at string) bool {
	_, ok := slices.BinarySearch(r.Paths, at)
	return ok
}

// reads returns what is remembered of an integration.
func (f *finder) reads(name string) Reads {
	if f.Reads == nil {
		return Reads{}
	}
	return f.Reads(name)
}

// mayRead reports whether runs have shown that an integration reads a changed path: the file
// itself, or the names in a folder that it adds to or takes from.
func (f *finder) mayRead(r Reads, p string) bool {
	if r.All || r.has(p) {
		return true
	}
	return slices.ContainsFunc(f.listings(p), func(folder string) bool { return r.has(folder + "/") })
}

// listings returns the folders whose names may differ because a changed path is only on one side:
// its folder, and those above it, in which its folder may be new.
func (f *finder) listings(p string) []string {
	var out []string
	for at := p; (f.New[p] || f.Gone[p]) && at != "."; {
		at = path.Dir(at)
		out = append(out, at)
	}
	return out
}

// isUnread reports whether nobody knows which files an integration reads, although its command
// may use files of the repository, and some of these changed.
func (f *finder) isUnread(it settings.Integration) bool {
	if _, isNative := integration.FindNative(f.Natives, it); isNative {
		return false
	}
	return len(f.paths) > 0 && len(it.Exec.Argv) > 0 && !it.Programs.None && !f.reads(it.Name).isRecorded()
}

// mayUse reports whether the command of an integration may use a changed file: by its own path,
// or by one that leads there through a link. A pattern that names a file of the data makes it a
// program, and so does a run that has read it. As long as no run was recorded, the texts of a
// program that lives in the repository tell whether it may find a new file, or open a file of the
// data.
func (f *finder) mayUse(it settings.Integration, p string) bool {
	r := f.reads(it.Name)
	if f.mayRead(r, p) {
		return true
	}
	isNamed := it.Programs.Globs != nil
	isIncluded := func(path string) bool { return it.Programs.Include(path) && (isNamed || !f.IsData(path)) }
	if f.unsure && !it.Programs.None || slices.ContainsFunc(f.behind[p], isIncluded) {
		return true
	}
	if !isNamed && !it.Programs.None && !r.isRecorded() && f.isWord(it.Name, p) {
		return true
	}
	known := f.programOf(it.Name)
	switch {
	case isIncluded(p):
		return isNamed || known == nil || r.isRecorded() || !f.New[p] || known.mayReach(p)
	case it.Programs.None || isNamed || known == nil || r.isRecorded() || !f.IsData(p) || p == f.Settings.Path:
		return false
	}
	return known.mayOpen(p)
}

// isWord reports whether a word of the command of an integration names a changed file: by its own
// path, or by one that leads there through a link.
func (f *finder) isWord(name, p string) bool {
	if f.Named == nil {
		return false
	}
	named := f.Named(name)
	return slices.Contains(named, p) || slices.ContainsFunc(f.behind[p], func(at string) bool {
		return slices.Contains(named, at)
	})
}

// maxCIFiles bounds how many edited CI files are named.
const maxCIFiles = 5

// usualCIFile is the CI file of a project that names none.
const usualCIFile = ".gitlab-ci.yml"

// findCIFiles notes the CI files that head edits. They cannot change what is planned, but
// they decide whether anything is planned at all, so everything runs in full.
func (f *finder) findCIFiles() {
	mentioned := f.mentionedByCI(cmp.Or(f.CIFile, usualCIFile))
	var edited []string
	for p := range f.changed {
		if p == f.CIFile || mentioned[p] || f.Settings.IsCIFile(p) || f.other != nil && f.other.IsCIFile(p) {
			edited = append(edited, printable(p))
		}
	}
	if len(edited) == 0 {
		return
	}
	slices.Sort(edited)
	f.general = append(f.general, edited[0])
	if n := len(edited) - maxCIFiles; n > 0 {
		edited = append(edited[:maxCIFiles], fmt.Sprintf("%d more", n))
	}
	f.note("head edits %s, which decides whether and how these checks are started: read that edit before you trust the "+
		"result; everything runs in full", strings.Join(edited, ", "))
}

// mentionedByCI returns the paths that the text of base's CI file mentions: files that it
// includes, and scripts that its jobs start. The file is not read as GitLab would read it: a
// path too many runs too much, which is only slow.
func (f *finder) mentionedByCI(name string) map[string]bool {
	raw, err := f.ReadBase(name)
	if err != nil {
		return nil
	}
	mentioned := map[string]bool{}
	for word := range strings.FieldsFuncSeq(string(raw), func(c rune) bool {
		return !strings.ContainsRune("/._-+@~", c) && !unicode.IsLetter(c) && !unicode.IsDigit(c)
	}) {
		mentioned[strings.TrimPrefix(path.Clean("/"+word), "/")] = true
	}
	delete(mentioned, f.Settings.Path) // it is compared key by key
	return mentioned
}
