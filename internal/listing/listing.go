package listing

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/app-sre/prcheck/internal/packed"
)

// A Memory keeps listings between runs. It returns the bytes that it was given, or none.
type Memory interface {
	Recall(key string) ([]byte, bool)
	Remember(key string, raw []byte)
}

// An Entry is a name below a folder that is not the name of a folder.
type Entry struct {
	Name string      // with slashes, relative to the folder that was listed
	Type fs.FileMode // the type bits
}

// A folder is what is remembered of one folder.
type folder struct {
	is      identity
	entries []Entry // of this folder alone, with folders
}

// An identity changes when the names in a folder do.
type identity struct{ device, inode, modified, changed uint64 }

// settled is how long a folder must have been as it is for its names to be remembered.
const settled = 4 * time.Second

// List lists all files at any depth below a folder, those of each folder sorted by name.
// Folders named .git are left out. A nil memory remembers nothing.
func List(ctx context.Context, name string, m Memory) ([]Entry, error) {
	l := lister{ctx: ctx, root: name, seen: map[string]folder{}}
	if m == nil {
		err := l.walk("")
		return l.out, err
	}
	key := keyOf(name)
	if raw, ok := m.Recall(key); ok {
		l.known = decode(raw)
	}
	if err := l.walk(""); err != nil {
		return nil, err
	}
	if l.isNew || len(l.seen) != len(l.known) {
		m.Remember(key, encode(l.seen))
	}
	return l.out, nil
}

// keyOf returns the key under which the listing of a folder is kept. A folder whose place is
// not known shares the key with others, and is told from them by its identity.
func keyOf(name string) string {
	if abs, err := filepath.Abs(name); err == nil {
		name = abs
	}
	return fmt.Sprintf("listing-%x", sha256.Sum256([]byte(name)))
}

// A lister lists one folder with all folders in it.
type lister struct {
	ctx         context.Context //nolint:containedctx // it lives as long as one call of List
	root        string
	known, seen map[string]folder // by path below the root
	isNew       bool              // something of seen is not in known
	out         []Entry
}

// walk lists a folder and all folders in it.
func (l *lister) walk(below string) error {
	if err := l.ctx.Err(); err != nil {
		return err
	}
	f, err := l.open(below)
	if err != nil {
		return err
	}
	for _, e := range f.entries {
		name := e.Name
		if below != "" {
			name = below + "/" + name // both are clean
		}
		switch {
		case !e.Type.IsDir():
			l.out = append(l.out, Entry{name, e.Type})
		case e.Name != ".git":
			if err := l.walk(name); err != nil {
				return err
			}
		}
	}
	return nil
}

// open returns the names in a folder. It reads them when they may have changed.
func (l *lister) open(below string) (folder, error) {
	name := filepath.Join(l.root, filepath.FromSlash(below))
	if known, ok := l.known[below]; ok {
		if info, err := os.Stat(name); err == nil && info.IsDir() && identify(info) == known.is {
			l.seen[below] = known
			return known, nil
		}
	}
	now := time.Now()
	d, err := os.Open(name)
	if err != nil {
		return folder{}, err
	}
	defer d.Close()
	info, err := d.Stat() // before the names are read: what is added meanwhile changes it
	if err != nil {
		return folder{}, err
	}
	list, err := d.ReadDir(-1)
	slices.SortFunc(list, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	f := folder{is: identify(info)}
	for _, e := range list {
		f.entries = append(f.entries, Entry{e.Name(), e.Type()})
	}
	latest := uint64(now.Add(-settled).UnixNano())
	if f.is != (identity{}) && f.is.modified < latest && f.is.changed < latest {
		l.seen[below], l.isNew = f, true
	}
	return f, err
}

// encode writes folders down.
func encode(all map[string]folder) []byte {
	var b []byte
	text := func(s string) { b = append(binary.AppendUvarint(b, uint64(len(s))), s...) }
	for name, f := range all {
		text(name)
		for _, n := range []uint64{f.is.device, f.is.inode, f.is.modified, f.is.changed, uint64(len(f.entries))} {
			b = binary.AppendUvarint(b, n)
		}
		for _, e := range f.entries {
			text(e.Name)
			b = binary.AppendUvarint(b, uint64(e.Type))
		}
	}
	return b
}

// decode reads folders, and returns none when the bytes are not those that encode wrote.
func decode(raw []byte) map[string]folder {
	all := map[string]folder{}
	r := packed.Read(string(raw))
	for r.Rest() != "" {
		name := r.Text()
		f := folder{is: identity{r.Number(), r.Number(), r.Number(), r.Number()}}
		for range r.Count() {
			f.entries = append(f.entries, Entry{r.Text(), fs.FileMode(r.Number())})
		}
		all[name] = f
	}
	if r.IsDamaged() {
		return nil
	}
	return all
}
