package source

import (
	"path"
	"path/filepath"
	"strings"

	"github.com/app-sre/prcheck/internal/git"
	"github.com/app-sre/prcheck/internal/lazyregexp"
	"github.com/app-sre/prcheck/qontract/bundle"
)

// Own names the files and folders that prcheck itself writes, and the bundles it reads.
type Own struct {
	Files []string // of plans, results and reports, and the two bundles
	State string   // folder of the state, "" when there is none
	Cache string   // folder of bundles that were made, "" when there is none
	// Only are the files that git does not track and that belong to the checkout all the same; nil:
	// all that prcheck did not write do.
	Only map[string]bool
}

// Wrote returns a function that reports whether prcheck itself wrote a file below a root.
func (o Own) Wrote(root string) func(path string) bool { return o.below(root).wrote }

// ownFiles are the files that prcheck wrote below a folder.
type ownFiles struct {
	root         string
	only         map[string]bool
	files        map[string]bool
	state, cache string // prefixes with a slash at the end, "" when they lie elsewhere
}

// below returns the files that lie below a folder.
func (o Own) below(root string) ownFiles {
	out := ownFiles{root: root, only: o.Only, files: map[string]bool{}}
	for _, name := range o.Files {
		if p, inside := git.PathIn(root, name); inside && name != "" {
			out.files[p] = true
		}
	}
	prefix := func(folder string) string {
		p, inside := git.PathIn(root, folder)
		if !inside || folder == "" {
			return ""
		}
		return path.Join("/", p) + "/"
	}
	out.state, out.cache = prefix(o.State), prefix(o.Cache)
	return out
}

// The names of files that prcheck writes, and of those that Python makes of modules.
var (
	logName      = lazyregexp.New(`^[A-Za-z0-9_-]+-[0-9a-f]{12}(\.[0-9]+)?\.log$`)
	stateName    = lazyregexp.New(`^(\.lock|[a-z]+/([0-9a-f]{16,}/)?(last|all|[0-9]{4}-[0-9]{2}-[0-9]{2}|[0-9a-f-]{16,})\.json|native/[0-9a-f]{32}/[a-z0-9._/-]+|(.*/)?\.new-[^/]*)$`)
	compiledName = lazyregexp.New(`^(.*/)?__pycache__/([^/.]+)\.[^/]*\.pyc$`)
)

// wrote reports whether prcheck wrote a file that git does not track, or whether the file
// follows from another one: a module that Python compiled. A bundle is data, and no program.
func (o ownFiles) wrote(name string) bool {
	if o.only != nil && !o.only[name] || o.files[name] || logName.MatchString(path.Base(name)) {
		return true
	}
	if below, ok := strings.CutPrefix("/"+name, o.state); ok && o.state != "" && stateName.MatchString(below) {
		return true
	}
	if len(o.cache) > 1 && strings.HasPrefix("/"+name, o.cache) {
		return true
	}
	if m := compiledName.FindStringSubmatch(name); m != nil {
		info, err := Files(o.root).Lstat(m[1] + m[2] + ".py")
		return err == nil && info.Mode().IsRegular()
	}
	return o.isDocument(name)
}

// maxStart is how much of a file is read to see whether it is a document of prcheck.
const maxStart = 200

// How documents of prcheck begin, and how a bundle begins.
var (
	documentStart = lazyregexp.New(
		`^(\{\s*"version":\s*"prcheck/v1"|# HELP prcheck_|<\?xml [^>]*\?>\s*<testsuites>\s*<testsuite name="prcheck")`)
	bundleStart = lazyregexp.New(
		`^\s*\{\s*"(data|datafiles|graphql|resources|schemas|git_commit|git_commit_timestamp)"\s*:`)
)

// isDocument reports whether a file is a document that prcheck wrote, or a bundle.
func (o ownFiles) isDocument(name string) bool {
	switch path.Ext(name) {
	case ".json", ".jsonl", ".txt", ".prom", ".xml":
	default:
		return false
	}
	info, err := Files(o.root).Lstat(name)
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	start, err := readBelow(o.root, name, maxStart)
	if err != nil {
		return false
	}
	return documentStart.Match(start) ||
		bundleStart.Match(start) && isBundle(filepath.Join(o.root, filepath.FromSlash(name)))
}

// isBundle reports whether a file is a bundle with datafiles.
func isBundle(name string) bool {
	b, err := bundle.Open(name, nil)
	return err == nil && len(b.Datafiles()) > 0
}
