package names

import "github.com/app-sre/prcheck/internal/lazyregexp"

// maxTool is the largest size of a tool's name, in bytes.
const maxTool = 40

var (
	plain = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)
	tool  = lazyregexp.New(`^[a-z0-9]+(-[a-z0-9]+)*$`)
)

// IsPlain reports whether a name is one plain word, such as "terraform-users": it
// begins with a letter or a digit, and has only letters, digits, dots, underscores
// and hyphens, all of them ASCII.
//
// A plain name in a command is neither an option, such as "--no-dry-run", nor a path,
// a placeholder or several words.
func IsPlain(name string) bool { return plain.MatchString(name) }

// IsTool reports whether a name can tell the notes and statuses of one tool from
// those of another: lower-case letters, digits and single hyphens between them, at
// most 40. The marker of one tool's notes never begins like that of another's, and
// ends no HTML comment.
func IsTool(name string) bool { return len(name) <= maxTool && tool.MatchString(name) }
