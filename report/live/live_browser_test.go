package live_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/report/live"
	"github.com/app-sre/prcheck/wrapper"
)

// A tab is one tab of a headless browser.
type tab struct {
	t   *testing.T
	ctx func() context.Context
}

// newTab starts a browser with one tab, as the tests of the report do.
func newTab(t *testing.T) tab {
	t.Helper()
	program := os.Getenv("PRCHECK_BROWSER")
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome-stable", "google-chrome"} {
		if path, err := exec.LookPath(name); program == "" && err == nil && !testing.Short() {
			program = path
		}
	}
	if program == "" {
		t.Skip("no browser is tried: none is installed, or the run is short")
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewExecAllocator(ctx, append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(program), chromedp.NoSandbox, chromedp.DisableGPU, chromedp.UserDataDir(t.TempDir()))...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	b := tab{t, func() context.Context { return ctx }}
	if err := chromedp.Do(ctx); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = chromedp.Cancel(ctx) })
	return b
}

// another returns a second tab of the browser.
func (b tab) another() tab {
	ctx, cancel := chromedp.NewContext(b.ctx())
	b.t.Cleanup(cancel)
	return tab{b.t, func() context.Context { return ctx }}
}

func (b tab) do(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	if err := chromedp.Do(b.ctx(), steps...); err != nil {
		b.t.Fatal(err)
	}
}

