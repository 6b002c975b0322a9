package repositories

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/integration/services"
)

func TestHeads(t *testing.T) {
	w := newWorld(t)
	first := w.commit(t, "main", map[string]string{"a": "1"})
	second := w.commit(t, "main-2", map[string]string{"a": "2"})
	w.git(t, "tag", "stable", second)
	r := reader(t)
	for _, isOld := range []bool{false, true} {
		w.isOld = isOld
		if isOld {
			r = reader(t)
		}
		got, err := r.Heads(t.Context(), w.repository(), []string{"main", "stable", "other", first, "main-2"})
		want := map[string]string{"main": first, "main-2": second, first: first}
		if err != nil || !maps.Equal(got, want) {
			t.Fatalf("old %t: got %v and the error %v, want %v", isOld, got, err, want)
		}
		asked := []string{"POST /shop/web.git/git-upload-pack"}
		if isOld {
			asked = append(asked, "GET /shop/web.git/info/refs")
		}
		if got := w.asked(); !slices.Equal(got, asked) {
			t.Errorf("old %t: asked %q, want %q", isOld, got, asked)
		}
		if _, err := r.Heads(t.Context(), w.repository(), []string{"main"}); err != nil {
			t.Fatal(err)
		}
		if got := w.asked(); len(got) != 1 {
			t.Errorf("old %t: asked %q the second time, want one request", isOld, got)
		}
		if _, err := r.Heads(t.Context(), w.repository(), []string{first}); err != nil || len(w.asked()) > 0 {
			t.Errorf("a sha was asked for, %v", err)
		}
	}
}

// answers are what a server may answer instead of git.
var answers = map[string]struct {
	answer http.HandlerFunc
	want   string
	class  integration.FailureClass
}{
	"no such repository": {http.NotFound, "it is not there", ""},
	"down":               {status(503), "the server answers 503 (tried 3 times)", integration.FailureTransient},
	"too many requests":  {status(429), "the server answers 429 (tried 3 times)", integration.FailureTransient},
	"no access":          {status(401), "the server answers 401: look at the credentials", integration.FailureOfConfig},
	"a page": {page("text/html", "<html>"), "does not answer as a server of git does",
		integration.FailureTransient},
	"nothing":  {page(resultType, ""), "does not answer as a server of git does", integration.FailureTransient},
	"nonsense": {page(resultType, "zzzz"), "does not answer as a server of git does", integration.FailureTransient},
	"cut off": {page(resultType, "003d0123456789012345678901234567890123456789 refs/heads/main\n"),
		"does not answer as a server of git does", integration.FailureTransient},
	"half a line": {page(resultType, "003d01234567890123456789"), "does not answer as a server of git does",
		integration.FailureTransient},
	"not a sha": {page(resultType, "0019main refs/heads/main\n0000"), "does not answer as a server of git does",
		integration.FailureTransient},
	"an error": {page(resultType, "0010ERR s3cret!\n0000"), "does not answer as a server of git does",
		integration.FailureTransient},
	"another host": {func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "https://elsewhere.example.com"+r.URL.Path, http.StatusMovedPermanently)
	}, "sends us to another address", integration.FailureOfConfig},
	"a circle": {func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, strings.Replace(r.URL.Path, "/shop", "/shop/shop", 1), http.StatusMovedPermanently)
	}, "redirects more than 3 times", integration.FailureOfConfig},
	"the connection ends": {func(http.ResponseWriter, *http.Request) {
		panic(http.ErrAbortHandler)
	}, "the server ends its answer early (tried 3 times)", integration.FailureTransient},
}

func status(code int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
}

func page(kind, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind)
		fmt.Fprint(w, body)
	}
}

