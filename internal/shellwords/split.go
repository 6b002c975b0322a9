package shellwords

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/app-sre/prcheck/internal/lazyregexp"
)

// A Part is a piece of a word: a text or a variable.
type Part struct {
	Text     string // without quotes; "" for a variable
	Variable string // the name after the dollar sign; "" for a text
}

// A Word is one argument: the sequence of its parts. A word without parts is empty, as
// ” is in a shell.
type Word []Part

// maxCommand is the largest size of a command in bytes. Linux accepts no longer argument.
const maxCommand = 128 << 10

// Split splits a command into words. The error says what a shell would act on, and at which
// byte, counted from 1.
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
	at   int // index of the next byte

	words []Word
	word  Word            // the current word, without its last text
	piece strings.Builder // the last text of the current word
	open  bool            // there is a current word, which may be empty
	bare  bool            // the current word has no quoted text and no variable
	last  byte            // the last byte of the current word; 0 if it is quoted
}

var (
	name       = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]*`)
	inBraces   = lazyregexp.New(`^\{([A-Za-z_][A-Za-z0-9_]*)\}`)
	assignment = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]*\+?$`)
)

// active maps the characters on which a shell acts outside quotes to what they do.
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

// step reads the next byte, variable or quoted text outside quotes.
func (s *splitter) step() error {
	c := s.text[s.at]
	switch {
	case c == ' ' || c == '\t' || c == '\n' && s.atEdge():
		s.endWord()
		s.at++
	case c == '\\':
		return s.escape()
	case c == '\'':
		return s.singleQuoted()
	case c == '"':
		return s.doubleQuoted()
	case c == '$':
		return s.dollar(false)
	case active[c] != "":
		return s.refuse(active[c])
	case c == '#' && !s.open:
		return s.refuse("# starts a comment")
	case c == '~' && (!s.open || s.last == '=' || s.last == ':'): // after = and : in bash only
		return s.refuse("~ is a home directory")
	case c == '=' && s.bare && len(s.words) == 0 && assignment.MatchString(s.piece.String()):
		return s.refuse("NAME=value before the command sets a variable")
	default:
		s.add(c, false)
		s.at++
	}
	return nil
}

// atEdge reports whether a line break stands before or after the whole command.
func (s *splitter) atEdge() bool {
	return !s.open && len(s.words) == 0 || strings.Trim(s.text[s.at:], " \t\n") == ""
}

// escape reads a backslash outside quotes.
func (s *splitter) escape() error {
	if s.at+1 == len(s.text) {
		return s.refuse("a backslash at the end quotes nothing")
	}
	if next := s.text[s.at+1]; next != '\n' { // a backslash before a line break joins two lines
		s.add(next, true)
	}
	s.at += 2
	return nil
}

// singleQuoted reads a text between single quotes.
func (s *splitter) singleQuoted() error {
	end := strings.IndexByte(s.text[s.at+1:], '\'')
	if end < 0 {
		return s.refuse("a single quote is never closed")
	}
	s.markQuoted()
	s.piece.WriteString(s.text[s.at+1 : s.at+1+end])
	s.at += end + 2
	return nil
}

// doubleQuoted reads a text between double quotes.
func (s *splitter) doubleQuoted() error {
	start := s.at
	s.markQuoted()
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

// dollar reads a variable, or a dollar sign that is plain text.
func (s *splitter) dollar(inQuotes bool) error {
	rest := s.text[s.at+1:]
	n := name.FindString(rest)
	if strings.HasPrefix(rest[len(n):], "\\\n") {
		return s.refuse("a variable and what joins its line to the next, which may go on with its name")
	}
	if n != "" {
		s.addVariable(n)
		s.at += 1 + len(n)
		return nil
	}
	if m := inBraces.FindStringSubmatch(rest); m != nil {
		s.addVariable(m[1])
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

// markQuoted notes that the word has quoted text, or a variable, at its end.
func (s *splitter) markQuoted() { s.open, s.bare, s.last = true, false, 0 }

// add adds a byte to the word.
func (s *splitter) add(c byte, quoted bool) {
	switch {
	case quoted:
		s.markQuoted()
	case !s.open:
		s.open, s.bare, s.last = true, true, c
	default:
		s.last = c
	}
	s.piece.WriteByte(c)
}

// addVariable adds a variable to the word.
func (s *splitter) addVariable(name string) {
	s.markQuoted()
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
