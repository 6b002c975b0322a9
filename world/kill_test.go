package world

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

var kills = flag.Int("kills", 15, "how often TestKill kills a process that keeps trees")

// TestMain is also the process that TestKill kills: it keeps trees and opens views for ever.
func TestMain(m *testing.M) {
	if dir := os.Getenv("PRCHECK_TEST_KEEP"); dir != "" {
		err := keepForever(dir, os.Getenv("PRCHECK_TEST_KEEPER"))
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

func keepForever(dir, keeperDir string) error {
	ctx, k := context.Background(), Keeper{Dir: keeperDir, MaxBytes: 1 << 20}
	for i := 0; ; i++ {
		tree, err := OfCommit(ctx, dir, fmt.Sprint("HEAD~", i%3))
		if i%4 == 0 {
			tree, err = OfWorkTree(ctx, dir, WorkTreeOptions{Keeper: k})
		}
		if err != nil {
			return err
		}
		kept, err := k.Keep(ctx, tree)
		if err != nil {
			return err
		}
		for _, kind := range []ViewKind{Links, Copies} {
			v, err := kept.View(ctx, ViewOptions{Kind: kind})
			if err != nil {
				return err
			}
			if err := v.Close(); err != nil {
				return err
			}
		}
		if err := kept.Close(); err != nil {
			return err
		}
		k.discard(kept.dir)
	}
}

// TestKill kills processes that keep trees at random moments. Afterwards each tree is right, and nothing is left over.
func TestKill(t *testing.T) {
	r := variedRepository(t)
	for i := range 2 {
		for j := range 40 {
			r.write(fmt.Sprintf("more/%d/%d", j%7, j), strings.Repeat(fmt.Sprint(i, j), 500))
		}
		r.commit()
	}
	want := map[string]string{}
	for _, revision := range []string{"HEAD", "HEAD~1", "HEAD~2"} {
		want[revision] = r.checkout(revision)
	}
	r.write("a.txt", "an edit")
	k := keeper(t)
	k.MaxBytes = 1 << 20
	rnd := rand.New(rand.NewPCG(7, 8))
	for range *kills {
		var both []*exec.Cmd
		for range 2 {
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), "PRCHECK_TEST_KEEP="+r.dir, "PRCHECK_TEST_KEEPER="+k.Dir)
			cmd.Stderr = os.Stderr
			must(t, cmd.Start())
			both = append(both, cmd)
		}
		time.Sleep(time.Duration(rnd.IntN(120)) * time.Millisecond)
		for _, cmd := range both {
			must(t, cmd.Process.Kill())
			_ = cmd.Wait()
		}
		for revision, want := range want {
			kept, err := k.Keep(t.Context(), r.commitTree(revision))
			must(t, err)
			if got := onDisk(t, kept.Folder()); got != want {
				t.Fatalf("%s: got\n%s\nwant\n%s", revision, got, want)
			}
			must(t, kept.Close())
		}
	}
	left := []string{"unknown"}
	for end := time.Now().Add(30 * time.Second); len(left) > 0 &&
		time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		k.removeLeft() // a git of a killed process may write for another moment
		left = nil
		for _, pattern := range []string{"new-[0-9]*", "old-*", "views/*"} {
			found, _ := filepath.Glob(filepath.Join(k.Dir, pattern))
			left = append(left, found...)
		}
	}
	if len(left) > 0 {
		t.Errorf("left: %q", left)
	}
}

// TestKeepTogether keeps the same trees in many goroutines at once.
func TestKeepTogether(t *testing.T) {
	r, k := variedRepository(t), keeper(t)
	r.write("a.txt", "second")
	r.commit()
	want := map[string]string{"HEAD": r.checkout("HEAD"), "HEAD~1": r.checkout("HEAD~1")}
	var all sync.WaitGroup
	for i := range 12 {
		revision := []string{"HEAD", "HEAD~1"}[i%2]
		tree := r.commitTree(revision)
		all.Go(func() {
			kept, err := k.Keep(t.Context(), tree)
			if err != nil {
				t.Error(err)
				return
			}
			defer kept.Close()
			v, err := kept.View(t.Context(), ViewOptions{Kind: Copies})
			if err != nil {
				t.Error(err)
				return
			}
			if got := onDisk(t, v.Root); got != want[revision] {
				t.Errorf("%s: got\n%s", revision, got)
			}
			if err := v.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
}
