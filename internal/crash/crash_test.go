package crash

import (
	"errors"
	"fmt"
	"regexp"
	"testing"
)

func TestText(t *testing.T) {
	var list []int
	var object any = "secret"
	for _, c := range []struct {
		name string
		do   func()
		want string
	}{
		{"a text", func() { panic("secret") }, `^panic at crash\.TestText\.func1, line \d+$`},
		{"an error", func() {
			panic(fmt.Errorf("no: %w", errors.New("secret")))
		}, `^panic at crash\.TestText\.func2, line \d+$`},
		{"the runtime", func() {
			list[3]++
		}, `^panic at crash\.TestText\.func3, line \d+: runtime error: index out of range \[3\] with length 0$`},
		{"a type", func() {
			_ = object.(int)
		}, `^panic at crash\.TestText\.func4, line \d+: interface conversion: interface \{\} is string, not int$`},
	} {
		got := func() (text string) {
			defer func() { text = Text(recover()) }()
			c.do()
			return ""
		}()
		if !regexp.MustCompile(c.want).MatchString(got) {
			t.Errorf("%s: got %s, want %s", c.name, got, c.want)
		}
	}
}
