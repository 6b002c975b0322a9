package rules

import (
	"cmp"
	"crypto/sha1" //nolint:gosec // git's ids are made of it
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"sync"

	"github.com/app-sre/prcheck/settings"
)

// The bounds of the files that must be read for the digests of programs.
const (
	maxProgramFiles = 100_000
	maxProgramBytes = 1 << 30
)

// A Workplace is the repository in which tasks start, or the folder in which they start when
// it lies in no repository.
type Workplace struct {
	// List returns the files that a program may use: nothing that prcheck wrote.
	List func() ([]ProgramFile, error)
	// Files reads files. No link leads out of the repository, and Lstat answers
	// [fs.ErrNotExist] also for a name that no file can have.
	Files fs.ReadLinkFS
}

// A ProgramFile is a file that a program may use.
type ProgramFile struct {
	Path string // in the repository
	ID   string // git's mode and id of its content; "" when it must be read
}

// Programs returns a function that digests the files that the command of an integration may
// use, or returns "" when the settings say that it uses none. A command can use a file
// without naming it: Python imports modules, and make reads a Makefile. So by default all
// files count. Each file is read once. The error names a file whose content cannot be known.
func (at Workplace) Programs() func(settings.Programs) (string, error) {
	d := at.newDigester()
	return func(p settings.Programs) (string, error) {
		if p.None {
			return "", nil
		}
		key := fmt.Sprint(p.Globs == nil)
		for _, g := range p.Globs {
			key += fmt.Sprintf(" %q", g.Pattern)
		}
		known, ok := d.digests[key]
		if !ok {
			known.digest, known.err = d.digest(p)
			d.digests[key] = known
		}
		return known.digest, known.err
	}
}

// Selected returns a function that lists the files that the command of an integration may use,
// sorted, with the modes and ids of their contents.
func (at Workplace) Selected() func(settings.Programs) ([]ProgramFile, error) {
	return at.newDigester().selected
}

func (at Workplace) newDigester() *programDigester {
	return &programDigester{
		Workplace: at, list: sync.OnceValues(at.List), left: maxProgramBytes,
		contents: map[string]outcome{}, digests: map[string]outcome{},
	}
}

// A programDigester digests files, each once.
type programDigester struct {
	Workplace
	list     func() ([]ProgramFile, error)
	contents map[string]outcome // by path, of files that were read
	digests  map[string]outcome // by selection
	left     int64              // bytes that may still be read
}

// An outcome is a digest, or why there is none.
type outcome struct {
	digest string
	err    error
}

// Why files cannot be digested.
var (
	errNoFile  = errors.New("it is neither a file nor a folder")
	errTooMuch = fmt.Errorf("with it there are more than %d files, or more than %d MiB, to read", maxProgramFiles,
		maxProgramBytes>>20)
	errChanged = errors.New("it changes while it is read")
)

// digest digests the files that a command may use. The digest does not depend on where the
// repository is.
func (d *programDigester) digest(p settings.Programs) (string, error) {
	files, err := d.selected(p)
	if err != nil {
		return "", err
	}
	all := sha256.New()
	for _, f := range files {
		_, _ = fmt.Fprintf(all, "%q %s\n", f.Path, f.ID) // a hash never fails
	}
	return fmt.Sprintf("sha256:%x", all.Sum(nil)), nil
}

// selected lists the files that a command may use and that are there, with their ids.
func (d *programDigester) selected(p settings.Programs) ([]ProgramFile, error) {
	listed, err := d.list()
	if err != nil {
		return nil, err
	}
	var files []ProgramFile
	for _, f := range listed {
		if p.Include(f.Path) {
			files = append(files, f)
		}
	}
	for _, name := range p.Literals() {
		files = append(files, ProgramFile{Path: name})
	}
	slices.SortFunc(files, func(a, b ProgramFile) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(b.ID, a.ID))
	})
	files = slices.CompactFunc(files, func(a, b ProgramFile) bool { return a.Path == b.Path && b.ID == "" })
	for i, f := range files {
		if files[i].ID, err = d.contentID(f); err != nil {
			return nil, fmt.Errorf("%q: %w", f.Path, err)
		}
	}
	return slices.DeleteFunc(files, func(f ProgramFile) bool { return f.ID == "" }), nil
}

// contentID returns git's mode and id of a file's content, "" for a file that is gone.
func (d *programDigester) contentID(f ProgramFile) (string, error) {
	if f.ID != "" {
		return f.ID, nil
	}
	known, ok := d.contents[f.Path]
	if !ok {
		known.digest, known.err = d.read(f.Path)
		d.contents[f.Path] = known
	}
	return known.digest, known.err
}

// read reads a file and returns its mode and id. For a link it adds what the link says.
func (d *programDigester) read(name string) (string, error) {
	link := ""
	info, err := d.Files.Lstat(name)
	if err == nil && info.Mode()&fs.ModeSymlink != 0 {
		target, trouble := d.Files.ReadLink(name)
		if trouble != nil {
			return "", trouble
		}
		link = fmt.Sprintf("link to %q ", target)
		info, err = fs.Stat(d.Files, name)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return link, nil // it is gone, or the link leads nowhere
	case err != nil:
		return "", err
	case info.IsDir():
		return link + "folder", nil // the files in it count for themselves
	case !info.Mode().IsRegular():
		return "", errNoFile
	}
	mode := "100644"
	if info.Mode()&0o100 != 0 {
		mode = "100755"
	}
	id, err := d.hash(name, info.Size())
	return link + mode + " " + id, err
}

// hash returns git's id of a file's content.
func (d *programDigester) hash(name string, size int64) (string, error) {
	if d.left -= size; d.left < 0 || len(d.contents) >= maxProgramFiles {
		return "", errTooMuch
	}
	f, err := d.Files.Open(name)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }() // it was only read
	sum := sha1.New()                //nolint:gosec // it is git's id of the content
	_, _ = fmt.Fprintf(sum, "blob %d\x00", size)
	n, err := io.Copy(sum, io.LimitReader(f, size+1))
	if err == nil && n != size {
		err = errChanged
	}
	return fmt.Sprintf("%x", sum.Sum(nil)), err
}
