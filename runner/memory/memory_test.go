package memory_test

import (
	"testing"
	"testing/fstest"

	"github.com/app-sre/prcheck/runner/memory"
)

func TestLimit(t *testing.T) {
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	const info = "MemTotal: 100000 kB\nMemAvailable:    2000 kB\n"
	for name, c := range map[string]struct {
		text   string
		system fstest.MapFS
		want   int64
	}{
		"none":             {"", nil, 0},
		"an amount":        {"4GiB", fstest.MapFS{"proc/meminfo": file(info)}, 4 << 30},
		"nothing is known": {"auto", nil, 0},
		"the machine": {"auto", fstest.MapFS{"proc/meminfo": file(info), "sys/fs/cgroup/memory.max": file("max\n")},
			2000 << 10 / 10 * 9},
		"a container": {"auto", fstest.MapFS{"proc/meminfo": file(info), "sys/fs/cgroup/memory.max": file("1000\n")},
			900},
		"an old container": {"auto",
			fstest.MapFS{"proc/meminfo": file(info),
				"sys/fs/cgroup/memory/memory.limit_in_bytes": file("9223372036854771712\n")}, 2000 << 10 / 10 * 9},
		"nonsense": {"auto", fstest.MapFS{"proc/meminfo": file("MemAvailable: x kB\n"),
			"sys/fs/cgroup/memory.max": file("-1")}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			var l memory.Limit
			if c.text != "" {
				if err := l.Set(c.text); err != nil {
					t.Fatal(err)
				}
			}
			if got := l.Bytes(c.system); got != c.want || l.String() != c.text {
				t.Errorf("got %d, %q, want %d", got, l.String(), c.want)
			}
		})
	}
	for _, text := range []string{"", "4", "4GB", "-4GiB", "0MiB", "1.5GiB", "99999999999GiB", "999999999TiB", "Auto"} {
		if err := new(memory.Limit).Set(text); err == nil {
			t.Errorf("%q was taken", text)
		}
	}
}
