package submit

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/app-sre/prcheck/plan"
)

// indexVariable holds the index of a pod in its Indexed Job, counted from 0.
const indexVariable = "JOB_COMPLETION_INDEX"

// partOfPod returns the text from which [ParsePart] in each pod reads its part. If the first
// pod of a Job runs the fourth of eight parts, the text is "index+3/8".
func partOfPod(first, of int) string {
	index := "index"
	if first > 0 {
		index += "+" + strconv.Itoa(first)
	}
	return index + "/" + strconv.Itoa(of)
}

// A PartFlag is the value of a flag that names a part, as [ParsePart] reads it.
type PartFlag struct {
	*plan.Fraction
	Getenv func(string) string
}

// Set reads the value of the flag.
func (p PartFlag) Set(text string) error {
	part, err := ParsePart(text, p.Getenv)
	*p.Fraction = part
	return err
}

// ParsePart reads which part of a plan to run: i/n, or index/n and index+f/n with the
// pod's index from the variable JOB_COMPLETION_INDEX. In the pod with index 2,
// "index+3/8" is the sixth of eight parts.
func ParsePart(text string, getenv func(string) string) (part plan.Fraction, err error) {
	index, of, _ := strings.Cut(text, "/")
	offset, isIndex := strings.CutPrefix(index, "index")
	if !isIndex {
		return part, part.Set(text)
	}
	first := 0
	if offset != "" {
		n, err := strconv.ParseUint(strings.TrimPrefix(offset, "+"), 10, 31)
		if err != nil || offset[0] != '+' {
			return part, fmt.Errorf("%q is no part of a plan; write index/8, or index+3/8", text)
		}
		first = int(n)
	}
	i, err := strconv.Atoi(getenv(indexVariable))
	if err != nil || i < 0 || i > plan.MaxParts {
		return part, fmt.Errorf("%s takes the number from %s, which is %q", text, indexVariable, getenv(indexVariable))
	}
	err = part.Set(fmt.Sprintf("%d/%s", first+i+1, of))
	return part, err
}
