package note_test

import (
	"context"
	"html"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/app-sre/prcheck/ci/note"
)

// countScript replaces a page by a summary of what the browser made of it: elements
// that could act, links that are not ours, and the size of the page, which shows that
// it was read at all.
const countScript = `<script>
const all = (what) => [...document.querySelectorAll(what)];
const active = all("script, style, link, img, svg, iframe, object, embed, form, input, video, audio, [onerror], [onload], [onclick]").length - 1;
const foreign = all("[href], [src]").filter((e) => !(e.href || e.src).startsWith("https://gitlab.example.com/")).length;
document.body.textContent = "active " + active + ", foreign " + foreign + ", folds " + all("details").length + ", rows " + all("tr").length;
</script>`

func TestBrowserFindsNothingForeign(t *testing.T) {
	program := os.Getenv("PRCHECK_BROWSER")
	must := program != ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome-stable", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil && program == "" {
			program = path
		}
	}
	if program == "" {
		t.Skip("no chromium or chrome is installed: the note is not tried in a browser")
	}
	p := infested(t)
	text := writeBody(t, note.Note{Tool: "prcheck", Plan: p, Results: infestedResults(p, hostile), Links: links()}, "")
	dir, err := os.MkdirTemp("", "note")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) }) // unlike t.TempDir, it does not mind what a browser still writes
	page := filepath.Join(dir, "note.html")
	if err := os.WriteFile(page, []byte("<!doctype html><meta charset=utf-8><body>"+renderHTML(t, text)+countScript),
		0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	out, err := exec.CommandContext(ctx, program, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic",
		"--disable-component-update",
		"--user-data-dir="+filepath.Join(dir, "user"), "--dump-dom", "file://"+filepath.ToSlash(page)).Output()
	if err != nil && must {
		t.Fatalf("starting %s: %v", program, err)
	}
	if err != nil {
		t.Skipf("%s does not start, the note is not tried in a browser: %v", program, err)
	}
	if got, want := html.UnescapeString(string(out)), "active 0, foreign 0, folds 3, rows 9<"; !strings.Contains(got,
		want) {
		t.Errorf("got %s, want %s", got, want)
	}
}
