package report_test

import (
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/app-sre/prcheck/report"
)

func TestBrowser(t *testing.T) {
	p := change(t)
	b := newTab(t)
	b.open(renderPage(t, p, timedResults(p), newContents()))
	const count, active = `document.getElementById("count").textContent`, "document.activeElement.id"
	const name, expanded = "document.activeElement.textContent", `document.activeElement.getAttribute("aria-expanded")`
	b.waitFor(count, "7 integrations")
	b.do(chromedp.Evaluate[chromedp.Void](`window.followed = 0, addEventListener("hashchange", () => followed++)`))

	// The filter, by keyboard.
	b.pressSlash()
	b.waitFor(active, "find")
	b.do(chromedp.KeyEvent("OSD"))
	b.waitFor(`document.getElementById("find").value`, "OSD")
	b.waitFor(count, "1 of 7 integrations")
	b.waitFor(`[...document.querySelectorAll("#list > tbody:not([hidden])")].map((e) => e.id)`,
		"integration-terraform-users")
	b.do(chromedp.KeyEvent(" nothing like it"))
	b.waitFor(count, "0 of 7 integrations")
	b.waitFor(`document.getElementById("none").hidden`, "false")
	b.do(chromedp.KeyEvent(kb.Escape))
	b.waitFor(count, "7 integrations")

	// An explanation, by keyboard; from it to a file, and back.
	b.do(chromedp.Evaluate[chromedp.Void](`document.querySelector("#list .name").focus()`))
	b.waitFor(name, "new-thing")
	b.do(chromedp.KeyEvent(kb.ArrowDown))
	b.waitFor(name, "terraform-users")
	b.waitFor(expanded, "false")
	b.do(chromedp.KeyEvent(kb.Enter))
	b.waitFor(expanded, "true")
	b.waitFor("location.hash", "#integration-terraform-users")
	b.waitFor(`document.getElementById("integration-terraform-users-more").offsetHeight > 100`, "true")
	b.pressEnter(`#integration-terraform-users-more a[href="#file-1-field-2"]`)
	b.waitFor("followed", "1") // and the page has done its part
	b.waitFor(active, "file-1-field-2")
	b.pressSlash()
	b.do(chromedp.KeyEvent("dns"))
	b.waitFor(count, "1 of 7 integrations")
	b.pressEnter(`#file-1 a[href="#integration-terraform-users"]`)
	b.waitFor("followed", "2")
	b.waitFor(name, "terraform-users") // although the filter hid it
	b.waitFor(count, "7 integrations")

	// The funnel leads to what a rung decided; a column sorts.
	b.pressEnter(`#funnel a[data-rung="1"][data-decision="skip"]`)
	b.waitFor(count, "2 of 7 integrations")
	b.waitFor("followed", "3") // before that the page may still move the focus
	b.pressEnter("#reset")
	b.waitFor(active, "find")
	b.pressEnter(`th[data-sort="t"] button`)
	b.waitFor(`document.querySelector("#list .name").textContent`, "terraform-users")
	b.waitFor(`document.querySelector('th[data-sort="t"]').getAttribute("aria-sort")`, "ascending")
	if heard := b.messagesSoFar(); len(heard) > 0 {
		t.Errorf("the console says %q", heard)
	}

	// The policy holds, and a message would have been heard.
	b.do(chromedp.Evaluate[chromedp.Void](`document.body.insertAdjacentHTML("beforeend", "<p style='color: red' onclick='1'><img src='https://127.0.0.1:9/x.png'>")`))
	b.waitFor(`getComputedStyle(document.body.lastElementChild).color === "rgb(255, 0, 0)"`, "false")
	if heard := strings.Join(b.messagesSoFar(), "\n"); !strings.Contains(heard, "Content Security Policy") {
		t.Errorf("got %q, want a violation of the policy", heard)
	}
}

func TestBrowserShowsHostileText(t *testing.T) {
	b := newTab(t)
	for _, text := range hostileTexts[:12] {
		p, r := newHostilePlan(text)
		b.open(renderPage(t, p, r, &report.Contents{Resources: map[string]string{text: "+" + text}}))
		b.waitFor(`[document.images.length, document.scripts.length, document.styleSheets.length, document.querySelectorAll("[onerror], [onload]").length]`, "0,3,1,0")
		b.waitFor(`performance.getEntriesByType("resource").filter((e) => !e.name.startsWith("data:")).length`, "0")
		if heard := b.messagesSoFar(); len(heard) > 0 {
			t.Errorf("%q: the console says %q", text, heard)
		}
	}
}

