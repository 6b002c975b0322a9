package gitlabtest

import (
	"bytes"
	"compress/zlib"
	"crypto/sha1" //nolint:gosec // git names objects so
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
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
