package plan

import (
	"fmt"
	"strings"
)

// A Fraction names one of several parts, such as 2/8 for the second of eight parts.
// The zero value means the whole. A Fraction can be the value of a flag.
type Fraction struct{ Part, Of int }

// Tasks returns the tasks of this part, see [Partition].
func (f Fraction) Tasks(tasks []Task) []Task {
	if f == (Fraction{}) {
		return tasks
	}
	return Partition(tasks, f.Of)[f.Part-1].Tasks
}

// String returns the fraction as text; "" for the whole.
func (f Fraction) String() string {
	if f == (Fraction{}) {
		return ""
	}
	return fmt.Sprintf("%d/%d", f.Part, f.Of)
}

// Type returns the name of the value in the help of a flag.
func (f Fraction) Type() string { return "i/n" }

// MarshalText returns the text of [Fraction.String].
func (f Fraction) MarshalText() ([]byte, error) { return []byte(f.String()), nil }

// UnmarshalText reads a text as [Fraction.Set] does.
func (f *Fraction) UnmarshalText(text []byte) error { return f.Set(string(text)) }

// Set reads the text of a fraction, such as 2/8. The text "" is an error.
func (f *Fraction) Set(s string) error {
	part, of, ok := strings.Cut(s, "/")
	i, n := number(part), number(of)
	switch {
	case !ok || i < 0 || n < 0:
		return fmt.Errorf("%q is no part of a plan; write the first of eight as 1/8", s)
	case n == 0 || n > MaxParts:
		return fmt.Errorf("a plan is divided into 1 to %d parts, not into %d", MaxParts, n)
	case i == 0 || i > n:
		return fmt.Errorf("there is no part %d of %d; they are 1/%d to %d/%d", i, n, n, n, n)
	}
	*f = Fraction{i, n}
	return nil
}

// number reads a number of at most nine digits, without a sign or leading zeros. It
// returns -1 for any other text.
func number(s string) int {
	if s == "" || len(s) > 9 || len(s) > 1 && s[0] == '0' {
		return -1
	}
	n := 0
	for _, c := range s {
		if c < '0' || c > '9' {
			return -1
		}
		n = n*10 + int(c-'0')
	}
	return n
}
