package plan

import "fmt"

// An Assumption is something that skips rest on and that nobody has proven.
type Assumption string

// The assumptions.
const (
	AssumedOrder       Assumption = "list_order"  // the order of lists in desired states does not count
	AssumedSchemas     Assumption = "schemas"     // the definition names all schemas that it reads
	AssumedReads       Assumption = "reads"       // a program that nobody has recorded reads no file that changed
	AssumedRuns        Assumption = "runs"        // a run that nobody recorded read no more than the settings allow
	AssumedEnvironment Assumption = "environment" // what the settings declare as environment is the same for all runs
	// a server that was to be asked would have answered as the embedded engine does
	AssumedAnswers Assumption = "answers"
)

// Assumptions returns all assumptions in a fixed order.
func Assumptions() []Assumption {
	return []Assumption{AssumedOrder, AssumedSchemas, AssumedReads, AssumedRuns, AssumedEnvironment, AssumedAnswers}
}

// Sentence says for how many skips something is assumed, and which setting or command removes the
// assumption.
func (a Assumption) Sentence(n int) string {
	skips, compare, take, rest := "skips", "compare", "take", "rest"
	if n == 1 {
		skips, compare, take, rest = "skip", "compares", "takes", "rests"
	}
	switch a {
	case AssumedOrder:
		return fmt.Sprintf("%d %s %s desired states without the order of lists (list_order: significant compares it)", n,
			skips, compare)
	case AssumedSchemas:
		return fmt.Sprintf("%d %s %s the word of a definition about its schemas (a run with --state shows them, or "+
			"schemas: strict holds it to them)", n, skips, take)
	case AssumedReads:
		return fmt.Sprintf("%d %s of programs whose reads nobody recorded (reads: strict runs them once)", n, skips)
	case AssumedRuns:
		return fmt.Sprintf("%d %s %s on earlier runs whose reads nobody recorded (a run on Linux, amd64, without prepare: "+
			"records them)", n, skips, rest)
	case AssumedEnvironment:
		return fmt.Sprintf("%d %s %s on earlier runs in the files that environment: declares (files that git tracks are "+
			"compared)", n, skips, rest)
	case AssumedAnswers:
		return fmt.Sprintf("%d %s %s on answers that the server did not give (let it load both bundle files, and "+
			"verify again)", n, skips, rest)
	}
	return fmt.Sprintf("%d %s %s on %s", n, skips, rest, string(a))
}