// TestBrowserWithoutScript checks that the page shows every reason and every effect without
// its script. If something blocks only the script, the page says what is missing.
func TestBrowserWithoutScript(t *testing.T) {
	p := change(t)
	text := renderPage(t, p, effectResults(p), newContents())
	b := newTab(t)
	if _, err := chromedp.Call(b.ctx(), emulation.SetScriptExecutionDisabled,
		emulation.SetScriptExecutionDisabledParams{Value: true}); err != nil {
		t.Fatal(err)
	}
	b.open(text)
	for place, want := range map[string]string{"#integration-github-users > .more": "sha256:aa", "#effects": "user ana"} {
		if got := evaluate[string](b, `document.querySelector("`+place+`").textContent`); !strings.Contains(got, want) {
			t.Errorf("%s shows %q, want %q", place, got, want)
		}
	}
	if height := evaluate[int](b,
		`document.querySelector("#integration-github-users > .more").offsetHeight`); height < 20 {
		t.Errorf("the explanation is %d pixels high", height)
	}
	const blocked = `document.querySelector(".blocked").offsetHeight`
	if height := evaluate[int](b, blocked); height != 0 {
		t.Error("the page says that its script is blocked")
	}
	if _, err := chromedp.Call(b.ctx(), emulation.SetScriptExecutionDisabled,
		emulation.SetScriptExecutionDisabledParams{}); err != nil {
		t.Fatal(err)
	}
	b.open(strings.Replace(text, "script-src", "worker-src", 1))
	b.waitFor(blocked+" > 10", "true")
	b.waitFor(`document.getElementById("controls").offsetHeight`, "0")
}

// contrast computes the lowest contrast (WCAG 2) of all visible texts.
const contrast = `(() => {
  const light = ([r, g, b]) => [r, g, b].map((c) => (c /= 255) <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
    .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
  const color = (text) => text.match(/[\d.]+/g).map(Number);
  const back = (e) => { for (; e; e = e.parentElement) { const c = color(getComputedStyle(e).backgroundColor); if (c.length < 4 || c[3] === 1) return c; } };
  let lowest = [99, ""];
  for (const e of document.querySelectorAll("body *:not(svg *):not(script)")) {
    if (!e.offsetHeight || ![...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim())) continue;
    const [a, b] = [light(color(getComputedStyle(e).color)), light(back(e))].sort((x, y) => y - x), ratio = (a + 0.05) / (b + 0.05);
    if (ratio < lowest[0]) lowest = [ratio, e.outerHTML.slice(0, 200)];
  }
  return lowest[0] < 4.5 ? lowest.join(" ") : "good";
})()`

func TestBrowserContrast(t *testing.T) {
	p := change(t)
	b := newTab(t)
	b.open(renderPage(t, p, timedResults(p), newContents()))
	backs := map[string]bool{}
	for _, scheme := range []string{"light", "dark"} {
		b.setScheme(scheme)
		if scheme == "light" {
			b.do(chromedp.Evaluate[chromedp.Void](
				`document.getElementById("open-all").click(), document.querySelectorAll("details").forEach((e) => e.open = true)`))
		}
		backs[evaluate[string](b, "getComputedStyle(document.body).backgroundColor")] = true
		if got := evaluate[string](b, contrast); got != "good" {
			t.Errorf("%s: the contrast is only %s", scheme, got)
		}
	}
	if len(backs) != 2 {
		t.Errorf("light and dark have the same background: %v", backs)
	}
}

// TestBrowserStaysFluid reports how fast a large page is. It sets no limit.
func TestBrowserStaysFluid(t *testing.T) {
	p, r := newLargePlan(1000, 5000)
	text := renderPage(t, p, r, nil)
	b := newTab(t)
	b.open(text)
	b.waitFor(`document.getElementById("count").textContent`, "1,000 integrations")
	took := evaluate[string](b, `(async () => {
    const find = document.getElementById("find"), all = [];
    for (const word of ["i", "in", "099", "0995", ""]) {
      const start = performance.now();
      find.value = word;
      find.dispatchEvent(new Event("input", { bubbles: true }));
      document.body.offsetHeight;
      all.push((word || "(cleared)") + " " + (performance.now() - start).toFixed(0) + " ms");
    }
    const timing = performance.getEntriesByType("navigation")[0];
    return "interactive after " + timing.domInteractive.toFixed(0) + " ms, filter with layout: " + all.join(", ") + "; " +
      document.querySelectorAll("*").length + " elements";
  })()`)
	b.waitFor(`document.getElementById("count").textContent`, "1,000 integrations")
	t.Logf("%d KiB, %d tasks, %s", len(text)>>10, len(p.Tasks), took)
	if heard := b.messagesSoFar(); len(heard) > 0 {
		t.Errorf("the console says %q", heard)
	}
}
