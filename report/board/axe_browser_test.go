package board_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	browserpage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// TestBrowserAccessibility holds the board against the rules of axe-core, whose script PRCHECK_AXE names: on a wide
// screen and on a narrow one, in light and dark, and as printed. No setting may scroll the page sideways.
func TestBrowserAccessibility(t *testing.T) {
	program, name := os.Getenv("PRCHECK_BROWSER"), os.Getenv("PRCHECK_AXE")
	if program == "" || name == "" {
		t.Skip("PRCHECK_BROWSER and PRCHECK_AXE do not name a browser and the script of axe-core")
	}
	axe, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	ctx := newBrowser(t, program)
	empty := fleet()
	empty.Loops, empty.Checks, empty.Days, empty.Misses, empty.Audits = nil, nil, nil, nil, nil
	empty.Unknown = []string{"one document"}
	pages := map[string]string{"fleet": page(t, fleet()), "large": page(t, large()), "empty": page(t, empty)}
	for title, text := range pages {
		file := filepath.Join(t.TempDir(), "index.html")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := chromedp.Do(ctx, chromedp.Navigate("file://"+filepath.ToSlash(file)),
			chromedp.Evaluate[chromedp.Void](string(axe))); err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			name, scheme, media string
			width               int64
		}{{"light", "light", "screen", 1280}, {"dark", "dark", "screen", 1280}, {"narrow", "dark", "screen", 390},
			{"printed", "light", "print", 800}} {
			if title == "large" && c.name != "narrow" {
				continue // the rules take long for so much
			}
			look(ctx, t, c.scheme, c.media, c.width)
			found, err := chromedp.Run(ctx, chromedp.Evaluate[string](
				`axe.run(document).then((r) => r.violations.map((v) => v.id + " " + v.nodes[0].html.slice(0, 200)).join("; ") + "; " + (r.passes.length > 10) + " " + (matchMedia("print").matches || document.documentElement.scrollWidth <= innerWidth))`,
				chromedp.EvalAwaitPromise))
			if err != nil || found != "; true true" {
				t.Errorf("%s, %s: %s, %v", title, c.name, found, err)
			}
			if title != "large" {
				shoot(ctx, t, title+"-"+c.name)
			}
		}
	}
}

// shoot writes a picture of the page into the folder that PRCHECK_SHOTS names, for people who want to look at it.
func shoot(ctx context.Context, t *testing.T, name string) {
	t.Helper()
	folder := os.Getenv("PRCHECK_SHOTS")
	if folder == "" {
		return
	}
	raw, err := chromedp.Run(ctx, chromedp.FullScreenshot(100))
	if err == nil {
		err = os.WriteFile(filepath.Join(folder, name+".png"), raw, 0o600)
	}
	if err != nil {
		t.Error(err)
	}
}

// newBrowser starts a browser.
func newBrowser(t *testing.T, program string) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	t.Cleanup(cancel)
	opts := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(program), chromedp.NoSandbox,
		chromedp.DisableGPU, chromedp.UserDataDir(t.TempDir()))
	ctx, cancel = chromedp.NewExecAllocator(ctx, opts...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	return ctx
}

// look shows the page in a colour scheme, on a medium, and so wide.
func look(ctx context.Context, t *testing.T, scheme, medium string, width int64) {
	t.Helper()
	media := emulation.SetEmulatedMediaParams{Media: medium, Features: []*emulation.MediaFeature{
		{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: "reduce"}}}
	if _, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, media); err != nil {
		t.Fatal(err)
	}
	if _, err := chromedp.Call(ctx, emulation.SetDeviceMetricsOverride,
		emulation.SetDeviceMetricsOverrideParams{Width: width, Height: 900, DeviceScaleFactor: 1}); err != nil {
		t.Fatal(err)
	}
}

// TestBrowserPictures makes the pictures of the documents in the folder that PRCHECK_PICTURES names, of the board of the
// fleet and of the page that PRCHECK_PAGE names, light and dark; see docs/images/make.
func TestBrowserPictures(t *testing.T) {
	folder, file := os.Getenv("PRCHECK_PICTURES"), os.Getenv("PRCHECK_PAGE")
	if folder == "" {
		t.Skip("PRCHECK_PICTURES names no folder")
	}
	of := filepath.Join(t.TempDir(), "board.html")
	if err := os.WriteFile(of, []byte(page(t, fleet())), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx := newBrowser(t, os.Getenv("PRCHECK_BROWSER"))
	for name, at := range map[string]string{"board": of, "page": file} {
		for _, scheme := range []string{"light", "dark"} {
			look(ctx, t, scheme, "screen", 1000)
			if _, err := chromedp.Call(ctx, emulation.SetScriptExecutionDisabled,
				emulation.SetScriptExecutionDisabledParams{Value: true}); err != nil {
				t.Fatal(err)
			}
			quality := int64(60)
			err := chromedp.Do(ctx, chromedp.Navigate("file://"+filepath.ToSlash(at)))
			raw, errShot := chromedp.Call(ctx, browserpage.CaptureScreenshot,
				browserpage.CaptureScreenshotParams{Format: "webp", Quality: &quality})
			if err = errors.Join(err, errShot); err == nil {
				err = os.WriteFile(filepath.Join(folder, name+"-"+scheme+".webp"), raw.Data, 0o644) //nolint:gosec // of the documents
			}
			if err != nil {
				t.Error(err)
			}
		}
	}
}
