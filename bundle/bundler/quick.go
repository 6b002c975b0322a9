package bundler

import (
	"strings"
	"unicode/utf8"
)

// Most files use little of YAML: block mappings and lists, values on one line,
// literal text, and JSON. readQuick reads just that, many times as fast as the
// full parser, and gives up on everything of which it is not sure: it either
// reads a file exactly as readYAML would, or not at all. Places are not kept;
// who needs one reads again.
func readQuick(raw []byte) (root *node, ok bool) {
	if !quickText(raw) {
		return nil, false
	}
	q := quick{s: string(raw)}
	q.skip()
	if strings.HasPrefix(q.s[q.at:], "---") && q.column() == 0 {
		q.at += 3
		q.lineEnd()
		q.skip()
	}
	if q.failed || q.at == len(q.s) {
		return nil, false
	}
	if c := q.s[q.at]; c == '{' || c == '[' {
		root = q.flow(0)
		q.lineEnd()
		q.skip()
	} else {
		root = q.block(q.column(), 0)
	}
	if q.failed || q.at != len(q.s) || root == nil || root.kind < list {
		return nil, false
	}
	return root, true
}

// quickDepth is how deep a file may be for the quick reader.
const quickDepth = 100

// quickText tells whether a file has only characters that mean the same to
// everybody.
func quickText(raw []byte) bool {
	for i := 0; i < len(raw); {
		c := raw[i]
		switch {
		case c >= ' ' && c < 0x7f, c == '\n':
			i++
			continue
		case c < utf8.RuneSelf:
			return false
		}
		r, size := utf8.DecodeRune(raw[i:])
		if size == 1 || r < 0xa1 || r == 0x2028 || r == 0x2029 || r == 0xfeff || r == 0xfffe || r == 0xffff {
			return false
		}
		i += size
	}
	return true
}

// A quick reads one file. Once it has failed nothing it gives is used.
type quick struct {
	s      string
	at     int
	failed bool
	slab   []node
}

func (q *quick) fail() *node {
	q.failed = true
	return nil
}

func (q *quick) node(k kind, s string) *node {
	if len(q.slab) == 0 {
		q.slab = make([]node, 64)
	}
	n := &q.slab[0]
	q.slab = q.slab[1:]
	n.kind, n.text = k, s
	return n
}

// peek is the byte that follows after n more, a newline at the end.
func (q *quick) peek(n int) byte {
	if q.at+n < len(q.s) {
		return q.s[q.at+n]
	}
	return '\n'
}

// column is where the current position is in its line.
func (q *quick) column() int { return q.at - 1 - strings.LastIndexByte(q.s[:q.at], '\n') }

func (q *quick) spaces() {
	for q.at < len(q.s) && q.s[q.at] == ' ' {
		q.at++
	}
}

// skip goes to the next content: over blank lines and comments.
func (q *quick) skip() {
	for q.at < len(q.s) {
		q.spaces()
		switch q.peek(0) {
		case '#':
			q.toLineEnd()
		case '\n':
		default:
			return
		}
		if q.at < len(q.s) {
			q.at++
		}
	}
}

func (q *quick) toLineEnd() {
	if i := strings.IndexByte(q.s[q.at:], '\n'); i >= 0 {
		q.at += i
		return
	}
	q.at = len(q.s)
}

// lineEnd wants nothing but a comment up to the end of the line.
func (q *quick) lineEnd() {
	before := q.at
	q.spaces()
	switch {
	case q.peek(0) == '\n':
	case q.peek(0) == '#' && q.at > before:
		q.toLineEnd()
	default:
		q.fail()
	}
}

// after wants that a value which began in a block of the given column has
// ended: the next content is not further in.
func (q *quick) after(column int) {
	if q.lineEnd(); q.failed {
		return
	}
	q.skip()
	if q.at < len(q.s) && q.column() > column {
		q.fail()
	}
}

func (q *quick) isItem() bool { return q.peek(0) == '-' && (q.peek(1) == ' ' || q.peek(1) == '\n') }

// block reads a list or mapping that begins here, in the given column.
func (q *quick) block(column, depth int) *node {
	switch {
	case depth > quickDepth:
		return q.fail()
	case q.isItem():
		return q.list(column, depth)
	}
	key, ok := q.key()
	if !ok {
		return q.fail()
	}
	return q.mapping(column, depth, key)
}

func (q *quick) list(column, depth int) *node {
	n := q.node(list, "")
	for !q.failed && q.at < len(q.s) && q.column() == column && q.isItem() {
		q.at++
		q.spaces()
		n.items = append(n.items, q.item(column, depth))
	}
	if q.at < len(q.s) && q.column() > column {
		q.fail()
	}
	return n
}

// item reads what follows "- ".
func (q *quick) item(column, depth int) *node {
	switch c := q.peek(0); {
	case c == '\n' || c == '#':
		return q.below(column, depth, false)
	case q.isItem():
		return q.block(q.column(), depth+1)
	}
	in := q.column()
	if key, ok := q.key(); ok {
		return q.mapping(in, depth+1, key)
	}
	return q.inline(column, depth)
}

// below reads a value that begins on a later line, or is not there.
func (q *quick) below(column, depth int, listToo bool) *node {
	q.skip()
	if q.at < len(q.s) {
		in := q.column()
		if in > column || listToo && in == column && q.isItem() {
			return q.block(in, depth+1)
		}
	}
	return q.node(null, "null")
}

// mapping reads a mapping whose first key has been read.
func (q *quick) mapping(column, depth int, key *node) *node {
	if depth > quickDepth {
		return q.fail()
	}
	n := q.node(mapping, "")
	for ok := true; ok && !q.failed; {
		n.members = append(n.members, member{key, q.memberValue(column, depth)})
		if q.at == len(q.s) || q.column() != column {
			break
		}
		if key, ok = q.key(); !ok {
			q.fail()
		}
	}
	if q.at < len(q.s) && q.column() > column {
		q.fail()
	}
	return q.settled(n)
}

// settled gives up on mappings that have a problem.
func (q *quick) settled(n *node) *node {
	if unsortable(n.members) != nil {
		return q.fail()
	}
	duplicates(n.members, func(_, _ *node) { q.failed = true })
	return n
}

func (q *quick) memberValue(column, depth int) *node {
	before := q.at
	q.spaces()
	c := q.peek(0)
	if c == '\n' || c == '#' && q.at > before {
		return q.below(column, depth, true)
	}
	return q.inline(column, depth)
}

// inline reads a value that begins on the line of its key or dash, in a block
// of the given column.
func (q *quick) inline(column, depth int) *node {
	var n *node
	switch c := q.peek(0); c {
	case '|':
		return q.literal(column)
	case '[', '{':
		n = q.flow(depth + 1)
	case '"', '\'':
		s, ok := q.quoted()
		if !ok {
			return q.fail()
		}
		n = q.node(text, s)
	default:
		n = q.plainLine()
	}
	if !q.failed {
		q.after(column)
	}
	return n
}
