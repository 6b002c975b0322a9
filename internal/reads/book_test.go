//go:build linux && amd64

package reads

import (
	"bytes"
	"os"
	"strconv"
	"strings"
	"testing"
)

func TestTooManyNames(t *testing.T) {
	tests := map[string]struct {
		names int
		name  string // before a number
		want  int
	}{
		"names": {maxNames + 100, "/no/such/folder/", maxNames},
		"bytes": {20_000, "/no/such/folder/" + strings.Repeat("x", 4000) + "/", maxBytes / 4022},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			b := newBook(Scope{Below: []string{"/no/such/folder"}})
			for i := range test.names {
				text := strconv.Itoa(100_000_000 + i)[3:]
				b.use(1, []byte(test.name+text), asked, true)
			}
			r := b.record()
			if len(r.Accesses) != test.want && name == "names" || len(r.Accesses) < test.want-10 ||
				len(r.Accesses) > test.want || r.Partial != "it used too many names" {
				t.Errorf("got %d names, partial %q, want %d", len(r.Accesses), r.Partial, test.want)
			}
		})
	}
}

// Links that lead to each other, and to more and more links, end.
func TestLinksWithoutEnd(t *testing.T) {
	dir := t.TempDir()
	for link, to := range map[string]string{"a": "b", "b": "a", "self": "self/x", "one": "two/../two",
		"two": "three/../three", "three": "one/../one"} {
		if err := os.Symlink(to, dir+"/"+link); err != nil {
			t.Fatal(err)
		}
	}
	b := newBook(Scope{Below: []string{dir}})
	for _, name := range []string{"a", "b/x", "self/y", "one", "two/../one/x"} {
		b.use(1, []byte(dir+"/"+name), opened, true)
	}
	if got := len(b.record().Accesses); got < 5 {
		t.Errorf("got %d names", got)
	}
}

// FuzzUse gives hostile names to a book: it neither panics nor tells a name outside.
func FuzzUse(f *testing.F) {
	for _, seed := range []string{"/", "//", "/a/../..", "/proc/self/fd/0/../x", "/dev/fd/1", "/w/./\xff\n//",
		"/proc/self/root/w"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, name []byte) {
		if len(name) == 0 || name[0] != '/' || bytes.IndexByte(name, 0) >= 0 || len(name) > 4000 {
			return
		}
		b := newBook(Scope{Below: []string{"/w"}})
		b.use(os.Getpid(), name, opened, true)
		for _, a := range b.record().Accesses {
			if a.Name != "/w" && !strings.HasPrefix(a.Name, "/w/") {
				t.Errorf("%q: got %q", name, a.Name)
			}
		}
	})
}

func FuzzLoader(f *testing.F) {
	if program, err := os.ReadFile("/bin/true"); err == nil {
		f.Add(program[:min(len(program), 4096)])
	}
	f.Fuzz(func(_ *testing.T, program []byte) { loader(bytes.NewReader(program)) })
}
