package rules

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/app-sre/prcheck/world"
)

// The bounds of the texts of a program that are searched.
const (
	maxTexts     = 400
	maxTextBytes = 4 << 20
)

// A program is a command that lives in the repository: the texts of the files that it names, and
// of those beside and below them. Nobody has recorded yet what it reads.
type program struct {
	folders map[string]bool // of the files that the command names; true if such a file is one of the data
	texts   []string
}

// What in a text of a program may list a folder, and what may list all folders below one.
var (
	listsFolder = regexp.MustCompile(`(?i)listdir|scandir|iterdir|readdir|glob|walk|\*|\bls\b|\bfind\s|Dir\.|DirFS`)
	listsAll    = regexp.MustCompile(
		`(?i)walk|rglob|\*\*|\bfind\s|\brglob|-[a-z]*r[a-z]*\s+[^|;]*\.(\s|$)|ls-files|ls-tree`)
)

// programOf returns the program of an integration; nil if its command names no file of head, or
// its texts are too many.
func (f *finder) programOf(name string) *program {
	known, ok := f.programs[name]
	if !ok {
		known = f.findProgram(name)
		f.programs[name] = known
	}
	return known
}

func (f *finder) findProgram(name string) *program {
	if f.Named == nil || f.Head == nil {
		return nil
	}
	named := f.Named(name)
	if len(named) == 0 {
		return nil
	}
	head, err := f.Head()
	if err != nil {
		return nil // then everything counts
	}
	p := &program{folders: map[string]bool{}}
	for _, at := range named {
		if !isRegular(head, at) {
			continue
		}
		p.addFolder(at, f.IsData(at))
		for _, s := range head.Resolve(at) { // a link leads to where the program really is
			p.addFolder(s.Path, f.IsData(s.Path))
		}
	}
	if len(p.folders) == 0 || !f.readTexts(head, p) {
		return nil
	}
	return p
}

// addFolder adds the folder of a file.
func (p *program) addFolder(file string, isData bool) {
	folder := path.Dir(file)
	p.folders[folder] = p.folders[folder] || isData
}

// isRegular reports whether a path leads to a file of a tree.
func isRegular(t *world.Tree, at string) bool {
	steps := t.Resolve(at)
	return steps[len(steps)-1].Kind == world.Regular
}

// readTexts reads the texts of a program. It returns false if they are too many.
func (f *finder) readTexts(head *world.Tree, p *program) bool {
	left := maxTextBytes
	for _, file := range head.Files() {
		if file.Kind() != world.Regular || !p.isText(file.Path, f.IsData(file.Path)) {
			continue
		}
		raw, err := f.ReadHead(file.Path)
		if err != nil || len(p.texts) == maxTexts {
			return false
		}
		if left -= len(raw); left < 0 {
			return false
		}
		p.texts = append(p.texts, string(raw))
	}
	return true
}

// isText reports whether a file may be one of the program: it lies near. A file of the data is one
// only of a program that lies in the data, too.
func (p *program) isText(at string, isData bool) bool {
	for folder, inData := range p.folders {
		if isBelow(at, folder) && (inData || !isData) {
			return true
		}
	}
	return false
}

// isNear reports whether a path lies in or below a folder of the program.
func (p *program) isNear(at string) bool {
	for folder := range p.folders {
		if isBelow(at, folder) {
			return true
		}
	}
	return false
}

// isBelow reports whether a path lies below a folder.
func isBelow(at, folder string) bool { return folder == "." || strings.HasPrefix(at, folder+"/") }

// mayReach reports whether the program may find a new file: it lies beside or below a file of the
// program, the texts of the program mention its name or its folders, or they list its folder.
func (p *program) mayReach(at string) bool {
	if p.isNear(at) || p.matches(listsAll) {
		return true
	}
	parts := strings.Split(at, "/")
	name := parts[len(parts)-1]
	if p.says(name) || p.says(strings.TrimSuffix(name, path.Ext(name))) {
		return true
	}
	if len(parts) == 1 {
		return p.matches(listsFolder)
	}
	return slices.ContainsFunc(parts[:len(parts)-1], p.says)
}

// mayOpen reports whether the program may open a file of the data from disk: its texts mention
// the name of the file, or a folder of it as a path.
func (p *program) mayOpen(at string) bool {
	if p.says(path.Base(at)) || p.matches(listsAll) {
		return true
	}
	for folder := path.Dir(at); folder != "."; folder = path.Dir(folder) {
		quoted := regexp.QuoteMeta(folder)
		if p.says(folder+"/") ||
			p.matches(regexp.MustCompile(`(?i)(open|dir|walk|glob|path|join|ls|cat|find|grep|cd)\b[^\n\w.]{1,3}`+quoted+`\b`)) {
			return true
		}
	}
	return false
}

func (p *program) says(word string) bool {
	return len(word) > 1 && slices.ContainsFunc(p.texts, func(text string) bool { return strings.Contains(text, word) })
}

func (p *program) matches(pattern *regexp.Regexp) bool {
	return slices.ContainsFunc(p.texts, pattern.MatchString)
}
