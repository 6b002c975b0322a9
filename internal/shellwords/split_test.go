package shellwords

import (
	"strings"
	"testing"
)

// show returns words, one on each line, with variables as ${name}.
func show(words []Word) string {
	var b strings.Builder
	for _, w := range words {
		for _, p := range w {
			if p.Variable != "" {
				b.WriteString("${" + p.Variable + "}")
			}
			b.WriteString(p.Text)
		}
		b.WriteString("|")
	}
	return b.String()
}

func TestSplit(t *testing.T) {
	tests := []struct{ name, command, want string }{
		{"nothing", "", ""},
		{"blanks", " \t\n ", ""},
		{"one", "terraform-users", "terraform-users|"},
		{"several", "  a  b\tc \n", "a|b|c|"},
		{"line breaks around", "\n\na b\n\n", "a|b|"},
		{"joined lines", "a b\\\nc \\\n d", "a|bc|d|"},
		{"escapes", `a\ b \\ \$x \' \" \; \#`, `a b|\|$x|'|"|;|#|`},
		{"single quotes", `'a  b' '$x' '\' ';` + "`" + `|&' 'a'b'c'`, `a  b|$x|\|;` + "`" + `|&|abc|`},
		{"double quotes", `"a  b" "\$x" "\\" "\"" "\a" "a'b" "*?[~{;|&<>()#"`, `a  b|$x|\|"|\a|a'b|*?[~{;|&<>()#|`},
		{"escaped backquote", "\"\\`\"", "`|"},
		{"line break in quotes", "'a\nb' \"c\nd\" \"e\\\nf\"", "a\nb|c\nd|ef|"},
		{"empty words", `'' "" a''b`, "||ab|"},
		{"variables", `$a ${a} x$a-y "$a b${b}" $a$b`, "${a}|${a}|x${a}-y|${a} b${b}|${a}${b}|"},
		{"names end", `$a.b $a_1b ${a}b $a/b`, "${a}.b|${a_1b}|${a}b|${a}/b|"},
		{"not variables", `'$a' \$a "\$a"`, "$a|$a|$a|"},
		{"dollar signs", `$ a$ "$" "a$" $/ $% $, $. "$'" "$ "`, "$|a$|$|a$|$/|$%|$,|$.|$'|$ |"},
		{"dollar sign and escape", `$\a "$\\"`, `$a|$\|`},
		{"comment character inside", `a#b "#" x`, "a#b|#|x|"},
		{"tilde inside", `a~b '~' \~ "~"/x ''~`, "a~b|~|~|~/x|~|"},
		{"equals sign", `--x=y 'A'=b a A=b -A=b 1A=b`, "--x=y|A=b|a|A=b|-A=b|1A=b|"},
		{"closing signs", `a] } a}b !x a!`, "a]|}|a}b|!x|a!|"},
		{"carriage return", "a\rb", "a\rb|"},
		{"other letters", "ünï 😀 $é\u00a0x", "ünï|😀|$é\u00a0x|"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Split(tt.command)
			if err != nil || show(got) != tt.want {
				t.Errorf("Split(%q): got %q, %v, want %q", tt.command, show(got), err, tt.want)
			}
		})
	}
}

func TestSplitRefuses(t *testing.T) {
	tests := []struct{ name, command, want string }{
		{"sequence", "a; b", "at byte 2: ; ends a command"},
		{"background", "a &", "at byte 3: & starts a command in the background"},
		{"and", "a && b", "at byte 3: & starts a command in the background"},
		{"pipe", "a|b", "at byte 2: | is a pipe"},
		{"redirections", "a >b", "at byte 3: > is a redirection"},
		{"input", "a <b", "at byte 3: < is a redirection"},
		{"subshell", "a (b", "at byte 3: ( starts a subshell"},
		{"end of a subshell", "a )", "at byte 3: ) ends a subshell"},
		{"two lines", "a\nb", "at byte 2: a line break ends a command"},
		{"backquote", "a `b`", "at byte 3: ` is a command substitution"},
		{"backquote in quotes", "a \"`b`\"", "at byte 4: ` is a command substitution"},
		{"substitution", "a $(b)", "at byte 3: $( is a substitution"},
		{"substitution in quotes", `a "$(b)"`, "at byte 4: $( is a substitution"},
		{"arithmetic", "a $((1))", "at byte 3: $( is a substitution"},
		{"star", "a *.yml", "at byte 3: * is a file name pattern"},
		{"question mark", "a?", "at byte 2: ? is a file name pattern"},
		{"bracket", "[a]", "at byte 1: [ is a file name pattern"},
		{"braces", "a{b,c}", "at byte 2: { is a brace expansion"},
		{"home", "~/x", "at byte 1: ~ is a home directory"},
		{"home of a value", "a --x=~/y", "at byte 7: ~ is a home directory"},
		{"home after a joined line", "a b=\\\n~", "at byte 7: ~ is a home directory"},
		{"comment", "a #b", "at byte 3: # starts a comment"},
		{"assignment", "A=b c", "at byte 2: NAME=value before the command sets a variable"},
		{"addition", "A+=b c", "at byte 3: NAME=value before the command sets a variable"},
		{"joined assignment", "A\\\n=b c", "at byte 4: NAME=value before the command sets a variable"},
		{"default value", "a ${b:-c}", "at byte 3: ${ with more than a name changes what the variable holds"},
		{"length", "a ${#b}", "at byte 3: ${ with more than a name changes what the variable holds"},
		{"open brace", "a ${b", "at byte 3: ${ with more than a name changes what the variable holds"},
		{"argument", "a $1", "at byte 3: $1 is a variable of the shell itself"},
		{"arguments", `a "$@"`, "at byte 4: $@ is a variable of the shell itself"},
		{"process", "a $$", "at byte 3: $$ is a variable of the shell itself"},
		{"joined name", "a $b\\\nc",
			"at byte 3: a variable and what joins its line to the next, which may go on with its name"},
		{"joined dollar sign", "a \"$\\\nc\"",
			"at byte 4: a variable and what joins its line to the next, which may go on with its name"},
		{"quotes of bash", "a $'b'", "at byte 3: $' means something else in each shell"},
		{"translation of bash", `a $"b"`, `at byte 3: $" means something else in each shell`},
		{"old arithmetic", `a "$[1]"`, "at byte 4: $[ means something else in each shell"},
		{"open single quote", "a 'b", "at byte 3: a single quote is never closed"},
		{"open double quote", `a "b\"`, "at byte 3: a double quote is never closed"},
		{"last backslash", `a b\`, "at byte 4: a backslash at the end quotes nothing"},
		{"not UTF-8", "a \xff", "it is not UTF-8"},
		{"too long", strings.Repeat("a ", 64<<10) + "b", "it is longer than 131072 bytes"},
		{"NUL", "a\x00b", "at byte 2: no argument can hold a NUL"},
		{"NUL in quotes", "a '\x00'", "at byte 4: no argument can hold a NUL"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got, err := Split(tt.command); err == nil || err.Error() != tt.want {
				t.Errorf("Split(%q): got %q, %v, want %s", tt.command, show(got), err, tt.want)
			}
		})
	}
}
