package report_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	browserlog "github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// A tab is one tab of a headless browser.
type tab struct {
	ctx func() context.Context
	t   *testing.T

	mu       sync.Mutex
	messages []string // of the console
}

// newTab starts a browser. If none is installed, the test is skipped; a browser that
// PRCHECK_BROWSER names must work.
func newTab(t *testing.T) *tab {
	t.Helper()
	if testing.Short() && os.Getenv("PRCHECK_BROWSER") == "" {
		t.Skip("a short run tries no browser")
	}
	program, must := os.Getenv("PRCHECK_BROWSER"), true
	if program == "" {
		program, must = findBrowser(), false
	}
	if program == "" {
		t.Skip("no chromium or chrome is installed: the page is not tried in a browser")
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute) // it outlives the test, to be closed in order
	t.Cleanup(cancel)
	opts := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(program), chromedp.NoSandbox,
		chromedp.DisableGPU,
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true),
		chromedp.UserDataDir(t.TempDir()))
	ctx, cancel = chromedp.NewExecAllocator(ctx, opts...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	b := &tab{ctx: func() context.Context { return ctx }, t: t}
	if err := chromedp.Listen(ctx, b.recordMessage); err != nil {
		if must {
			t.Fatalf("starting %s: %v", program, err)
		}
		t.Skipf("%s does not start, the page is not tried in a browser: %v", program, err)
	}
	t.Cleanup(func() { _ = chromedp.Cancel(ctx) }) // so that its folder can be removed
	b.setScheme("light")
	return b
}

// setScheme sets the color scheme that the user prefers. It turns off motion, so that
// a click does not miss an element that is still moving.
func (b *tab) setScheme(scheme string) {
	b.t.Helper()
	media := emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
		{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: "reduce"}}}
	if _, err := chromedp.Call(b.ctx(), emulation.SetEmulatedMedia, media); err != nil {
		b.t.Fatal(err)
	}
}

// setMedia shows the page as on a medium, screen or print, and forgets the color scheme unless
// that is screen.
func (b *tab) setMedia(medium string) {
	b.t.Helper()
	if medium == "screen" {
		return
	}
	if _, err := chromedp.Call(b.ctx(), emulation.SetEmulatedMedia,
		emulation.SetEmulatedMediaParams{Media: medium}); err != nil {
		b.t.Fatal(err)
	}
}

// open opens a page.
func (b *tab) open(page string) {
	b.t.Helper()
	file := filepath.Join(b.t.TempDir(), "report.html")
	if err := os.WriteFile(file, []byte(page), 0o600); err != nil {
		b.t.Fatal(err)
	}
	b.do(chromedp.Navigate("file://" + filepath.ToSlash(file)))
}

func findBrowser() string {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome-stable", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}

// recordMessage records console output, errors of the script and messages of the
// browser, such as a violation of the content security policy.
func (b *tab) recordMessage(event any) {
	message := ""
	switch e := event.(type) {
	case *runtime.EventConsoleAPICalled:
		message = fmt.Sprintf("console.%s", e.Type)
	case *runtime.EventExceptionThrown:
		message = e.ExceptionDetails.Text
	case *browserlog.EventEntryAdded:
		message = e.Entry.Text
	default:
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.messages = append(b.messages, message)
}

// messagesSoFar returns the recorded messages.
func (b *tab) messagesSoFar() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]string(nil), b.messages...)
}

func (b *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	if err := chromedp.Do(b.ctx(), steps...); err != nil {
		b.t.Fatal(err)
	}
}

// pressSlash presses "/" as a keyboard does: the page can prevent that it is typed,
// which is not possible with chromedp.KeyEvent.
func (b *tab) pressSlash() {
	b.t.Helper()
	for _, kind := range []input.DispatchKeyEventType{input.DispatchKeyEventTypeKeyDown, input.DispatchKeyEventTypeKeyUp} {
		key := input.DispatchKeyEventParams{Type: kind, Key: "/", Code: "Slash", WindowsVirtualKeyCode: 191}
		if kind == input.DispatchKeyEventTypeKeyDown {
			key.Text = "/"
		}
		if _, err := chromedp.Call(b.ctx(), input.DispatchKeyEvent, key); err != nil {
			b.t.Fatal(err)
		}
	}
}

// pressEnter presses Enter on a link or a button.
func (b *tab) pressEnter(selector string) {
	b.t.Helper()
	b.do(chromedp.Evaluate[chromedp.Void](fmt.Sprintf("document.querySelector(%q).focus()", selector)),
		chromedp.KeyEvent(kb.Enter))
}

// waitFor waits until an expression has a value, and fails if that takes too long.
func (b *tab) waitFor(expression, want string) {
	b.t.Helper()
	got := evaluate[string](b, fmt.Sprintf(`new Promise((done) => {
    const late = performance.now() + 10000;
    const look = () => { const is = String(%s); is === %q || performance.now() > late ? done(is) : setTimeout(look, 10); };
    look();
  })`, expression, want))
	if got != want {
		b.t.Fatalf("%s is %q, want %q", expression, got, want)
	}
}

// evaluate returns the value of an expression.
func evaluate[T any](b *tab, expression string) T {
	b.t.Helper()
	got, err := chromedp.Run(b.ctx(), chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		b.t.Fatalf("%s: %v", expression, err)
	}
	return got
}
