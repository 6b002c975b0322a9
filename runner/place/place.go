package place

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/app-sre/prcheck/internal/reads"
	"github.com/app-sre/prcheck/state/files"
	"github.com/app-sre/prcheck/world"
)

// A Side gives the files of one side of a change; nil when they are not known.
type Side func() (*world.Tree, error)

// Places make the places in which tasks start. The zero value knows no files: all tasks start in
// the current folder.
type Places struct {
	Folder     string // in which tasks start today, in the checkout of head; "" is the current folder
	Base, Head Side
	Keeper     world.Keeper
	// InPlace says that tasks on head start in the checkout itself.
	InPlace bool
	// Prepared says that a command prepares the files of each side before a task starts there.
	Prepared bool
	// Shared says that the folder belongs to neither side: it lies in no repository, and no job
	// has made it of head.
	Shared bool
	// OfJob says that a job of head may have made what lies outside of the checkout.
	OfJob bool
	// Others lists the files and folders of the checkout that are not in head's tree, since git
	// ignores or does not track them; a folder has a slash at its end. Nil lists none.
	Others func() ([]string, error)
	// Wrote returns a function that reports whether prcheck itself wrote a file below a root; nil: it wrote none.
	Wrote func(root string) func(path string) bool
	// Environment are files and folders of the checkout that git ignores and that base has too.
	Environment []string

	base, head keptSide
	headFiles  struct {
		sync.Once
		world *files.World
		err   error
	}
	writers sync.Map // the names of users that write into files of the tree in place
}

// A User says who needs a place.
type User struct {
	Name      string // of the integration
	UsesFiles bool   // of the repository
	// IsRecorded says that it is recorded what the user reads and writes, so that somebody notices
	// when it writes into a file of the tree in place.
	IsRecorded bool
}

// WritesInPlace notes that a user writes into files of the tree in place. From now on it gets
// copies of them: hard links can only be replaced.
func (p *Places) WritesInPlace(user string) { p.writers.Store(user, true) }

// needsCopies reports whether hard links are not enough for a user.
func (p *Places) needsCopies(u User) bool {
	_, writes := p.writers.Load(u.Name)
	return writes || !u.IsRecorded
}

// A keptSide is the folder with the files of a side, made when it is first needed.
type keptSide struct {
	once sync.Once
	kept *world.Kept

	mu  sync.Mutex
	err error // why no view can be made any more
}

// fail lets no further view be made.
func (s *keptSide) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.err = err
}

// failure returns why no view can be made.
func (s *keptSide) failure() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// A Place is where one attempt of a task starts.
type Place struct {
	Folder string // in which it starts, absolute
	// From and Root are the root of the checkout and the folder that stands for it. They are
	// equal when nothing moved.
	From, Root string
	// Outside is the folder when it lies outside of the checkout, "" otherwise. It stands for itself
	// then: its files belong to neither side.
	Outside string
	World   *files.World // the files at Root; nil when they are not known
	Enter   func() error // see [world.View]; nil when there is nothing to enter

	Made time.Time // when the place was made

	view *world.View
	side *keptSide
}

// IsLinked reports whether the files of the place can be replaced, but not written in place.
func (p Place) IsLinked() bool { return p.view != nil && p.view.Kind == world.Links }

// IsView reports whether the place is a view that only one task has.
func (p Place) IsView() bool { return p.view != nil }

// Reads returns what is recorded of a task in the place: its files, and those of the checkout. Others may write to all
// files of the checkout meanwhile if the task starts there, and to those that git ignores if it has a view.
func (p Place) Reads() reads.Scope {
	s := reads.Scope{Below: slices.Compact([]string{p.Root, p.From})}
	switch {
	case p.World == nil:
	case p.view == nil:
		s.Shared = []string{p.Root}
	default:
		for _, root := range s.Below {
			for _, name := range p.World.Others {
				s.Shared = append(s.Shared, filepath.Join(root, filepath.FromSlash(name)))
			}
		}
	}
	if p.Outside != "" {
		s.Below = append(s.Below, p.Outside)
	}
	return s
}

// Ignored returns those of some paths that git would ignore by the files of the place.
func (p Place) Ignored(ctx context.Context, paths []string) ([]string, error) {
	if p.view == nil {
		return nil, nil
	}
	return p.side.kept.Ignored(ctx, paths)
}

// Close removes the place. An error says that it was damaged, or cannot be removed.
func (p Place) Close() error {
	if p.view == nil {
		return nil
	}
	err := p.view.Close()
	if err != nil {
		p.side.fail(err)
	}
	return err
}

// start returns a place without files in the folder of the tasks. Its root is that of head's or
// base's files, or the folder itself if neither side has files.
func (p *Places) start() (Place, error) {
	folder, err := filepath.Abs(p.Folder)
	if err != nil {
		return Place{}, err
	}
	if real, err := filepath.EvalSymlinks(folder); err == nil {
		folder = real
	}
	out := Place{Folder: folder}
	for _, side := range []Side{p.Head, p.Base} {
		if side == nil {
			continue
		}
		t, err := side()
		if err != nil {
			return Place{}, err
		}
		if _, inside := below(t.Root(), folder); inside {
			return Place{Folder: folder, From: t.Root(), Root: t.Root()}, nil
		}
		if out.Root == "" {
			out.From, out.Root, out.Outside = t.Root(), t.Root(), folder
		}
	}
	if out.Root == "" {
		out.From, out.Root = folder, folder
	}
	return out, nil
}

