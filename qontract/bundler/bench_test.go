package bundler_test

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/qontract/bundler"
)

// newLargeCheckout writes the shop with many more users in the style of a hand-written
// repository, about a kilobyte each.
func newLargeCheckout(t testing.TB, users int) string {
	dir := writeFiles(t, shopFiles())
	for i := range users {
		var b strings.Builder
		fmt.Fprintf(&b,
			"---\n$schema: /user.yml\n\nlogin: user-%d\nlabels:\n  team: t%d # since spring\n  active: yes\n\nkeys:\n", i, i%50)
		for k := range 8 {
			fmt.Fprintf(&b,
				"- name: key-%d\n  weight: %d\n  hosts: [host-%d.example.com, 'host %d']\n  note: \"written by hand\"\n", k, k*i, k,
				i)
		}
		b.WriteString("about: |\n  Likes tea.\n\n  And long walks.\n")
		writeFile(t, filepath.Join(dir, fmt.Sprintf("data/users/%02d/%d.yml", i%40, i)), b.String())
	}
	return dir
}

func benchmark(b *testing.B, in bundler.Input, opts bundler.Options) {
	b.Helper()
	b.ReportAllocs()
	for b.Loop() {
		r, found, err := bundler.Make(b.Context(), in, opts)
		if err != nil || found != nil {
			b.Fatal(found, err)
		}
		n, err := r.WriteTo(io.Discard)
		if err != nil {
			b.Fatal(err)
		}
		b.SetBytes(n)
		r.Close()
	}
}

func BenchmarkMake(b *testing.B) {
	dir := newLargeCheckout(b, 2000)
	commitAll(b, dir)
	cache := bundler.OpenCache(b.TempDir())
	head := openCommit(b, dir, "HEAD")
	b.Run("folder", func(b *testing.B) { benchmark(b, newInput(bundler.Folder(dir)), bundler.Options{}) })
	b.Run("commit", func(b *testing.B) { benchmark(b, newInput(head), bundler.Options{}) })
	b.Run("cached", func(b *testing.B) { benchmark(b, newInput(head), bundler.Options{Cache: cache}) })
	b.Run("worktree", func(b *testing.B) {
		benchmark(b, newInput(bundler.OpenWorkTree(b.Context(), dir, cache)), bundler.Options{Cache: cache})
	})
}