// waitFor waits until an expression has a value, also while pages are loaded.
func (b tab) waitFor(expression, want string) {
	b.t.Helper()
	got, late := "", time.Now().Add(30*time.Second)
	for time.Now().Before(late) {
		var err error
		if got, err = chromedp.Run(b.ctx(), chromedp.Evaluate[string]("String("+expression+")")); err == nil && got == want {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	b.t.Fatalf("%s is %q, want %q", expression, got, want)
}

const (
	counted = `document.getElementById("live-count").textContent`
	effects = `document.getElementById("sift-count").textContent`
)

// Two people follow a run of 300 tasks, one of them loads the page again, and both have the last page in the end.
func TestBrowserFollowsARun(t *testing.T) {
	p := newPlan(300)
	opts := options(p)
	name := filepath.Join(t.TempDir(), "report.html")
	opts.Copy = func(page []byte) error { return os.WriteFile(name, page, 0o600) }
	s := begin(t, opts)
	first := newTab(t)
	second := first.another()
	run := func(from, to int) {
		for i, task := range p.Tasks[from:to] {
			s.Observe(wrapper.Event{Task: task})
			s.Observe(wrapper.Event{Task: task, Result: resultOf(task, from+i)})
		}
	}
	first.do(chromedp.Navigate(s.Address()))
	first.waitFor(counted, "0 of 300 tasks ended.")
	first.waitFor("location.pathname + document.cookie", "/") // the address has lost the token, and no script sees it
	s.Observe(wrapper.Event{Task: p.Tasks[299]})
	first.waitFor(`document.querySelector("#live-now li").firstChild.textContent`, "task-299 ")
	run(0, 100)
	first.waitFor(counted, "100 of 300 tasks ended, 10 failed so far.")
	first.waitFor(effects, "90 effects")
	first.waitFor(`document.querySelectorAll("#live-failed li").length`, "10")
	first.waitFor(`document.querySelector("#live-failed li").textContent`,
		"task-009: failed: ERROR: the quota of <b>team</b> is 10")
	first.waitFor(`document.getElementById("live-said").textContent !== ""`, "true")

	second.do(chromedp.Navigate(s.Address()))
	second.waitFor(counted, "100 of 300 tasks ended, 10 failed so far.")
	second.waitFor(effects, "90 effects")
	second.waitFor(`document.querySelectorAll(".failure").length > 0`, "true")
	run(100, 200)
	for _, b := range []tab{first, second} {
		b.waitFor(counted, "200 of 300 tasks ended, 20 failed so far.")
		b.waitFor(effects, "180 effects")
	}
	first.do(chromedp.KeyEvent("j")) // a person reads
	first.do(chromedp.Navigate(strings.Join(strings.SplitAfter(s.Address(), "/")[:3], "")))
	first.waitFor(effects, "180 effects")
	first.waitFor(`document.querySelectorAll("#live-failed li").length`, "0") // they stand below
	first.waitFor(`document.querySelectorAll("#live-now li").length`, "1")
	first.do(chromedp.Evaluate[chromedp.Void](`document.getElementById("sift-find").focus()`), chromedp.KeyEvent("task-29"))
	run(200, 300)
	first.waitFor(effects, "9 of 270 effects")
	first.do(chromedp.KeyEvent(kb.Escape))
	first.waitFor(effects, "270 effects")

	s.StopCopies()
	results := &plan.Results{Plan: p.Digest}
	for i, task := range p.Tasks {
		results.Results = append(results.Results, *resultOf(task, i))
	}
	if err := s.End(t.Context(), lastPage(t, p, results)); err != nil {
		t.Fatal(err)
	}
	for _, b := range []tab{first, second} {
		b.waitFor(`document.querySelector("h1").textContent.includes("30 of 300 tasks did not pass")`, "true")
		b.waitFor(`document.getElementById("live")`, "null")
		b.waitFor(effects, "270 effects")
	}
}

// lastPage returns the page of a run that has ended.
func lastPage(t *testing.T, p *plan.Plan, results *plan.Results) []byte {
	t.Helper()
	var page strings.Builder
	if err := options(p).Render(&page, results, nil); err != nil {
		t.Fatal(err)
	}
	return []byte(page.String())
}

// killedRun is the variable that makes this test program a run that somebody kills.
const killedRun = "PRCHECK_LIVE_KILLED"

func TestMain(m *testing.M) {
	if name := os.Getenv(killedRun); name != "" {
		runUntilKilled(name)
	}
	if name := os.Getenv(calledBrowser); name != "" {
		_ = os.WriteFile(name, []byte(os.Args[1]), 0o600)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// calledBrowser is the variable that makes this test program a browser, which notes the address that it is called with.
const calledBrowser = "PRCHECK_LIVE_BROWSER"

// runUntilKilled ends 20 of 30 tasks, and waits.
func runUntilKilled(name string) {
	p := newPlan(30)
	opts := options(p)
	opts.Copy = func(page []byte) error { return os.WriteFile(name, page, 0o600) }
	s, err := live.Start(context.Background(), opts)
	if err != nil {
		panic(err)
	}
	fmt.Println(s.Address())
	for i, task := range p.Tasks[:20] {
		s.Observe(wrapper.Event{Task: task, Result: resultOf(task, i)})
	}
	select {}
}

// A run that is killed leaves a page that says so in the browser, and a file that has what was known.
func TestBrowserOutlivesARun(t *testing.T) {
	b := newTab(t)
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "report.html")
	run := exec.CommandContext(t.Context(), program)
	run.Env = append(os.Environ(), killedRun+"="+name)
	out, err := run.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	address, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	b.do(chromedp.Navigate(strings.TrimSpace(address)))
	b.waitFor(counted, "20 of 30 tasks ended, 2 failed so far.")
	for late := time.Now().Add(20 * time.Second); time.Now().Before(late); time.Sleep(100 * time.Millisecond) {
		if _, err := os.Stat(name); !errors.Is(err, os.ErrNotExist) {
			break
		}
	}
	_ = run.Process.Kill()
	_ = run.Wait()
	b.waitFor(`document.getElementById("live-said").textContent.startsWith("The run cannot be reached any more: it was stopped or killed")`, "true")
	b.waitFor(effects, "18 effects")
	b.do(chromedp.Navigate("file://" + filepath.ToSlash(name)))
	b.waitFor(`document.querySelector("h1").textContent.includes("Not finished")`, "true")
	b.waitFor(counted, "20 of 30 tasks ended, 2 failed so far.")
	b.waitFor(effects, "18 effects")
}

// A live page keeps the rules of axe-core.
func TestBrowserLiveAccessibility(t *testing.T) {
	axe, err := os.ReadFile(os.Getenv("PRCHECK_AXE"))
	if err != nil {
		t.Skip("PRCHECK_AXE does not name the script of axe-core: no page is held against its rules")
	}
	p := newPlan(12)
	s := begin(t, options(p))
	b := newTab(t)
	for i, task := range p.Tasks[:11] {
		s.Observe(wrapper.Event{Task: task})
		if i < 10 {
			s.Observe(wrapper.Event{Task: task, Result: resultOf(task, i)})
		}
	}
	b.do(chromedp.Navigate(s.Address()))
	b.waitFor(effects, "9 effects")
	b.do(chromedp.Evaluate[chromedp.Void](string(axe)))
	for _, c := range []struct {
		scheme string
		width  int64
	}{{"light", 1280}, {"dark", 1280}, {"light", 390}, {"dark", 390}} {
		if _, err := chromedp.Call(b.ctx(), emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: c.scheme}}}); err != nil {
			t.Fatal(err)
		}
		if _, err := chromedp.Call(b.ctx(), emulation.SetDeviceMetricsOverride,
			emulation.SetDeviceMetricsOverrideParams{Width: c.width, Height: 900, DeviceScaleFactor: 1}); err != nil {
			t.Fatal(err)
		}
		found, err := chromedp.Run(b.ctx(), chromedp.Evaluate[string](
			`axe.run(document).then((r) => r.violations.map((v) => v.id + " " + v.nodes[0].html.slice(0, 200)).join("; ") + "; " + (r.passes.length > 10))`,
			chromedp.EvalAwaitPromise))
		if err != nil || found != "; true" {
			t.Errorf("%s, %d: %s, %v", c.scheme, c.width, found, err)
		}
	}
}
