package folders

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/app-sre/prcheck/owners/content"
	"github.com/app-sre/prcheck/owners/coverage"
	"github.com/app-sre/prcheck/owners/difference"
	"github.com/app-sre/prcheck/owners/rules"
	"github.com/app-sre/prcheck/qontract/bundler"
)

// The names of the files.
const (
	ownersFile  = "OWNERS"
	aliasesFile = "OWNERS_ALIASES"
)

// File is the kind of a file outside of the bundle.
const File content.Kind = "file"

// Folders are the OWNERS files of base.
type Folders struct {
	read    func(path string) ([]byte, error)
	groupOf Groups
	aliases func() (map[string][]string, error)
	known   map[string]owned
	faults  []rules.Fault
}

// An owned folder has approvers of its own.
type owned struct {
	approvers []string
	isThere   bool
}

// Groups returns the members of a group of the forge. It is not ok if the name is that of no group.
type Groups func(name string) (members []string, ok bool, err error)

// New returns the OWNERS files that read returns; its error is [fs.ErrNotExist] for a file that base does not have.
// Without groups a group stands by its own name among the approvers.
func New(read func(path string) ([]byte, error), groups Groups) *Folders {
	if groups == nil {
		groups = func(string) ([]string, bool, error) { return nil, false, nil }
	}
	f := &Folders{read: read, groupOf: groups, known: map[string]owned{}}
	f.aliases = sync.OnceValues(f.readAliases)
	return f
}

// Faults returns what of the OWNERS files that were asked so far cannot be used.
func (f *Folders) Faults() []rules.Fault { return f.faults }

// mapping reads a file that is a mapping; nil if there is none.
func (f *Folders) mapping(name string) (map[string]any, error) {
	raw, err := f.read(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", name, err)
	}
	m, ok := bundler.ReadMapping(raw)
	if !ok {
		f.faults = append(f.faults, rules.Fault{Kind: rules.BadWord, File: "/" + name,
			Text: "it must be a mapping of YAML, such as approvers: [ana]"})
	}
	return m, nil
}

func (f *Folders) readAliases() (map[string][]string, error) {
	m, err := f.mapping(aliasesFile)
	if err != nil {
		return nil, err
	}
	all, _ := m["aliases"].(map[string]any)
	out := map[string][]string{}
	for name, people := range all {
		out[name] = texts(people)
	}
	return out, nil
}

func texts(v any) (out []string) {
	items, _ := v.([]any)
	for _, item := range items {
		if text, isText := item.(string); isText && text != "" {
			out = append(out, text)
		}
	}
	return out
}

// of returns the approvers whom a folder names itself.
func (f *Folders) of(folder string) (owned, error) {
	if o, isThere := f.known[folder]; isThere {
		return o, nil
	}
	m, err := f.mapping(path.Join(folder, ownersFile))
	if err != nil {
		return owned{}, err
	}
	aliases, err := f.aliases()
	if err != nil {
		return owned{}, err
	}
	var o owned
	for _, name := range texts(m["approvers"]) {
		o.isThere = true
		if people, isAlias := aliases[name]; isAlias {
			o.approvers = append(o.approvers, people...)
		} else {
			o.approvers = append(o.approvers, name)
		}
	}
	if o.approvers, err = f.expanded(o.approvers); err != nil {
		return owned{}, err
	}
	f.known[folder] = o
	return o, nil
}

// expanded returns names with the members of groups in the place of the groups.
func (f *Folders) expanded(names []string) (out []string, err error) {
	for _, name := range names {
		if !hasLetter(name) { // the forge takes a number for the id of a group
			out = append(out, name)
			continue
		}
		members, isGroup, err := f.groupOf(name)
		if err != nil {
			return nil, fmt.Errorf("asking whether %q is a group: %w", name, err)
		}
		if !isGroup {
			members = []string{name}
		}
		out = append(out, members...)
	}
	return out, nil
}

// hasLetter reports whether a name is more than a number.
func hasLetter(name string) bool {
	return strings.ContainsFunc(name, func(r rune) bool { return r < '0' || r > '9' })
}

// ownersType stands for OWNERS files among the change types.
var ownersType = &rules.Type{ChangeType: rules.ChangeType{Name: "OWNERS", Priority: "medium"}}

// Cover returns a changed file with who may approve it: a context for each folder above it that names approvers. old
// and new are the texts, nil on a side that does not have the file.
func (f *Folders) Cover(name string, old, new []byte) *coverage.File {
	c := &content.Change{Ref: content.Ref{Kind: File, Path: name}, OldSum: sum(old), NewSum: sum(new)}
	c.Differences = []difference.Difference{{Kind: kind(old, new), Old: value(old), New: value(new)}}
	out := &coverage.File{Change: c}
	p := &coverage.CoveredPlace{Difference: c.Differences[0]}
	out.Roots = []*coverage.CoveredPlace{p}
	for folder := path.Dir(name); ; folder = path.Dir(folder) {
		o, err := f.of(folder)
		if err != nil {
			out.Err = err
			return out
		}
		if o.isThere {
			context := f.context(c.Ref, folder, o.approvers)
			out.Contexts = append(out.Contexts, context)
			p.Covers = append(p.Covers, coverage.Cover{Context: context})
		}
		if folder == "." || folder == "/" {
			return out
		}
	}
}

func (f *Folders) context(of content.Ref, folder string, approvers []string) *rules.Context {
	file := content.Ref{Kind: File, Path: path.Join(folder, ownersFile)}
	role := &rules.Role{Name: file.Path}
	for _, name := range approvers {
		role.People = append(role.People, rules.Person{Name: name})
	}
	people := slices.Clone(role.People)
	return &rules.Context{Type: ownersType, Origin: ownersType, File: of, Owned: file, Role: role, People: people}
}

func kind(old, new []byte) difference.Kind {
	switch {
	case old == nil:
		return difference.Added
	case new == nil:
		return difference.Removed
	}
	return difference.Changed
}

// value returns the digest of a text as its content; nil for none.
func value(text []byte) any {
	if text == nil {
		return nil
	}
	return sum(text)
}

func sum(text []byte) string {
	if text == nil {
		return ""
	}
	of := sha256.Sum256(text)
	return hex.EncodeToString(of[:])
}
