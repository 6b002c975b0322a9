package edit

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/app-sre/prcheck/internal/lazyregexp"
)

// maxFile is the size of the largest file that is changed, in bytes.
const maxFile = 8 << 20

// A Change says what a target is to have.
type Change struct {
	Template  string // name of the template, if the target stands in a saas file
	Namespace string // path of the namespace; "" for a target that selects its namespaces
	Name      string // "" if the target has none
	// Channels and Selector tell apart targets that have the rest in common: the one is meant that is promoted
	// automatically from exactly these channels, and has exactly this selector. They count for nothing if one target
	// alone fits, or if they are nil.
	Channels []string
	Selector *Selector
	// Was is the ref that the target is expected to have; "" is any. A target with neither this one
	// nor Ref is refused, see [Refusal.Moved].
	Was   string
	Ref   string
	Notes []Note // config hashes of publishers
}

// A Selector has the paths by which a target chooses its namespaces, as the file has them.
type Selector struct {
	Include []string `json:"include,omitempty"`
	Exclude []string `json:"exclude,omitempty"`
}

// A Note is the config hash of a publisher of a channel.
type Note struct{ Channel, Saas, Hash string }

// A Refusal says why a file cannot be changed, for people.
type Refusal struct {
	Reason string
	// Moved tells that the target has another ref than expected, so that somebody changed it.
	Moved bool
}

// Error returns the reason.
func (r *Refusal) Error() string { return "the file cannot be changed: " + r.Reason }

func refuse(format string, args ...any) error { return &Refusal{Reason: fmt.Sprintf(format, args...)} }

// valuePattern matches what may become a ref or a hash: it needs no escapes in any style.
var valuePattern = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9._/-]{0,199}$`)

// Apply returns a file with a change. The file is returned as it is if it has everything. The
// error is a [*Refusal] if the change cannot be made.
func Apply(file []byte, c Change) ([]byte, error) {
	f := File{Text: file}
	if err := f.Apply(c); err != nil {
		return nil, err
	}
	return f.Text, nil
}

// A File is a file that gets several changes, one after the other.
type File struct {
	Text []byte // with all changes
	root *yaml.Node
}

// Apply makes a change. The file stays as it is if it has everything, or if the change cannot be
// made: then the error is a [*Refusal].
func (f *File) Apply(c Change) error {
	for _, v := range append([]string{c.Ref}, hashes(c.Notes)...) {
		if !valuePattern.MatchString(v) {
			return refuse("%.40q is no ref and no hash", v)
		}
	}
	if f.root == nil {
		root, err := parse(f.Text)
		if err != nil {
			return err
		}
		f.root = root
	}
	e := &editor{text: newText(f.Text)}
	target, err := e.find(f.root, c)
	if err != nil {
		return err
	}
	if is, err := word(target, "ref"); err == nil && c.Was != "" && is != c.Was && is != c.Ref {
		return &Refusal{Reason: fmt.Sprintf("the target in line %d has the ref %.40q by now, not %.40q", target.Line, is,
			c.Was), Moved: true}
	}
	if err := e.set(target, "ref", c.Ref); err != nil {
		return err
	}
	if len(c.Notes) > 0 {
		if err := e.setNotes(f.root, target, c.Notes); err != nil {
			return err
		}
	}
	if len(e.cuts) == 0 {
		return nil
	}
	out := e.text.with(e.cuts)
	root, err := check(f.root, out, e)
	if err != nil {
		return err
	}
	f.Text, f.root = out, root
	return nil
}

func hashes(notes []Note) []string {
	var out []string
	for _, n := range notes {
		out = append(out, n.Hash)
	}
	return out
}

// parse reads a file that is one document with a mapping.
func parse(file []byte) (*yaml.Node, error) {
	switch {
	case len(file) > maxFile:
		return nil, refuse("it has more than %d bytes", maxFile)
	case !utf8.Valid(file):
		return nil, refuse("it is not UTF-8")
	case bytes.HasPrefix(file, []byte("\ufeff")):
		return nil, refuse("it begins with a byte order mark")
	}
	d := yaml.NewDecoder(bytes.NewReader(file))
	var doc, more yaml.Node
	if err := d.Decode(&doc); err != nil {
		return nil, refuse("it is no YAML: %v", err)
	}
	if err := d.Decode(&more); !errors.Is(err, io.EOF) {
		return nil, refuse("it is not exactly one document")
	}
	if doc.Kind != yaml.DocumentNode || len(doc.Content) != 1 || doc.Content[0].Kind != yaml.MappingNode {
		return nil, refuse("it is no mapping")
	}
	return doc.Content[0], nil
}

// An editor gathers the changes of one file.
type editor struct {
	text text
	cuts []cut
	// wants are the values that scalars are to have, adds the nodes that lists and mappings are to
	// have in addition.
	wants map[*yaml.Node]string
	adds  map[*yaml.Node][]*yaml.Node
}

// set sets the scalar below a key.
func (e *editor) set(mapping *yaml.Node, key, value string) error {
	node, err := child(mapping, key)
	switch {
	case err != nil:
		return err
	case node == nil:
		return refuse("line %d has no %s", mapping.Line, key)
	}
	if err := plain(node, yaml.ScalarNode); err != nil {
		return err
	}
	if node.Value == value {
		return nil
	}
	from, length, quote, err := e.text.scalar(node)
	if err != nil {
		return err
	}
	if quote == "" && !isPlain(value) {
		quote = "'"
	}
	e.cuts = append(e.cuts, cut{from, length, quote + value + quote})
	if e.wants == nil {
		e.wants = map[*yaml.Node]string{}
	}
	e.wants[node] = value
	return nil
}

// check parses a changed file, compares it with what it is to be, and returns it.
func check(root *yaml.Node, out []byte, e *editor) (*yaml.Node, error) {
	is, err := parse(out)
	if err != nil {
		return nil, refuse("the change would damage it: %v", err)
	}
	if !e.same(root, is) {
		return nil, refuse("the change would alter more than its values")
	}
	return is, nil
}

// same reports whether a node of the changed file is what the node of the file is to be.
func (e *editor) same(was, is *yaml.Node) bool {
	if value, changes := e.wants[was]; changes {
		return is.Kind == yaml.ScalarNode && is.Value == value && is.ShortTag() == "!!str" && is.Anchor == ""
	}
	want := slices.Concat(was.Content, e.adds[was])
	if was.Kind != is.Kind || was.Value != is.Value || was.Anchor != is.Anchor || was.ShortTag() != is.ShortTag() ||
		len(want) != len(is.Content) {
		return false
	}
	for i := range want {
		if !e.same(want[i], is.Content[i]) {
			return false
		}
	}
	return true
}
