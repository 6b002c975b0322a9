package bundler

import (
	"context"
	"runtime"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"
)

// An Input says what a bundle is made of.
type Input struct {
	Data, Resources, Schemas Section // folders
	GraphQL                  Section // one file
	Commit, Timestamp        string  // of the revision; unix seconds
}

// Options say how a bundle is made. The zero value is good.
type Options struct {
	Workers int    // how many files are read at once; 0: one per processor
	Cache   *Cache // nil: none
}

// A Bundled is a bundle that is ready to be written. The caller closes it.
type Bundled struct {
	in        Input
	spool     *spool
	pack      *pack // nil without a cache
	data      []record
	resources []record
	backrefs  map[string][]byte
	targets   map[string]bool
	world     *world
	types     *node // the GraphQL section
}

// Make reads a tree and makes its bundle. What is wrong with files comes back
// as problems, all of them; then there is no bundle. The error says why the
// tree could not be read.
func Make(ctx context.Context, in Input, opts Options) (*Bundled, []Problem, error) {
	m := maker{in: in, opts: opts, b: &Bundled{in: in, spool: &spool{}, targets: map[string]bool{}}}
	if m.opts.Workers <= 0 {
		m.opts.Workers = runtime.GOMAXPROCS(0)
	}
	err := m.make(ctx)
	if err != nil || len(m.found.list) > 0 {
		m.b.Close()
		return nil, m.found.sorted(), err
	}
	return m.b, nil, nil
}

// Close gives back what the bundle was kept in.
func (b *Bundled) Close() {
	b.spool.close()
	b.pack.close()
}

type maker struct {
	in    Input
	opts  Options
	b     *Bundled
	found problems
	mu    sync.Mutex // holds targets, marks and kept
	marks map[*node]bool
	kept  map[string]string
	key   string // of the world, for the cache
}

func (m *maker) make(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx) // what is still being listed then ends
	named, lone := listing(ctx, m.in.Data, isDatafile), listing(ctx, m.in.Resources, anyFile)
	defer named.end()
	defer lone.end()
	defer cancel()
	if err := m.readWorld(ctx); err != nil || m.b.world == nil {
		return err
	}
	m.marks, m.kept = map[*node]bool{}, map[string]string{}
	files, err := m.listed(named)
	if err != nil {
		return err
	}
	if len(m.found.list) == 0 {
		m.b.pack = openPack(m.opts.Cache, m.b.world, m.key)
	}
	data := stage{m.in.Data.Tree, files, maxDatafile, datafileKind, m.b.pack, func(f file, raw, buf []byte) (record, []byte, []Problem) {
		return m.b.world.datafile(f.path, raw, buf)
	}}
	if m.b.data, err = m.each(ctx, data); err != nil {
		return err
	}
	if files, err = m.listed(lone); err != nil {
		return err
	}
	resources := stage{m.in.Resources.Tree, files, maxResource, resourceKind, m.b.pack, resource}
	if m.b.resources, err = m.each(ctx, resources); err != nil {
		return err
	}
	if m.b.pack != nil {
		m.b.pack.save()
	}
	m.finish()
	return nil
}

// An inventory is the files of a section while they are listed.
type inventory struct {
	working errgroup.Group
	files   []file
	found   problems
}

// listing lists a section while other work is done.
func listing(ctx context.Context, s Section, takes func(string) bool) *inventory {
	l := &inventory{}
	l.working.Go(func() (err error) {
		l.files, err = s.files(ctx, takes, &l.found)
		return err
	})
	return l
}

func (l *inventory) end() { _ = l.working.Wait() }

// listed waits for an inventory.
func (m *maker) listed(l *inventory) ([]file, error) {
	err := l.working.Wait()
	for _, p := range l.found.list {
		m.found.add(p.File, p)
	}
	return l.files, err
}

// note takes from a record what it says about other files.
func (m *maker) note(r *record) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, t := range r.refs {
		m.b.targets[m.keep(t)] = true
	}
	for i := range r.backrefs {
		r.backrefs[i].resource = m.keep(r.backrefs[i].resource)
	}
	r.schema = m.keep(r.schema)
	for _, s := range r.marks {
		m.marks[s] = true
	}
	r.refs, r.marks = nil, nil
}

// keep gives a copy of a piece of a file, the same for the same text, so that
// the file itself can go.
func (m *maker) keep(s string) string {
	k, ok := m.kept[s]
	if !ok {
		k = strings.Clone(s)
		m.kept[k] = k
	}
	return k
}

// finish brings together what single files say about each other.
func (m *maker) finish() {
	backrefs := map[string][]sighting{}
	for _, r := range m.b.data {
		if r.own != nil && m.b.targets[r.path] {
			m.marks[r.own] = true
		}
		for _, b := range r.backrefs {
			backrefs[b.resource] = append(backrefs[b.resource], sighting{r.path, b.jsonpath, r.schema})
		}
	}
	for s := range m.marks {
		if p := s.get("properties"); p.truthy() && p.kind == mapping {
			p.set(identifierKey, &node{kind: mapping, members: []member{{textNode("type"), textNode("string")}}})
		}
	}
	m.b.backrefs = make(map[string][]byte, len(backrefs))
	for _, r := range m.b.resources {
		m.b.backrefs[r.path] = appendSightings(nil, backrefs[r.path])
	}
}

// A sighting is a place that names a resource.
type sighting struct{ path, jsonpath, schema string }

func appendSightings(b []byte, all []sighting) []byte {
	slices.SortStableFunc(all, func(a, b sighting) int {
		if c := strings.Compare(a.path, b.path); c != 0 {
			return c
		}
		return strings.Compare(a.jsonpath, b.jsonpath)
	})
	for i, s := range all {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendText(append(b, `{"datafileSchema":`...), s.schema)
		b = appendText(append(b, `,"jsonpath":`...), s.jsonpath)
		b = append(appendText(append(b, `,"path":`...), s.path), '}')
	}
	return b
}
