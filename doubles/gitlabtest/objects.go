package gitlabtest

import (
	"bytes"
	"compress/zlib"
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// A store reads and writes the objects and branches of a bare git repository. It writes loose
// objects as git does, because a process of git for each object would make long tests slow. What
// git must decide, such as conflicts, it asks git. Nothing is on the disk before git is started.
type store struct {
	dir       string
	known     map[string]object // objects that were read or written, by id
	commits   map[string]commit
	trees     map[string][]entry
	depths    map[string]int             // of commits
	texts     map[[3]string]text         // merged texts, by base, ours and theirs
	edits     map[[2]string][]difference // between two trees
	asked     int                        // how often whether commits can be merged
	every     int                        // how often git is asked as well
	answers   map[string]string          // of git to questions about objects, which never change
	refs      map[string]string          // nil if they must be read from the disk
	folders   map[string]int             // how many references are in a folder
	onMain    map[string]bool            // the commits of main up to grown
	grown     string
	changes   map[string]string // the newest commit that changed a path of main, up to followed
	followed  string
	unwritten []string        // objects that are not on the disk
	unpointed map[string]bool // references that are not on the disk as they are
	packer    *zlib.Writer
}

// An object is a blob, a tree or a commit of git.
type object struct {
	kind string
	data []byte
}

// newStore makes a bare repository with the branch main as its default.
func newStore(dir string) (*store, error) {
	s := &store{
		dir: dir, known: map[string]object{}, commits: map[string]commit{}, trees: map[string][]entry{},
		depths: map[string]int{},
		texts:  map[[3]string]text{}, edits: map[[2]string][]difference{}, answers: map[string]string{},
		refs: map[string]string{}, folders: map[string]int{}, unpointed: map[string]bool{},
		onMain: map[string]bool{}, changes: map[string]string{},
	}
	if _, err := s.git("init", "--quiet", "--bare", "--initial-branch="+DefaultBranch, dir); err != nil {
		return nil, err
	}
	for key, value := range map[string]string{
		"gc.auto": "0", "maintenance.auto": "false", "receive.unpackLimit": "1000000", "http.receivepack": "true",
		"uploadpack.allowAnySHA1InWant": "true", "uploadpack.allowFilter": "true",
	} {
		if _, err := s.git("config", key, value); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// command prepares a git that reads no settings but those of the repository.
func (s *store) command(args ...string) *exec.Cmd {
	s.flush()
	cmd := exec.Command("git", append([]string{"-C", s.dir}, args...)...)
	cmd.Env = slices.DeleteFunc(cmd.Environ(), func(v string) bool { return strings.HasPrefix(v, "GIT_") })
	cmd.Env = append(cmd.Env, "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "LC_ALL=C")
	return cmd
}

// git runs git and returns what it prints. The error is an [exec.ExitError] if git fails.
func (s *store) git(args ...string) (string, error) {
	out, err := s.command(args...).Output()
	if err != nil {
		return string(out), fmt.Errorf("running git %s: %w", args[0], err)
	}
	return string(out), nil
}

// ask runs git once for a question whose answer depends on its words alone.
func (s *store) ask(args ...string) (answer string, ok bool) {
	key := strings.Join(args, "\x00")
	if known, is := s.answers[key]; is {
		return known, known != "\x00"
	}
	out, err := s.git(args...)
	answer, ok = strings.TrimSpace(out), err == nil
	if s.answers[key] = answer; !ok {
		s.answers[key] = "\x00"
	}
	return answer, ok
}

// write adds an object and returns its id. It comes to the disk when git is started.
func (s *store) write(kind string, data []byte) string {
	whole := append(fmt.Appendf(nil, "%s %d\x00", kind, len(data)), data...)
	sum := sha1.Sum(whole) //nolint:gosec // git names objects so
	id := hex.EncodeToString(sum[:])
	if _, is := s.known[id]; !is {
		s.known[id] = object{kind, data}
		s.unwritten = append(s.unwritten, id)
	}
	return id
}

// flush writes objects and references to the disk, where git and its clients read them.
func (s *store) flush() {
	for _, id := range s.unwritten {
		s.writeLoose(id, s.known[id])
	}
	s.unwritten = nil
	s.flushRefs()
}

func (s *store) writeLoose(id string, o object) {
	whole := append(fmt.Appendf(nil, "%s %d\x00", o.kind, len(o.data)), o.data...)
	var packed bytes.Buffer
	if s.packer == nil {
		w, err := zlib.NewWriterLevel(&packed, zlib.NoCompression)
		must(err)
		s.packer = w
	}
	s.packer.Reset(&packed)
	_, _ = s.packer.Write(whole) // a buffer takes everything
	_ = s.packer.Close()
	path := s.loose(id)
	must(os.MkdirAll(filepath.Dir(path), 0o755))
	if _, err := os.Stat(path); err != nil {
		must(os.WriteFile(path, packed.Bytes(), 0o444))
	}
}

// must ends the test program if the disk fails, since nothing would be true any more.
func must(err error) {
	if err != nil {
		panic(err)
	}
}

func (s *store) loose(id string) string { return filepath.Join(s.dir, "objects", id[:2], id[2:]) }

// read returns an object; false if there is none.
func (s *store) read(id string) (object, bool) {
	if o, ok := s.known[id]; ok || !isID(id) {
		return o, ok
	}
	o, ok := s.readLoose(id)
	if !ok { // a large push is a pack
		kind, err := s.git("cat-file", "-t", id)
		if err != nil {
			return object{}, false
		}
		data, err := s.git("cat-file", strings.TrimSpace(kind), id)
		if err != nil {
			return object{}, false
		}
		o = object{strings.TrimSpace(kind), []byte(data)}
	}
	s.known[id] = o
	return o, true
}

func (s *store) readLoose(id string) (object, bool) {
	packed, err := os.ReadFile(s.loose(id))
	if err != nil {
		return object{}, false
	}
	r, err := zlib.NewReader(bytes.NewReader(packed))
	must(err)
	whole, err := io.ReadAll(r)
	must(err)
	head, data, _ := bytes.Cut(whole, []byte{0})
	kind, _, _ := strings.Cut(string(head), " ")
	return object{kind, data}, true
}

func isID(text string) bool {
	return len(text) == 40 && strings.Trim(text, "0123456789abcdef") == ""
}

// An entry is one line of a tree.
type entry struct{ mode, name, id string }

const (
	modeFile   = "100644"
	modeFolder = "40000"
)

// entries returns the entries of a tree. They must not be changed.
func (s *store) entries(tree string) []entry {
	if out, ok := s.trees[tree]; ok {
		return out
	}
	o, _ := s.read(tree) // no tree is an empty one
	var out []entry
	for rest := o.data; len(rest) > 0; {
		head, tail, _ := bytes.Cut(rest, []byte{0})
		mode, name, _ := strings.Cut(string(head), " ")
		out = append(out, entry{mode, name, hex.EncodeToString(tail[:20])})
		rest = tail[20:]
	}
	s.trees[tree] = out
	return out
}

// find returns what a tree has at a path.
func (s *store) find(tree, path string) (entry, bool) {
	name, rest, isDeep := strings.Cut(path, "/")
	for _, e := range s.entries(tree) {
		switch {
		case e.name != name:
		case !isDeep:
			return e, true
		case e.mode == modeFolder:
			return s.find(e.id, rest)
		}
	}
	return entry{}, false
}

// put returns a tree with another file at a path; without one if the id is "". A folder that
// becomes empty goes as well.
func (s *store) put(tree, path, mode, id string) string {
	name, rest, isDeep := strings.Cut(path, "/")
	all := slices.Clone(s.entries(tree))
	i := slices.IndexFunc(all, func(e entry) bool { return e.name == name })
	if isDeep {
		below := ""
		if i >= 0 && all[i].mode == modeFolder {
			below = all[i].id
		}
		mode, id = modeFolder, s.put(below, rest, mode, id)
		if len(s.entries(id)) == 0 {
			id = ""
		}
	}
	if i >= 0 {
		all = slices.Delete(all, i, i+1)
	}
	if id != "" {
		all = append(all, entry{mode, name, id})
	}
	slices.SortFunc(all, func(a, b entry) int { return strings.Compare(a.key(), b.key()) })
	var out []byte
	for _, e := range all {
		raw, err := hex.DecodeString(e.id)
		must(err)
		out = append(append(append(out, e.mode+" "+e.name...), 0), raw...)
	}
	return s.write("tree", out)
}

// key returns what git sorts a tree by.
func (e entry) key() string {
	if e.mode == modeFolder {
		return e.name + "/"
	}
	return e.name
}

// DefaultBranch is the branch that a [Repository] starts with.
const DefaultBranch = "main"

const heads = "refs/heads/"

// refPath returns the file that holds a reference.
func (s *store) refPath(ref string) string { return filepath.Join(s.dir, filepath.FromSlash(ref)) }

// allRefs returns the commits of all references. After a git client pushed they are read anew.
func (s *store) allRefs() map[string]string {
	if s.refs != nil {
		return s.refs
	}
	s.refs, s.folders = map[string]string{}, map[string]int{}
	must(filepath.WalkDir(s.refPath("refs"), func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasSuffix(file, ".lock") {
			return err
		}
		raw, err := os.ReadFile(file)
		ref := filepath.ToSlash(strings.TrimPrefix(file, s.dir+string(filepath.Separator)))
		s.refs[ref] = strings.TrimSpace(string(raw))
		s.countFolders(ref, 1)
		return err
	}))
	return s.refs
}

// countFolders notes that a reference is in its folders, or no longer.
func (s *store) countFolders(ref string, n int) {
	for folder := path.Dir(ref); folder != "."; folder = path.Dir(folder) {
		s.folders[folder] += n
	}
}

// flushRefs writes the references that changed to the disk.
func (s *store) flushRefs() {
	for _, ref := range slices.Sorted(maps.Keys(s.unpointed)) {
		if s.refs[ref] == "" {
			_ = os.Remove(s.refPath(ref)) // it may never have been there
		}
	}
	for ref := range s.unpointed {
		file := s.refPath(ref)
		if s.refs[ref] == "" {
			continue
		}
		must(os.MkdirAll(filepath.Dir(file), 0o755))
		if info, err := os.Stat(file); err == nil && info.IsDir() {
			must(os.Remove(file)) // folders of branches that are gone
		}
		must(os.WriteFile(file+".new", []byte(s.refs[ref]+"\n"), 0o644))
		must(os.Rename(file+".new", file))
	}
	s.unpointed = map[string]bool{}
}

// head returns the commit of a branch, "" if there is no such branch.
func (s *store) head(branch string) string { return s.allRefs()[heads+branch] }

// point lets a reference point to a commit, or removes it if the id is "". It reports whether the
// name can be had: a and a/b cannot both be branches.
func (s *store) point(ref, id string) bool {
	all := s.allRefs()
	_, was := all[ref]
	if id == "" {
		if delete(all, ref); was {
			s.countFolders(ref, -1)
		}
		s.unpointed[ref] = true
		return was
	}
	for folder := path.Dir(ref); !was && folder != "."; folder = path.Dir(folder) {
		if all[folder] != "" {
			return false
		}
	}
	switch {
	case was:
	case s.folders[ref] > 0:
		return false
	default:
		s.countFolders(ref, 1)
	}
	all[ref] = id
	s.unpointed[ref] = true
	return true
}

// branches returns the names of all branches, sorted.
func (s *store) branches() []string {
	var out []string
	for ref := range s.allRefs() {
		if name, isBranch := strings.CutPrefix(ref, heads); isBranch {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// A commit is a commit of git.
type commit struct {
	id, tree    string
	parents     []string
	name, email string // of the author
	when        time.Time
	message     string
}

// writeCommit adds a commit and returns its id. The committer is the author.
func (s *store) writeCommit(c commit) string {
	var b strings.Builder
	fmt.Fprintf(&b, "tree %s\n", c.tree)
	for _, p := range c.parents {
		fmt.Fprintf(&b, "parent %s\n", p)
	}
	who := fmt.Sprintf("%s <%s> %d +0000", c.name, c.email, c.when.Unix())
	fmt.Fprintf(&b, "author %s\ncommitter %s\n\n%s\n", who, who, strings.TrimRight(c.message, "\n"))
	return s.write("commit", []byte(b.String()))
}

// commit returns a commit; false if there is none of that id.
func (s *store) commit(id string) (commit, bool) {
	if c, ok := s.commits[id]; ok {
		return c, true
	}
	o, ok := s.read(id)
	if !ok || o.kind != "commit" {
		return commit{}, false
	}
	c := commit{id: id}
	head, message, _ := strings.Cut(string(o.data), "\n\n")
	c.message = message
	for line := range strings.Lines(head) {
		key, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		switch key {
		case "tree":
			c.tree = value
		case "parent":
			c.parents = append(c.parents, value)
		case "author":
			name, rest, _ := strings.Cut(value, " <")
			email, when, _ := strings.Cut(rest, "> ")
			var seconds int64
			_, _ = fmt.Sscan(when, &seconds) // git wrote it
			c.name, c.email, c.when = name, email, time.Unix(seconds, 0).UTC()
		}
	}
	s.commits[id] = c
	return c, true
}
