package integration

import (
	"fmt"

	"github.com/app-sre/prcheck/internal/suggest"
)

// didYouMean is the end of a message about a misspelled word, or nothing when
// no known word is near.
func didYouMean(got string, known []string) string {
	near := suggest.Words(got, known, 2)
	if len(near) == 0 {
		return ""
	}
	return fmt.Sprintf(" (did you mean %q?)", near[0])
}
