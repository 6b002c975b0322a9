package source

import "testing"

func TestCheckoutNames(t *testing.T) {
	for _, c := range []struct{ ref, want string }{
		{"git:main", "git:main"},
		{"git:main@.", "git:main"},
		{"git:main@../repo", "git:main@../repo"},
		{"git:main@/home/ana/repo", "git:main@repo"},
		{"git:HEAD@{1}", "git:HEAD@{1}"},
		{"git:HEAD@{1}@/a/b", "git:HEAD@{1}@b"},
		{"git:@", "git:@"},
		{"dir:.", "dir:."},
		{"dir:../a/./b", "dir:../a/b"},
		{"dir:/home/ana/repo", "dir:repo"},
	} {
		if got := Name(c.ref); got != c.want {
			t.Errorf("%s: got %s, want %s", c.ref, got, c.want)
		}
	}
}

func TestCacheFolder(t *testing.T) {
	for _, c := range []struct {
		name string
		env  map[string]string
		want string
	}{
		{"told", map[string]string{"XDG_CACHE_HOME": "/c", "HOME": "/h"}, "/c/prcheck"},
		{"home", map[string]string{"HOME": "/h"}, "/h/.cache/prcheck"},
		{"relative", map[string]string{"XDG_CACHE_HOME": "c", "HOME": "h"}, ""},
		{"nothing", nil, ""},
	} {
		if got := CacheFolder(func(name string) string { return c.env[name] }); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}
