//go:build unix

package main

import (
	"fmt"
	"path"
	"strings"
)

// shellHead begins every program for the shell. see complains of each word with BAD.
const shellHead = `#!/bin/%s
set -f
IFS=' ,:"{}[]
'
faults=0
fault() { echo "ERROR: $1 $2 $3"; faults=1; }
see() { for w in $2; do case $w in *BAD*) fault "$1" sees "$w";; esac; done; }
`

// shellTail ends every program for the shell. Edits write lines before it.
const shellTail = "exit $faults\n"

// shell returns the text of a program for sh or bash.
func (p program) shell() string {
	var b strings.Builder
	fmt.Fprintf(&b, shellHead, p.Language)
	for _, step := range p.Blocks {
		b.WriteString(step.shell())
	}
	b.WriteString(shellTail)
	return b.String()
}

// shell returns the lines of a block.
func (b block) shell() string {
	id, at := b.ID, b.Path
	dir, name := path.Split(at)
	two := b.Way%2 == 1
	switch b.Kind {
	case opens, built:
		return b.shellOpens(at)
	case absolute:
		if two {
			return b.shellOpens(`${CI_PROJECT_DIR:-$PWD}/` + at)
		}
		return b.shellOpens(`$PWD/` + at)
	case moves:
		return fmt.Sprintf("see %s \"$(cd %s && cat %s 2>/dev/null)\"\n", id, strings.TrimSuffix(dir, "/"), name)
	case imports:
		return fmt.Sprintf("MARK=\n. ./%s\nsee %s \"$MARK\"\n", at, id)
	case lists:
		list := []string{"ls -A " + at, "find " + at + "/ -type f", "cd " + at + " && set +f && echo *",
			"ls " + at + "/"}[b.Way]
		return fmt.Sprintf("see %s \"$(%s)\"\nset -- $(%s)\n[ $# -gt %d ] && fault %s counts many\n", id, list, list, b.Limit,
			id)
	case exists:
		if b.Way == 3 {
			return fmt.Sprintf("[ -e %s ] || fault %s misses %s\n", at, id, at)
		}
		return fmt.Sprintf("[ -e %s ] && fault %s finds %s\n", at, id, at)
	case executes:
		how := "sh " + at
		if two {
			how = "./" + at
		}
		return fmt.Sprintf("see %s \"$(%s 2>/dev/null)\" \n%s >/dev/null 2>&1 || fault %s executes %s\n", id, how, how, id,
			at)
	case follows:
		if b.Way == 0 && at != "folder/c.txt" {
			return fmt.Sprintf("[ -e \"$(readlink %s)\" ] || [ -e %s ] || fault %s misses target\nsee %s \"$(readlink %s)\"\n",
				at, at, id, id, at)
		}
		return b.shellOpens(at)
	case writes:
		return fmt.Sprintf("mkdir -p work\necho goodself > %s || fault %s cannot write\nread -r line < %s\n[ \"$line\" = "+
			"goodself ] || fault %s reads other\n", at, id, at, id) +
			map[bool]string{true: "rm -f " + at + "\n", false: ""}[two]
	case stats:
		if two {
			return fmt.Sprintf("[ -x %s ] && fault %s finds executable\n", at, id)
		}
		return fmt.Sprintf("[ -n \"$(find %s -size +%dc)\" ] && fault %s finds large\n", at, b.Limit, id)
	case git:
		return b.shellGit()
	case asks:
		return fmt.Sprintf("see %s \"$(%s || echo BADserver)\"\n", id, b.curl())
	}
	return ""
}

// curl returns the command that asks the server.
func (b block) curl() string {
	return fmt.Sprintf(`curl -sf -H 'Content-Type: application/json' -d '{"query":"%s"}' "$GRAPHQL_SERVER"`, b.question())
}

// shellOpens reads a file. Way 2 complains if it is missing.
func (b block) shellOpens(at string) string {
	switch b.Way {
	case 0:
		return fmt.Sprintf("line=\n[ -r \"%s\" ] && read -r line < \"%s\"\nsee %s \"$line\"\n", at, at, b.ID)
	case 2:
		return fmt.Sprintf("text=$(cat \"%s\" 2>/dev/null) || fault %s misses %s\nsee %s \"$text\"\n", at, b.ID, b.Path, b.ID)
	}
	return fmt.Sprintf("see %s \"$(cat \"%s\" 2>/dev/null)\"\n", b.ID, at)
}

// shellGit asks git about the path. No way depends on the name of a commit.
func (b block) shellGit() string {
	switch b.Way {
	case 0:
		return fmt.Sprintf("git rev-parse -q --verify HEAD >/dev/null 2>&1 || fault %s misses HEAD\nsee %s \"$(git show "+
			"HEAD:%s 2>/dev/null)\"\n", b.ID, b.ID, b.Path)
	case 1:
		return fmt.Sprintf("[ -n \"$(git ls-files %s 2>/dev/null)\" ] || [ ! -e %s ] || fault %s finds untracked\nsee %s "+
			"\"$(cat %s 2>/dev/null)\"\n", b.Path, b.Path, b.ID, b.ID, b.Path)
	case 2:
		return fmt.Sprintf("see %s \"$(git show HEAD:%s 2>/dev/null)\"\n", b.ID, b.Path)
	}
	return fmt.Sprintf("[ -z \"$(git diff --name-only -- %s 2>/dev/null)\" ] || fault %s finds difference\n", b.Path, b.ID)
}

// inline returns the command of a program that stands in its definition.
func (p program) inline() string {
	var tests []string
	for _, b := range p.Blocks {
		tests = append(tests, fmt.Sprintf(`case $(%s) in *BAD*|"") echo ERROR: %s sees BAD; exit 1;; esac`,
			strings.ReplaceAll(b.curl(), "'", `"'"'"`), b.ID))
	}
	return strings.Join(tests, "; ")
}