// below returns the path of a folder below a root, and whether it lies there.
func below(root, folder string) (rel string, inside bool) {
	rel, err := filepath.Rel(root, folder)
	return rel, err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// inCheckout returns the place in the checkout itself.
func (p *Places) inCheckout() (Place, error) {
	out, err := p.start()
	if err != nil {
		return Place{}, err
	}
	out.Made = time.Now()
	if p.Head != nil {
		out.World, err = p.HeadWorld()
	}
	return out, err
}

// HeadWorld returns the files of head as tasks find them.
func (p *Places) HeadWorld() (*files.World, error) {
	p.headFiles.Do(func() { p.headFiles.world, p.headFiles.err = p.findHeadWorld() })
	return p.headFiles.world, p.headFiles.err
}

func (p *Places) findHeadWorld() (*files.World, error) {
	tree, err := p.Head()
	if err != nil {
		return nil, err
	}
	w := &files.World{Tree: tree, Root: tree.Root()}
	if p.Wrote != nil {
		w.IsOwn = p.Wrote(w.Root)
	}
	if p.Others != nil {
		w.Others, err = p.Others()
	}
	return w, err
}

// OnHead makes a place for a task on head. A task that uses no file of the repository starts in
// the checkout itself.
func (p *Places) OnHead(ctx context.Context, u User) (Place, error) {
	if p.Head == nil || (p.InPlace || !u.UsesFiles) && !p.Prepared {
		return p.inCheckout()
	}
	w, err := p.HeadWorld()
	if err != nil {
		return Place{}, err
	}
	return p.view(ctx, &p.head, w, u)
}

// OnBase makes a place for a task on base.
func (p *Places) OnBase(ctx context.Context, u User) (Place, error) {
	if p.Base == nil {
		return p.inCheckout()
	}
	tree, err := p.Base()
	if err != nil {
		return Place{}, err
	}
	w := &files.World{Tree: tree}
	if len(p.Environment) > 0 {
		at, err := p.start()
		if err != nil {
			return Place{}, err
		}
		w.Root = at.Root
	}
	for _, name := range p.Environment {
		w.Others = append(w.Others, withSlash(w.Root, name))
	}
	return p.view(ctx, &p.base, w, u)
}

// withSlash adds a slash to the path of a folder.
func withSlash(root, name string) string {
	if info, err := os.Stat(filepath.Join(root, filepath.FromSlash(name))); err == nil && info.IsDir() {
		return name + "/"
	}
	return name
}

// view makes a view of a side.
func (p *Places) view(ctx context.Context, side *keptSide, w *files.World, u User) (Place, error) {
	at, err := p.start()
	if err != nil {
		return Place{}, err
	}
	side.once.Do(func() {
		kept, err := p.Keeper.Keep(context.WithoutCancel(ctx), w.Tree)
		side.kept = kept
		side.fail(err)
	})
	if err := side.failure(); err != nil {
		return Place{}, err
	}
	at.Made = time.Now()
	var o world.ViewOptions
	for _, name := range w.Others {
		name = strings.TrimSuffix(name, "/")
		o.Extras = append(o.Extras, world.Extra{Path: name, From: filepath.Join(at.Root, filepath.FromSlash(name))})
	}
	if side.kept.Kind() == world.Links && p.needsCopies(u) {
		o.Kind = world.Copies
	}
	v, err := side.kept.View(ctx, o)
	if err != nil {
		return Place{}, err
	}
	if at.Outside == "" {
		rel, _ := below(at.Root, at.Folder)
		at.Folder = filepath.Join(v.Root, rel)
	}
	at.Root, at.World, at.Enter, at.view, at.side = v.Root, w, v.Enter, v, side
	return at, nil
}

// Close gives back the files of both sides. No place may be in use.
func (p *Places) Close() error {
	var errs []error
	for _, side := range []*keptSide{&p.base, &p.head} {
		if side.kept != nil {
			errs = append(errs, side.kept.Close())
		}
	}
	return errors.Join(errs...)
}

// WhyNotBase says why a run of a task on base says nothing about base, "" if it does: base's files
// are not known, and the task may use files of head in their place.
func (p *Places) WhyNotBase(usesFiles bool) string {
	if p == nil || p.Base != nil || p.Shared || !usesFiles {
		return ""
	}
	return "base's files are not known, so it would run in those of head: name base as a revision, or give its " +
		"files with --base-dir"
}

// MayBeOfHead reports whether tasks on both sides start in a folder outside of the checkout, which
// a job may have made of head's files.
func (p *Places) MayBeOfHead() bool {
	if p == nil || !p.OfJob || p.Base == nil {
		return false
	}
	at, err := p.start()
	return err != nil || at.Outside != ""
}
