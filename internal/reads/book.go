//go:build linux && amd64

package reads

import (
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// The bounds of a record, and of what a book remembers of other names.
const (
	maxNames      = 200_000
	maxBytes      = 64 << 20
	maxRemembered = 100_000
)

// An entry is an access and whether it happened yet.
type entry struct {
	Access
	seen    bool
	isNew   bool // nothing was there when the task first changed it
	removes bool // the task removed it, or moved it away
}

// use adds a use. It reports whether this is the first one.
func (e *entry) use(u use) (first bool) {
	first = !e.seen
	if first {
		e.seen, e.MadeFirst = true, u&made != 0
	}
	e.Opened = e.Opened || u&opened != 0
	e.Executed = e.Executed || u&executed != 0
	e.Asked = e.Asked || u&asked != 0
	e.Wrote = e.Wrote || u&wrote != 0
	e.Moved = e.Moved || u&moved != 0
	return first
}

// A target is what a name leads to, as far as it is kept.
type target struct {
	names []*entry // the name as the task wrote it, and the same name without links in its folders
	steps []*entry // the links in its folders
	links []*entry // if the name is a link: the links to which it leads
	ends  []*entry // if the name is a link: what it leads to at last

	first    [1]*entry // names begins in it
	isLink   bool
	isFolder bool // at the end of all links
}

// A limb is a folder whose names are kept. Its real name has no links.
type limb struct{ given, real string }

// A book collects the names that are kept. It is used by one goroutine.
type book struct {
	below   []limb
	shared  []string // folders in which others may write
	kept    map[string]*entry
	bytes   int
	targets map[string]*target  // by name as the task wrote it
	folders map[string]walked   // by name as the task wrote it
	follows int                 // how many links resolve may still follow
	written map[string][]*entry // in shared folders: what the task changed, by folder
	looks   int                 // how many files were read
	partial string
	began   time.Time
	age     int // how often links and folders changed

	name []byte      // the argument of lstat
	info unix.Stat_t // its answer
}

// newBook returns a book that keeps the names of a scope.
func newBook(of Scope) *book {
	b := &book{kept: map[string]*entry{}, targets: map[string]*target{}, folders: map[string]walked{},
		written: map[string][]*entry{}, began: time.Now()}
	for _, folder := range of.Shared {
		b.shared = append(b.shared, strings.TrimSuffix(filepath.Clean(folder), "/"))
	}
	for _, folder := range of.Below {
		folder = filepath.Clean(folder)
		real, err := filepath.EvalSymlinks(folder)
		if err != nil {
			real = folder
		}
		b.below = append(b.below, limb{strings.TrimSuffix(folder, "/"), strings.TrimSuffix(real, "/")})
	}
	return b
}

// doubt says that the record is not whole. The first reason is kept.
func (b *book) doubt(why string) {
	if b.partial == "" {
		b.partial = why
	}
}

// use records that a task used an absolute name. It returns the entries that this use may
// have made first.
func (b *book) use(tid int, name []byte, u use, follow bool) (making []*entry) {
	to := b.targets[string(name)]
	if to == nil {
		to = b.resolve(tid, string(name))
	}
	add := func(entries []*entry, u use) {
		b.look(entries, u, to.isFolder)
		for _, e := range entries {
			if e.use(u) && u&made != 0 {
				making = append(making, e)
			}
		}
	}
	add(to.steps, asked)
	if follow && to.isLink { // only the end is made, since the links were there
		add(to.names, u&^made)
		add(to.links, u&^made)
		add(to.ends, u)
	} else {
		add(to.names, u)
	}
	return making
}

// resolve finds out where a name leads to, and remembers it.
func (b *book) resolve(tid int, name string) *target {
	b.follows = maxFollows
	to := &target{}
	to.names = to.first[:0]
	keep := func(entries *[]*entry, name string, isThere bool, inode uint64) {
		if e := b.keep(name); e != nil && !slices.Contains(*entries, e) {
			*entries = append(*entries, e)
			if isThere && !e.seen {
				e.Seen, e.Inode = true, max(e.Inode, inode)
			}
		}
	}
	way := b.step(tid, name)
	end := way
	if !way.lost {
		end = b.follow(tid, way)
		to.isLink = len(end.links) > len(way.links)
	}
	isThere, inode := to.isLink || !end.lost && end.found, end.inode
	if to.isLink || end.lost {
		inode = 0
	}
	to.isFolder = !end.lost && end.isFolder
	if !way.lost {
		keep(&to.names, way.path, isThere, inode)
	}
	// A name that leads through a link: what is there is said of the link and of the name without it.
	if plain, ok := withoutDots(name); ok && plain != way.path {
		keep(&to.names, plain, false, 0)
	}
	if !way.lost {
		for _, link := range end.links[len(way.links):] {
			keep(&to.links, link, true, 0)
		}
		if !end.lost && to.isLink {
			keep(&to.ends, end.path, end.found, end.inode)
		}
		way.fleeting = way.fleeting || end.fleeting
	}
	for _, link := range way.links {
		keep(&to.steps, link, true, 0)
	}
	if !way.fleeting {
		if len(b.targets) >= maxRemembered {
			clear(b.targets)
		}
		b.targets[name] = to
	}
	return to
}

// keep returns the entry of a name, nil if the name is not kept.
func (b *book) keep(name string) *entry {
	for _, limb := range b.below {
		switch {
		case isBelow(name, limb.given):
			return b.entry(name)
		case isBelow(name, limb.real):
			return b.entry(limb.given + name[len(limb.real):])
		}
	}
	return nil
}

// entry returns the entry of a name that is kept, nil if the record is full.
func (b *book) entry(name string) *entry {
	if name == "" {
		name = "/"
	}
	e := b.kept[name]
	if e == nil {
		if len(b.kept) >= maxNames || b.bytes+len(name) > maxBytes {
			b.doubt("it used too many names")
			return nil
		}
		b.bytes += len(name)
		e = &entry{Access: Access{Name: name}}
		b.kept[name] = e
	}
	return e
}

// isBelow reports whether a name is the folder or below it.
func isBelow(name, folder string) bool {
	rest, ok := strings.CutPrefix(name, folder)
	return ok && (rest == "" || rest[0] == '/')
}

// forget forgets where names lead to, because links changed.
func (b *book) forget() {
	b.age++
	clear(b.targets)
	clear(b.folders)
}

// record returns what was used.
func (b *book) record() Record {
	used := make([]*entry, 0, len(b.kept))
	for _, e := range b.kept {
		if e.seen {
			used = append(used, e)
		}
	}
	slices.SortFunc(used, func(x, y *entry) int { return strings.Compare(x.Name, y.Name) })
	r := Record{Partial: b.partial, Accesses: make([]Access, len(used))}
	for i, e := range used {
		r.Accesses[i] = e.Access
	}
	return r
}

// withoutDots returns a name without empty parts and parts that are one dot. It fails if a
// part is two dots, because the folder above depends on links.
func withoutDots(name string) (string, bool) {
	if !strings.Contains(name, "//") && !strings.Contains(name, "/.") && !strings.HasSuffix(name, "/") {
		return name, true
	}
	for part := range strings.SplitSeq(name, "/") {
		if part == ".." {
			return "", false
		}
	}
	return strings.TrimSuffix(filepath.Clean(name), "/"), true
}