// Only a server that says so gives "it is not there", and no error has the password.
func TestAnswers(t *testing.T) {
	for name, c := range answers {
		w := newWorld(t)
		w.intercept = func(to http.ResponseWriter, r *http.Request) bool { c.answer(to, r); return true }
		of := w.repository()
		of.Password = "s3cret"
		_, heads := reader(t).Heads(t.Context(), of, []string{"main"})
		_, files := reader(t).Files(t.Context(), of, strings.Repeat("a", 40), "x", false)
		_, log := reader(t).Log(t.Context(), of, strings.Repeat("a", 40), 3)
		for _, err := range []error{heads, files, log} {
			switch {
			case err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "s3cret"):
				t.Errorf("%s: got %v, want %q", name, err, c.want)
			case errors.Is(err, services.ErrNotThere) != (c.class == ""), integration.ClassOfFailure(err) != c.class:
				t.Errorf("%s: got the class %q of %v", name, integration.ClassOfFailure(err), err)
			}
		}
	}
}

func TestSlowServer(t *testing.T) {
	w := newWorld(t)
	w.intercept = func(_ http.ResponseWriter, r *http.Request) bool {
		_, _ = io.Copy(io.Discard, r.Body) // only then a server notices that nobody waits
		<-r.Context().Done()
		return true
	}
	r := reader(t)
	r.timeout = 20 * time.Millisecond
	if _, err := r.Heads(t.Context(), w.repository(),
		[]string{"main"}); err == nil || !strings.Contains(err.Error(), "does not answer in time") ||
		integration.ClassOfFailure(err) != integration.FailureTransient {
		t.Errorf("got %v", err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("enough"))
	if _, err := r.Heads(ctx, w.repository(), []string{"main"}); err == nil || !strings.Contains(err.Error(), "enough") {
		t.Errorf("got %v, want the cause", err)
	}
}

// A server that sends us to another host does not make us ask that one.
func TestRedirectToAnotherHost(t *testing.T) {
	w, other := newWorld(t), newWorld(t)
	other.commit(t, "main", map[string]string{"a": "1"})
	w.intercept = func(to http.ResponseWriter, r *http.Request) bool {
		http.Redirect(to, r, other.URL+r.URL.Path, http.StatusTemporaryRedirect)
		return true
	}
	if _, err := reader(t).Heads(t.Context(), w.repository(),
		[]string{"main"}); err == nil || !strings.Contains(err.Error(), "sends us to another address") ||
		len(other.asked()) > 0 {
		t.Errorf("got %v", err)
	}
}

// A repository that was renamed answers at its new place, with the credentials.
func TestRename(t *testing.T) {
	w := newWorld(t)
	commit := w.commit(t, "main", map[string]string{"a": "1"})
	w.password = "s3cret"
	w.intercept = func(to http.ResponseWriter, r *http.Request) bool {
		if rest, isOld := strings.CutPrefix(r.URL.Path, "/old/name.git"); isOld {
			http.Redirect(to, r, "/shop/web.git"+rest+"?"+r.URL.RawQuery, http.StatusMovedPermanently)
			return true
		}
		return false
	}
	of := w.repository()
	of.URL = w.URL + "/old/name"
	r := reader(t)
	if got, err := r.Heads(t.Context(), of, []string{"main"}); err != nil || got["main"] != commit {
		t.Errorf("got %v and %v", got, err)
	}
	if got, err := r.Files(t.Context(), of, commit, "a", false); err != nil || string(got[""]) != "1" {
		t.Errorf("got %q and %v", got, err)
	}
}

func TestFiles(t *testing.T) {
	w := newWorld(t)
	commit := w.commit(t, "main", map[string]string{"chart/Chart.yaml": "name: x", "chart/templates/a.yaml": "a",
		"chart/link": "->../../../etc/passwd", "top": "t", "weird/-x y": "w", "to": "->top"})
	w.commit(t, "main", map[string]string{"top": "newer"})
	for _, filter := range []bool{true, false} {
		w.filter, w.password = filter, "s3cret"
		r := reader(t)
		for _, c := range []struct {
			path string
			deep bool
			want map[string]string // nil: not there
		}{
			{"/top", false, map[string]string{"": "t"}},
			{"chart", true, map[string]string{"Chart.yaml": "name: x", "templates/a.yaml": "a"}},
			{"/chart/", false, map[string]string{"Chart.yaml": "name: x"}},
			{"weird", false, map[string]string{"-x y": "w"}},
			{"", false, map[string]string{"top": "t"}},
			{"to", false, nil},
			{"chart/link", false, nil},
			{"nothing", false, nil},
			{"top/below", false, nil},
		} {
			got, err := r.Files(t.Context(), w.repository(), commit, c.path, c.deep)
			if c.want == nil {
				if !errors.Is(err, services.ErrNotThere) {
					t.Errorf("filter %t, %q: got %q and %v, want that it is not there", filter, c.path, got, err)
				}
				continue
			}
			texts := map[string]string{}
			for name, raw := range got {
				texts[name] = string(raw)
			}
			if err != nil || !reflect.DeepEqual(texts, c.want) {
				t.Errorf("filter %t, %q: got %q and %v, want %q", filter, c.path, texts, err, c.want)
			}
		}
		if _, err := r.Files(t.Context(), w.repository(), strings.Repeat("a", 40), "top", false); !errors.Is(err,
			services.ErrNotThere) {
			t.Errorf("filter %t: got %v for a commit that is not there", filter, err)
		}
		for _, path := range []string{"../x", "a/../b", "a//b", "x\x00"} {
			if _, err := r.Files(t.Context(), w.repository(), commit, path, false); err == nil ||
				errors.Is(err, services.ErrNotThere) {
				t.Errorf("filter %t, %q: got %v, want a refusal", filter, path, err)
			}
		}
		if err := holdsNone(r.folder, "s3cret", "czNjcmV0"); err != nil {
			t.Error(err)
		}
	}
}

// holdsNone returns an error if a file below a folder has one of the texts.
func holdsNone(folder string, texts ...string) error {
	return filepath.WalkDir(folder, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		raw, err := os.ReadFile(path)
		for _, text := range texts {
			if strings.Contains(string(raw), text) {
				return fmt.Errorf("%s has credentials", path)
			}
		}
		return err
	})
}

