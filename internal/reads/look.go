//go:build linux && amd64

package reads

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

// The bounds of what is read of shared files before a task changes them.
const (
	maxLooks   = 2_000
	maxContent = 1 << 20 // bytes of one file
)

// look records what is in shared folders that the task is about to list, and in shared files that it is about to
// change. The entries lead to the same file or folder.
func (b *book) look(entries []*entry, u use, isFolder bool) {
	if len(b.shared) == 0 {
		return
	}
	for _, e := range entries {
		e.removes = e.removes || u&removed != 0
		switch {
		case u&wrote != 0 && !e.Wrote && b.isShared(e.Name):
			folder := filepath.Dir(e.Name)
			b.written[folder] = append(b.written[folder], e)
			b.before(e, u, isFolder)
		case u&(opened|wrote) == opened && isFolder && b.isShared(e.Name):
			b.list(e)
		}
	}
}

// before records what is where the task is about to change something for the first time, if it is what the task found
// when it first used the name.
func (b *book) before(e *entry, u use, isFolder bool) {
	_, isThere := kindOf(e.Name)
	e.isNew = !isThere
	switch {
	case e.seen && !e.Seen && isThere && isReal(e.Name):
		b.doubt("somebody else made a name that it had looked for in vain, and that it then changed")
	case !e.Seen || !e.seen && u&made != 0 || isFolder || b.looks >= maxLooks:
	default:
		b.looks++
		now, inode, changed := contentOf(e.Name)
		if !e.seen || inode == e.Inode && changed.Before(b.began.Add(-tick)) {
			e.Before = now
		}
	}
}

// tick is by how much the time of a change of a file may be behind the clock.
const tick = 10 * time.Millisecond

// isReal reports whether a name leads through no link: what is there is said of such names alone.
func isReal(name string) bool {
	folder, err := filepath.EvalSymlinks(filepath.Dir(name))
	return err == nil && folder == filepath.Dir(name)
}

// isShared reports whether others may write to a name.
func (b *book) isShared(name string) bool {
	return slices.ContainsFunc(b.shared, func(folder string) bool { return isBelow(name, folder) })
}

// list records the names in a folder.
func (b *book) list(e *entry) {
	names, ok := namesIn(e.Name)
	if !ok { // then nobody looked
		return
	}
	for _, own := range b.written[e.Name] {
		name := filepath.Base(own.Name)
		at, isThere := slices.BinarySearch(names, name)
		switch {
		case isThere && own.isNew: // the task made it
			names = slices.Delete(names, at, at+1)
		case !isThere && own.Seen && own.removes:
			names = slices.Insert(names, at, name)
		case !isThere && own.Seen: // somebody else removed it
			e.Unsteady = true
		}
	}
	if e.Names != nil {
		e.Unsteady = e.Unsteady || !slices.Equal(names, e.Names)
		return
	}
	for _, name := range names {
		b.bytes += len(name)
	}
	if b.bytes > maxBytes {
		b.doubt("it used too many names")
		return
	}
	e.Names = names
}

// namesIn returns the names in a folder, sorted; not nil.
func namesIn(folder string) (names []string, ok bool) {
	fd, err := unix.Open(folder, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, false
	}
	file := os.NewFile(uintptr(fd), folder)
	defer file.Close()
	names, err = file.Readdirnames(-1)
	slices.Sort(names)
	return append([]string{}, names...), err == nil
}

// contentOf returns what a file is, with its number and when it was last changed; nil if that is not known.
func contentOf(name string) (now *Content, inode uint64, changed time.Time) {
	fd, err := unix.Open(name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC|unix.O_NOCTTY, 0)
	if err != nil {
		return nil, 0, time.Time{}
	}
	file := os.NewFile(uintptr(fd), name)
	defer file.Close()
	var info unix.Stat_t
	if err := unix.Fstat(fd, &info); err != nil || info.Mode&unix.S_IFMT != unix.S_IFREG || info.Size > maxContent {
		return nil, 0, time.Time{}
	}
	h := sha256.New()
	if n, err := io.Copy(h, io.LimitReader(file, maxContent+1)); err != nil || n != info.Size {
		return nil, 0, time.Time{}
	}
	return &Content{IsProgram: info.Mode&0o111 != 0, SHA256: hex.EncodeToString(h.Sum(nil))}, info.Ino,
		time.Unix(info.Ctim.Unix())
}
