package report_test

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/app-sre/prcheck/report"
)

func TestBrowser(t *testing.T) {
	p := change(t)
	b := browse(t)
	b.open(page(t, p, timed(p), values()))
	const count, active = `document.getElementById("count").textContent`, "document.activeElement.id"
	const name, expanded = "document.activeElement.textContent", `document.activeElement.getAttribute("aria-expanded")`
	b.is(count, "7 integrations")
	b.do(chromedp.Evaluate[chromedp.Void](`window.followed = 0, addEventListener("hashchange", () => followed++)`))

	// The filter, by keyboard.
	b.slash()
	b.is(active, "find")
	b.do(chromedp.KeyEvent("OSD"))
	b.is(`document.getElementById("find").value`, "OSD")
	b.is(count, "1 of 7 integrations")
	b.is(`[...document.querySelectorAll("#list > tbody:not([hidden])")].map((e) => e.id)`, "integration-terraform-users")
	b.do(chromedp.KeyEvent(" nothing like it"))
	b.is(count, "0 of 7 integrations")
	b.is(`document.getElementById("none").hidden`, "false")
	b.do(chromedp.KeyEvent(kb.Escape))
	b.is(count, "7 integrations")

	// An explanation, by keyboard; from it to a file, and back.
	b.do(chromedp.Evaluate[chromedp.Void](`document.querySelector("#list .name").focus()`))
	b.is(name, "new-thing")
	b.do(chromedp.KeyEvent(kb.ArrowDown))
	b.is(name, "terraform-users")
	b.is(expanded, "false")
	b.do(chromedp.KeyEvent(kb.Enter))
	b.is(expanded, "true")
	b.is("location.hash", "#integration-terraform-users")
	b.is(`document.getElementById("integration-terraform-users-more").offsetHeight > 100`, "true")
	b.enter(`#integration-terraform-users-more a[href="#file-1-field-2"]`)
	b.is("followed", "1") // and the page has done its part
	b.is(active, "file-1-field-2")
	b.slash()
	b.do(chromedp.KeyEvent("dns"))
	b.is(count, "1 of 7 integrations")
	b.enter(`#file-1 a[href="#integration-terraform-users"]`)
	b.is("followed", "2")
	b.is(name, "terraform-users") // although the filter hid it
	b.is(count, "7 integrations")

	// The funnel leads to what a rung decided; a column sorts.
	b.enter(`#funnel a[data-rung="1"][data-decision="skip"]`)
	b.is(count, "2 of 7 integrations")
	b.is("followed", "3") // before that the page may still move the focus
	b.enter("#reset")
	b.is(active, "find")
	b.enter(`th[data-sort="t"] button`)
	b.is(`document.querySelector("#list .name").textContent`, "terraform-users")
	b.is(`document.querySelector('th[data-sort="t"]').getAttribute("aria-sort")`, "ascending")
	if heard := b.heard(); len(heard) > 0 {
		t.Errorf("the console says %q", heard)
	}

	// The policy holds, and a message would have been heard.
	b.do(chromedp.Evaluate[chromedp.Void](`document.body.insertAdjacentHTML("beforeend", "<p style='color: red' onclick='1'><img src='https://127.0.0.1:9/x.png'>")`))
	b.is(`getComputedStyle(document.body.lastElementChild).color === "rgb(255, 0, 0)"`, "false")
	if heard := strings.Join(b.heard(), "\n"); !strings.Contains(heard, "Content Security Policy") {
		t.Errorf("got %q, want a violation of the policy", heard)
	}
}

func TestBrowserShowsHostileText(t *testing.T) {
	b := browse(t)
	for _, text := range hostiles[:12] {
		p, r := infested(text)
		b.open(page(t, p, r, &report.Contents{Resources: map[string]string{text: "+" + text}}))
		b.is(`[document.images.length, document.scripts.length, document.styleSheets.length, document.querySelectorAll("[onerror], [onload]").length]`, "0,3,1,0")
		b.is(`performance.getEntriesByType("resource").filter((e) => !e.name.startsWith("data:")).length`, "0")
		if heard := b.heard(); len(heard) > 0 {
			t.Errorf("%q: the console says %q", text, heard)
		}
	}
}

// Without its script the page still shows every reason.
func TestBrowserWithoutScript(t *testing.T) {
	p := change(t)
	b := browse(t)
	b.open(strings.Replace(page(t, p, timed(p), values()), "script-src", "worker-src", 1))
	b.is(`document.getElementById("integration-github-users-more").offsetHeight > 20`, "true")
	b.is(`document.getElementById("controls").offsetHeight`, "0")
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
	b := browse(t)
	b.open(page(t, p, timed(p), values()))
	backs := map[string]bool{}
	for _, scheme := range []string{"light", "dark"} {
		b.prefer(scheme)
		b.do(chromedp.Evaluate[chromedp.Void](`document.querySelectorAll("#list tbody").forEach((e) => e.classList.add("open"))`))
		backs[ask[string](b, "getComputedStyle(document.body).backgroundColor")] = true
		if got := ask[string](b, contrast); got != "good" {
			t.Errorf("%s: the contrast is only %s", scheme, got)
		}
	}
	if len(backs) != 2 {
		t.Errorf("light and dark have the same background: %v", backs)
	}
}

// How fast a large page is, is reported and not judged.
func TestBrowserStaysFluid(t *testing.T) {
	p, r := many(1000, 5000)
	text := page(t, p, r, nil)
	b := browse(t)
	b.open(text)
	b.is(`document.getElementById("count").textContent`, "1,000 integrations")
	took := ask[string](b, `(async () => {
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
	b.is(`document.getElementById("count").textContent`, "1,000 integrations")
	t.Logf("%d KiB, %d tasks, %s", len(text)>>10, len(p.Tasks), took)
	if heard := b.heard(); len(heard) > 0 {
		t.Errorf("the console says %q", heard)
	}
}