// The server is not asked for files that nobody wants, if it can leave them out.
func TestFilesAreFew(t *testing.T) {
	w := newWorld(t)
	w.filter = true
	commit := w.commit(t, "main", map[string]string{"small": "s", "large": strings.Repeat("0123456789abcdef", 1<<16)})
	r := reader(t)
	if _, err := r.Files(t.Context(), w.repository(), commit, "small", false); err != nil {
		t.Fatal(err)
	}
	w.asked()
	if _, err := r.Files(t.Context(), w.repository(), commit, "small", false); err != nil || len(w.asked()) > 0 {
		t.Errorf("the same file was fetched twice, %v", err)
	}
	w.password = "s3cret"
	if _, err := r.Files(t.Context(), services.Repository{URL: w.URL + "/shop/web"}, commit, "small", false); err != nil {
		t.Errorf("what was fetched without credentials is there without them: %v", err)
	}
	if _, err := r.Files(t.Context(), services.Repository{URL: w.URL + "/shop/web", Password: "wrong"}, commit, "small",
		false); err == nil {
		t.Error("wrong credentials read what was fetched without them")
	}
	large := w.git(t, "rev-parse", commit+":large")
	for _, m := range r.mirrors {
		if _, err := m.Contents(t.Context(), []string{large}, 1<<30); err == nil {
			t.Error("the large file was fetched")
		}
	}
}

func TestTooLarge(t *testing.T) {
	w := newWorld(t)
	commit := w.commit(t, "main", map[string]string{"large": strings.Repeat("0123456789abcdef", maxBytes/16+1)})
	_, err := reader(t).Files(t.Context(), w.repository(), commit, "large", false)
	if err == nil || !strings.Contains(err.Error(), "larger than 16 MiB") ||
		integration.ClassOfFailure(err) != integration.FailureOfConfig {
		t.Errorf("got %v", err)
	}
}

