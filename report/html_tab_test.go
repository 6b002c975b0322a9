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

// browse starts a browser. Without one the test is skipped; when PRCHECK_BROWSER
// names one, it must work.
func browse(t *testing.T) *tab {
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
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute) // it outlives the test, to be closed in order
	t.Cleanup(cancel)
	opts := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(program), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true), chromedp.UserDataDir(t.TempDir()))
	ctx, cancel = chromedp.NewExecAllocator(ctx, opts...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	b := &tab{ctx: func() context.Context { return ctx }, t: t}
	if err := chromedp.Listen(ctx, b.hear); err != nil {
		if must {
			t.Fatalf("starting %s: %v", program, err)
		}
		t.Skipf("%s does not start, the page is not tried in a browser: %v", program, err)
	}
	t.Cleanup(func() { _ = chromedp.Cancel(ctx) }) // so that its folder can be removed
	b.prefer("light")
	return b
}

// prefer sets what the user prefers: a scheme, and no motion, since a click must
// not miss what is still moving.
func (b *tab) prefer(scheme string) {
	b.t.Helper()
	media := emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
		{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: "reduce"}}}
	if _, err := chromedp.Call(b.ctx(), emulation.SetEmulatedMedia, media); err != nil {
		b.t.Fatal(err)
	}
}

// open shows a page.
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

// hear notes what the page writes to the console, what it throws and what the
// browser says about it, such as a violation of its policy.
func (b *tab) hear(event any) {
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

// heard returns the messages so far.
func (b *tab) heard() []string {
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

// slash presses "/" as a keyboard does: what the page does not want to be typed is
// not typed, which chromedp.KeyEvent leaves out.
func (b *tab) slash() {
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

// enter presses Enter on a link or a button.
func (b *tab) enter(selector string) {
	b.t.Helper()
	b.do(chromedp.Evaluate[chromedp.Void](fmt.Sprintf("document.querySelector(%q).focus()", selector)), chromedp.KeyEvent(kb.Enter))
}

// is waits until an expression has a value, and fails when it stays another.
func (b *tab) is(expression, want string) {
	b.t.Helper()
	got := ask[string](b, fmt.Sprintf(`new Promise((done) => {
    const late = performance.now() + 10000;
    const look = () => { const is = String(%s); is === %q || performance.now() > late ? done(is) : setTimeout(look, 10); };
    look();
  })`, expression, want))
	if got != want {
		b.t.Fatalf("%s is %q, want %q", expression, got, want)
	}
}

// ask evaluates an expression.
func ask[T any](b *tab, expression string) T {
	b.t.Helper()
	got, err := chromedp.Run(b.ctx(), chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		b.t.Fatalf("%s: %v", expression, err)
	}
	return got
}
