package mask

import (
	"slices"
	"strings"
)

// secretWords are the words in a variable's name that mark its value as a secret.
var secretWords = []string{"TOKEN", "SECRET", "PASS", "KEY", "CREDENTIAL", "AUTH", "JWT"}

// IsSecretName reports whether a variable is named like a secret. AUTHOR is not, although
// it contains AUTH: GitLab uses it for the author of a commit.
func IsSecretName(name string) bool {
	for part := range strings.SplitSeq(strings.ToUpper(name), "_") {
		hasWord := func(w string) bool { return strings.Contains(part, w) }
		if part != "AUTHOR" && slices.ContainsFunc(secretWords, hasWord) {
			return true
		}
	}
	return false
}
