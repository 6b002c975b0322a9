package shellwords

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"
)

// A Part is a piece of a word: text as it is, or the name of a variable.
type Part struct {
	Text     string // what is passed on; "" for a variable
	Variable string // the name after the dollar sign; "" for text
}

// A Word is one argument: its parts in a row. A word without parts is the empty
// word, as "" makes it.
type Word []Part

// maxCommand is the size in bytes above which a command is refused; Linux takes
// no single argument that is longer.
const maxCommand = 128 << 10

// Split splits a command into its words. The error says what a shell would act
// on, and at which byte, counted from 1.
func Split(command string) ([]Word, error) {
	if len(command) > maxCommand {
		return nil, fmt.Errorf("it is longer than %d bytes", maxCommand)
	}
	if !utf8.ValidString(command) {
		return nil, errors.New("it is not UTF-8")
	}
	s := splitter{text: command}
	if s.at = strings.IndexByte(command, 0); s.at >= 0 {
		return nil, s.refuse("no argument can hold a NUL")
	}
	s.at = 0
	for s.at < len(s.text) {
		if err := s.step(); err != nil {
			return nil, err
		}
	}
	s.endWord()
	return s.words, nil
}

// A splitter reads a command once, from left to right.
type splitter struct {
	text string
	at   int // of the next byte

	words []Word
	word  Word
	piece strings.Builder // of word, to its end
	open  bool            // is there a word, be it empty?
	bare  bool            // is nothing in it quoted, nor a variable?
	last  byte            // of it, when not quoted, else 0
}

var (
	name       = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*`)
	inBraces   = regexp.MustCompile(`^\{([A-Za-z_][A-Za-z0-9_]*)\}`)
	assignment = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*\+?$`)
)

// active tells what the characters are that a shell acts on outside quotes.
var active = map[byte]string{
	'\n': "a line break ends a command",
	';':  "; ends a command",
	'&':  "& starts a command in the background",
	'|':  "| is a pipe",
	'<':  "< is a redirection",
	'>':  "> is a redirection",
	'(':  "( starts a subshell",
	')':  ") ends a subshell",
	'`':  "` is a command substitution",
	'*':  "* is a file name pattern",
	'?':  "? is a file name pattern",
	'[':  "[ is a file name pattern",
	'{':  "{ is a brace expansion",
}

// step reads what comes next outside quotes.
func (s *splitter) step() error {
	c := s.text[s.at]
	switch {
	case c == ' ' || c == '\t' || c == '\n' && s.outside():
		s.endWord()
		s.at++
	case c == '\\':
		return s.escape()
	case c == '\'':
		return s.single()
	case c == '"':
		return s.double()
	case c == '$':
		return s.dollar(false)
	case active[c] != "":
		return s.refuse(active[c])
	case c == '#' && !s.open:
		return s.refuse("# starts a comment")
	case c == '~' && (!s.open || s.last == '=' || s.last == ':'): // the latter for bash
		return s.refuse("~ is a home directory")
	case c == '=' && s.bare && len(s.words) == 0 && assignment.MatchString(s.piece.String()):
		return s.refuse("NAME=value before the command sets a variable")
	default:
		s.add(c, false)
		s.at++
	}
	return nil
}

// outside tells whether a line break comes before or after the whole command.
func (s *splitter) outside() bool {
	return !s.open && len(s.words) == 0 || strings.Trim(s.text[s.at:], " \t\n") == ""
}

// escape reads a backslash outside quotes.
func (s *splitter) escape() error {
	if s.at+1 == len(s.text) {
		return s.refuse("a backslash at the end quotes nothing")
	}
	if next := s.text[s.at+1]; next != '\n' { // which joins two lines
		s.add(next, true)
	}
	s.at += 2
	return nil
}

// single reads from one single quote to the next.
func (s *splitter) single() error {
	end := strings.IndexByte(s.text[s.at+1:], '\'')
	if end < 0 {
		return s.refuse("a single quote is never closed")
	}
	s.quote()
	s.piece.WriteString(s.text[s.at+1 : s.at+1+end])
	s.at += end + 2
	return nil
}

// double reads from one double quote to the next that is not escaped.
func (s *splitter) double() error {
	start := s.at
	s.quote()
	for s.at++; s.at < len(s.text); {
		switch c := s.text[s.at]; {
		case c == '"':
			s.at++
			return nil
		case c == '`':
			return s.refuse(active[c])
		case c == '$':
			if err := s.dollar(true); err != nil {
				return err
			}
		case c == '\\' && s.at+1 < len(s.text) && strings.IndexByte("$`\"\\\n", s.text[s.at+1]) >= 0:
			if next := s.text[s.at+1]; next != '\n' {
				s.add(next, true)
			}
			s.at += 2
		default:
			s.add(c, true)
			s.at++
		}
	}
	s.at = start
	return s.refuse("a double quote is never closed")
}

// dollar reads a variable, or a dollar sign that is one.
func (s *splitter) dollar(inQuotes bool) error {
	rest := s.text[s.at+1:]
	n := name.FindString(rest)
	if strings.HasPrefix(rest[len(n):], "\\\n") {
		return s.refuse("a variable and what joins its line to the next, which may go on with its name")
	}
	if n != "" {
		s.variable(n)
		s.at += 1 + len(n)
		return nil
	}
	if m := inBraces.FindStringSubmatch(rest); m != nil {
		s.variable(m[1])
		s.at += 1 + len(m[0])
		return nil
	}
	switch {
	case rest == "":
	case rest[0] == '(':
		return s.refuse("$( is a substitution")
	case rest[0] == '{':
		return s.refuse("${ with more than a name changes what the variable holds")
	case rest[0] >= '0' && rest[0] <= '9' || strings.IndexByte("@*#?-$!", rest[0]) >= 0:
		return s.refuse("$" + rest[:1] + " is a variable of the shell itself")
	case rest[0] == '[' || !inQuotes && strings.IndexByte("'\"", rest[0]) >= 0:
		return s.refuse("$" + rest[:1] + " means something else in each shell")
	}
	s.add('$', inQuotes)
	s.at++
	return nil
}

// quote makes what follows in the word quoted.
func (s *splitter) quote() { s.open, s.bare, s.last = true, false, 0 }

// add adds a byte to the word.
func (s *splitter) add(c byte, quoted bool) {
	switch {
	case quoted:
		s.quote()
	case !s.open:
		s.open, s.bare, s.last = true, true, c
	default:
		s.last = c
	}
	s.piece.WriteByte(c)
}

// variable adds a variable to the word.
func (s *splitter) variable(name string) {
	s.quote()
	s.endPiece()
	s.word = append(s.word, Part{Variable: name})
}

func (s *splitter) endPiece() {
	if s.piece.Len() > 0 {
		s.word = append(s.word, Part{Text: s.piece.String()})
		s.piece.Reset()
	}
}

func (s *splitter) endWord() {
	if !s.open {
		return
	}
	s.endPiece()
	s.words = append(s.words, s.word)
	s.word, s.open, s.bare, s.last = nil, false, false, 0
}

func (s *splitter) refuse(why string) error {
	return fmt.Errorf("at byte %d: %s", s.at+1, why)
}
