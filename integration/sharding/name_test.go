package sharding_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/integration/sharding"
	"github.com/app-sre/prcheck/settings"
)

func ExampleName() {
	for _, key := range []string{"app-sre-prod-01", "App SRE/prod", "app sre/prod"} {
		fmt.Println(sharding.Name(key, sharding.MaxCronJob))
	}
	// Output:
	// app-sre-prod-01
	// app-sre-prod-aopj5v6i4c6i4a2j2moxjcdnsq
	// app-sre-prod-wxmphczk27g7xvmqq3vjsvcxia
}

// A key that could be taken for something else is refused. All others reach an argument
// as they are.
func TestCheckKey(t *testing.T) {
	for _, c := range []struct {
		key, want string // the error
	}{
		{"a", ""}, {"a b", ""}, {"a/b", ""}, {"/", ""}, {`a"b'c`, ""}, {"$(id);x|y", ""}, {"..", ""}, {"../../etc", ""},
		{"é 日本", ""}, {" ", ""}, {"=", ""}, {"a-", ""},
		{strings.Repeat("k", 253), ""},
		{"", "has an empty key"},
		{strings.Repeat("k", 254), "has a key longer than 253 bytes"},
		{strings.Repeat("k", 5000), "has a key longer than 253 bytes"},
		{"-", "has a key that begins with a dash"},
		{"--no-dry-run", "has a key that begins with a dash"},
		{"{config}", "has a key with braces"},
		{"a}", "has a key with braces"},
		{"a\nb", "has a key with braces or control characters"},
		{"a\x00", "has a key with braces or control characters"},
		{"a\x7f", "has a key with braces or control characters"},
		{"\xff", "has a key with braces or control characters"},
	} {
		err := sharding.CheckKey(c.key)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.HasPrefix(err.Error(), c.want)) {
			t.Errorf("%.40q: got %v, want %q", c.key, err, c.want)
		}
		if err != nil {
			continue
		}
		exec := settings.Exec{Argv: []string{"run", "{shard_args}", "--only={shard}"}}
		got := exec.Expand("it", nil, "--account", c.key)
		if want := []string{"run", "--account", c.key, "--only=" + c.key}; strings.Join(got, "\x00") != strings.Join(want,
			"\x00") {
			t.Errorf("%.40q: got the arguments %q, want %q", c.key, got, want)
		}
	}
}

// Names have at most the length of a DNS label.
func TestLongestNames(t *testing.T) {
	for _, c := range []struct{ max, want int }{{sharding.MaxName, 63}, {sharding.MaxCronJob, 52}} {
		long := strings.Repeat("k", c.want)
		if got := sharding.Name(long, c.max); got != long {
			t.Errorf("got %q for a key of %d characters", got, c.want)
		}
		if got := sharding.Name(long+"k", c.max); len(got) > c.want {
			t.Errorf("got %q, which has more than %d characters", got, c.want)
		}
	}
}