func TestLog(t *testing.T) {
	w := newWorld(t)
	var commits []string
	for i := range 5 {
		commits = append([]string{w.commit(t, "main", map[string]string{"a": fmt.Sprint(i)})}, commits...)
	}
	side := w.commit(t, "side", map[string]string{"b": "x"})
	merge := w.git(t, "commit-tree", "-p", commits[0], "-p", side, "-m", "merge", commits[0]+"^{tree}")
	for _, filter := range []bool{true, false} {
		w.filter = filter
		r := reader(t)
		if _, err := r.Files(t.Context(), w.repository(), commits[2], "a", false); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			for _, limit := range []int{1, 3, 100} {
				got, err := r.Log(t.Context(), w.repository(), commits[0], limit)
				if want := commits[:min(limit, len(commits))]; err != nil || !slices.Equal(got, want) {
					t.Errorf("filter %t, limit %d: got %q and %v, want %q", filter, limit, got, err, want)
				}
			}
			if _, err := r.Files(t.Context(), w.repository(), commits[1], "a", false); err != nil {
				t.Fatal(err)
			}
		}
		got, err := r.Log(t.Context(), w.repository(), merge, 100)
		if want := append([]string{merge}, commits...); err != nil || !slices.Equal(got, want) {
			t.Errorf("filter %t: got %q and %v for a merge, want %q", filter, got, err, want)
		}
		if _, err := r.Log(t.Context(), w.repository(), strings.Repeat("b", 40), 3); !errors.Is(err, services.ErrNotThere) {
			t.Errorf("filter %t: got %v for a commit that is not there", filter, err)
		}
	}
}

func TestAddresses(t *testing.T) {
	for address, want := range map[string]string{
		"":                                   "is no address of a repository",
		"ssh://git@example.com/x":            "is no address of a repository",
		"file:///etc":                        "is no address of a repository",
		"--upload-pack=x":                    "is no address of a repository",
		"https://user:s3cret@example.com/x":  "must have no user",
		"https://example.com/x?token=s3cret": "must have no user, no query",
		"https://example.com/x\ny":           "is no address of a repository",
		"http://example.com/x":               "would get a credential over http: name it with https",
	} {
		_, err := reader(t).Heads(t.Context(), services.Repository{URL: address, Password: "pw"}, []string{"main"})
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%q: got %v, want %q", address, err, want)
		}
	}
}

func TestBranches(t *testing.T) {
	for _, branch := range []string{"", "a b", "a\n", strings.Repeat("a", 600)} {
		if _, err := reader(t).Heads(t.Context(), services.Repository{URL: "https://example.com/x"},
			[]string{branch}); err == nil || !strings.Contains(err.Error(), "is no name of a branch") {
			t.Errorf("%q: got %v", branch, err)
		}
	}
}

// What a server answers is read to its end or refused, and never panics.
func FuzzAnswers(f *testing.F) {
	for _, seed := range []string{"", "0000", "003d0123456789012345678901234567890123456789 refs/heads/main\n0000",
		"001e# service=git-upload-pack\n00000000", "0004", "ffff", "0005x"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		for _, read := range []func([]byte) (map[string]string, error){readRefs, readAdvertisement} {
			heads, err := read(raw)
			if err != nil && heads != nil {
				t.Errorf("got %v and %v", heads, err)
			}
			for branch, commit := range heads {
				if !fullSha.MatchString(commit) || strings.Contains(branch, " ") {
					t.Errorf("got %q at %q", commit, branch)
				}
			}
		}
	})
}

// Several goroutines may read one repository at once.
func TestConcurrent(t *testing.T) {
	w := newWorld(t)
	w.filter = true
	first := w.commit(t, "main", map[string]string{"a": "1"})
	second := w.commit(t, "main", map[string]string{"a": "2"})
	r := reader(t)
	var group sync.WaitGroup
	for i := range 9 {
		group.Go(func() {
			commit, want := first, "1"
			if i%2 == 0 {
				commit, want = second, "2"
			}
			switch i % 3 {
			case 0:
				if got, err := r.Heads(t.Context(), w.repository(), []string{"main"}); err != nil || got["main"] != second {
					t.Errorf("got %v and %v", got, err)
				}
			case 1:
				if got, err := r.Files(t.Context(), w.repository(), commit, "a", false); err != nil || string(got[""]) != want {
					t.Errorf("got %q and %v, want %q", got, err, want)
				}
			default:
				if got, err := r.Log(t.Context(), w.repository(), second, 5); err != nil ||
					!slices.Equal(got, []string{second, first}) {
					t.Errorf("got %q and %v", got, err)
				}
			}
		})
	}
	group.Wait()
}
