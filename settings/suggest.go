package settings

import (
	"fmt"

	"github.com/app-sre/prcheck/internal/suggest"
)

// didYouMean returns the end of a message about a misspelled word: the known word that is
// most similar. It returns "" if no known word is similar.
func didYouMean(got string, known []string) string {
	near := suggest.Words(got, known, 2)
	if len(near) == 0 {
		return ""
	}
	return fmt.Sprintf(" (did you mean %q?)", near[0])
}
