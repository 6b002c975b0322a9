(function () {
  "use strict";
  const $ = (id) => document.getElementById(id);
  const data = JSON.parse($("data").textContent) || [];
  const list = $("list"), form = $("controls"), find = $("find"), count = $("count");
  const by = { d: $("by-decision"), r: $("by-rung"), s: $("by-status") };
  const filters = Object.entries(by).filter(([, select]) => select);
  const rows = data.map((d, i) => {
    const body = list.tBodies[i];
    Object.assign(d, { id: body.id, n: body.querySelector("th").textContent.toLowerCase(), s: d.s || "", t: d.t || 0 });
    return { d, body, text: "", shown: true };
  });
  const byID = new Map(rows.map((row) => [row.d.id, row]));

  // What is behind a row or a fold is in a noscript, so that the page has few elements
  // until somebody opens it.
  function parse(later) {
    const inside = document.createElement("template");
    inside.innerHTML = later.textContent;
    return inside.content;
  }
  function fill(element) {
    const later = element.querySelector("noscript");
    if (later) later.replaceWith(parse(later));
  }

  // What a row shows and what is behind it, read when the first filter needs it.
  function text(row) {
    if (!row.text) {
      const later = row.body.querySelector("noscript");
      row.text = ((later ? row.body.querySelector(".row").textContent + "\n" + parse(later).textContent : row.body.textContent)).toLowerCase();
    }
    return row.text;
  }

  function matches(row, words) {
    for (const [key, select] of filters) {
      const want = select.value, is = String(row.d[key]);
      if (want === "bad" ? is === "" || is === "passed" : want !== "" && want !== is) return false;
    }
    return words.every((word) => text(row).includes(word));
  }

  function filter() {
    const words = find.value.toLowerCase().split(/\s+/).filter(Boolean);
    let n = 0;
    for (const row of rows) {
      const show = matches(row, words);
      if (show) n++;
      if (show !== row.shown) row.body.hidden = !(row.shown = show);
    }
    const all = rows.length.toLocaleString("en"), noun = rows.length === 1 ? " integration" : " integrations";
    count.textContent = n === rows.length ? all + noun : n.toLocaleString("en") + " of " + all + noun;
    $("none").hidden = n > 0 || rows.length === 0;
  }

  function show(values) {
    find.value = values.find || "";
    if (by.d) by.d.value = values.decision || "";
    if (by.r) by.r.value = values.rung || "";
    if (by.s) by.s.value = values.status || "";
    filter();
  }

  function open(row, yes) {
    if (yes) fill(row.body);
    row.body.classList.toggle("open", yes);
    row.button.setAttribute("aria-expanded", String(yes));
  }

  function toggle(row) {
    const yes = !row.body.classList.contains("open");
    open(row, yes);
    history.replaceState(null, "", yes ? "#" + row.d.id : location.pathname + location.search);
  }

  // On a narrow screen rows are no rows of a table for the style, but they are for readers.
  for (const row of rows) {
    row.body.setAttribute("role", "rowgroup");
    for (const tr of row.body.children) {
      tr.setAttribute("role", "row");
      for (const cell of tr.children) cell.setAttribute("role", cell.tagName === "TH" ? "rowheader" : "cell");
    }
    const head = row.body.querySelector("th"), button = document.createElement("button");
    row.body.querySelector(".more").id = row.d.id + "-more";
    button.type = "button";
    button.className = "name";
    button.textContent = head.textContent;
    button.setAttribute("aria-expanded", "false");
    button.setAttribute("aria-controls", row.d.id + "-more");
    head.replaceChildren(button);
    row.button = button;
  }

  list.addEventListener("click", (e) => {
    const line = e.target.closest("tr.row");
    if (!line || e.target.closest("a") || (!e.target.closest("button") && String(getSelection()) !== "")) return;
    toggle(byID.get(line.parentNode.id));
  });

  list.addEventListener("keydown", (e) => {
    if ((e.key !== "ArrowDown" && e.key !== "ArrowUp") || !e.target.matches("button.name")) return;
    let body = e.target.closest("tbody");
    do body = e.key === "ArrowDown" ? body.nextElementSibling : body.previousElementSibling;
    while (body && (body.hidden || body.tagName !== "TBODY"));
    if (body) body.querySelector("button.name").focus();
    e.preventDefault();
  });

  // Sorting.
  const order = { d: ["run", "shards", "skip"], s: ["failed", "timed_out", "canceled", "not_run", "unavailable", "other", "broken_on_base", "passed", ""] };
  const compare = {
    n: (a, b) => (a.n < b.n ? -1 : a.n > b.n ? 1 : 0),
    d: (a, b) => order.d.indexOf(a.d) - order.d.indexOf(b.d),
    r: (a, b) => a.r - b.r,
    s: (a, b) => order.s.indexOf(a.s) - order.s.indexOf(b.s),
    t: (a, b) => b.t - a.t,
  };
  function sort(head, key) {
    const down = head.getAttribute("aria-sort") === "ascending";
    for (const h of list.querySelectorAll("[aria-sort]")) h.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    const sorted = rows.slice().sort((a, b) => (down ? -1 : 1) * compare[key](a.d, b.d) || compare.n(a.d, b.d));
    const all = document.createDocumentFragment();
    for (const row of sorted) all.append(row.body);
    list.append(all);
  }
  for (const head of list.querySelectorAll("th[data-sort]")) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = head.textContent;
    head.replaceChildren(button);
    button.addEventListener("click", () => sort(head, head.dataset.sort));
  }


  // Effects. Most of them are the text of noscript elements until they are wanted: a row is its text, and what is
  // searched in it, and an element only if it is shown.
  const flow = $("flow"), sift = $("sift"), sought = $("sift-find");
  const steps = [], wanted = new Set(), opened = new Set(), page = 30;
  let room = 80, indexed = 0;
  const head = flow && flow.querySelector(".flow-head");
  function gather() {
    for (const node of [...flow.childNodes]) {
      if (node.nodeName === "ARTICLE") steps.push({ el: node, html: node.outerHTML });
      else if (node.nodeName === "NOSCRIPT") {
        for (const html of node.textContent.split("<article ").slice(1)) steps.push({ html: "<article " + html });
        node.remove();
      }
    }
    for (const step of steps) {
      const start = step.html.slice(0, 60);
      step.group = (/data-group="(\d+)"/.exec(start) || [])[1];
      step.folded = /class="step folded"/.test(start);
      step.n = step.html.split('<details class="e ').length - 1;
    }
  }
  const entities = { lt: "<", gt: ">", amp: "&", "#34": '"', "#39": "'", "#43": "+", "#96": "`" };
  const plain = (html) => html.replace(/<[^>]*>/g, " ").replace(/&(#?\w+);/g, (all, name) => entities[name] || all).toLowerCase();
  // index reads what is searched, for some milliseconds, or to the end.
  function index(budget) {
    const end = performance.now() + budget;
    for (; indexed < steps.length && (indexed % 20 || performance.now() < end); indexed++) {
      const step = steps[indexed], [first, ...items] = step.html.split('<details class="e ');
      step.head = plain(first + step.html.slice(step.html.lastIndexOf("</details>")));
      step.items = items.map((html) => ({ kind: html.slice(0, html.search(/[" ]/)), text: plain(html.slice(html.indexOf(">"))) }));
    }
    if (indexed < steps.length) setTimeout(index, 0, 10);
  }
  const words = (text) => [...text.toLowerCase().matchAll(/"([^"]*)"|\S+/g)].map((m) => (m[1] === undefined ? m[0] : m[1])).filter(Boolean);
  // hits says which effects of a row the filter leaves.
  function hits(step, all) {
    return step.items.map((item) => (!wanted.size || wanted.has(item.kind)) && all.every((w) => step.head.includes(w) || item.text.includes(w)));
  }
  // make makes elements of rows, all at once.
  function make(all) {
    const missing = all.filter((step) => !step.el);
    if (!missing.length) return;
    const made = parse({ textContent: missing.map((step) => step.html).join("") }).children;
    [...made].forEach((el, i) => (missing[i].el = el));
  }
  function drawSteps(keep) {
    if (!flow) return;
    const all = words(sought.value), filtered = all.length > 0 || wanted.size > 0, drawn = [];
    if (filtered) index(Infinity);
    let total = 0, found = 0, listed = 0, left = 0;
    for (const step of steps) {
      total += step.n;
      step.shown = false;
      if (!filtered && step.folded && !opened.has(step.group)) continue;
      const kept = filtered ? hits(step, all) : null, n = kept ? kept.filter(Boolean).length : step.n;
      if (n === 0) continue;
      found += n;
      if (listed >= room) { left += n; continue; }
      listed += n;
      step.shown = true;
      step.kept = kept;
      drawn.push(step);
    }
    make(drawn);
    const shown = drawn.map((step) => {
      [...step.el.querySelectorAll("details")].forEach((d, i) => (d.hidden = !!step.kept && !step.kept[i]));
      const fold = step.el.lastElementChild;
      if (fold.tagName === "BUTTON") fold.hidden = filtered || opened.has(step.group);
      return step.el;
    });
    if (shown.length + 1 !== flow.childNodes.length || shown.some((el, i) => el !== flow.childNodes[i + 1])) flow.replaceChildren(head, ...shown);
    const noun = (n) => n.toLocaleString("en") + (n === 1 ? " effect" : " effects");
    $("sift-count").textContent = filtered ? found.toLocaleString("en") + " of " + noun(total) : noun(total);
    $("sift-none").hidden = found > 0;
    $("sift-more").hidden = left === 0;
    $("sift-more").textContent = "Show more: " + left.toLocaleString("en") + " follow";
    for (const b of sift.querySelectorAll("[data-kind]")) b.setAttribute("aria-pressed", String(wanted.has(b.dataset.kind)));
    if (keep) return;
    const state = new URLSearchParams();
    if (sought.value) state.set("q", sought.value);
    if (wanted.size) state.set("kind", [...wanted].join());
    const hash = String(state) && "#effects?" + state;
    if (hash || location.hash.startsWith("#effects?")) history.replaceState(null, "", hash || location.pathname + location.search);
  }
  function siftFor(text, kinds, keep) {
    sought.value = text;
    wanted.clear();
    for (const kind of kinds) wanted.add(kind);
    room = page;
    drawSteps(keep);
  }
  // showStep makes the row with an effect an element, whatever the filter says.
  function showStep(id) {
    if (!/^e\d+$/.test(id)) return;
    const mark = 'id="' + id + '"', step = steps.find((s) => s.html.includes(mark));
    if (!step || step.shown && !$(id).hidden) return;
    if (step.folded) opened.add(step.group);
    siftFor("", [], true);
    if (!step.shown) {
      room = Infinity;
      drawSteps(true);
      room = page;
    }
  }
  if (flow) {
    gather();
    sift.hidden = false;
    drawSteps(true);
    setTimeout(index, 0, 10);
    sift.addEventListener("submit", (e) => e.preventDefault());
    sought.addEventListener("input", () => { room = page; drawSteps(); });
    sift.addEventListener("click", (e) => {
      const b = e.target.closest("[data-kind]");
      if (!b) return;
      if (!wanted.delete(b.dataset.kind)) wanted.add(b.dataset.kind);
      room = page;
      drawSteps();
    });
    flow.addEventListener("click", (e) => {
      const b = e.target.closest("button");
      if (!b) return;
      const step = b.closest("article");
      opened.add(step.dataset.group);
      drawSteps(true);
      focusCard(step.nextElementSibling);
    });
    const more = $("sift-more");
    const grow = () => { room += page; drawSteps(true); };
    more.addEventListener("click", grow);
    new IntersectionObserver((seen) => { if (seen.some((s) => s.isIntersecting) && !more.hidden) grow(); }, { rootMargin: "400px" }).observe(more);
  }

  // Cards are what j and k go through: failures and effects.
  const cards = () => [...document.querySelectorAll(".failure, .step")];
  function focusCard(card) {
    if (!card) return;
    card.tabIndex = -1;
    card.focus();
    card.scrollIntoView({ block: "nearest", behavior: "instant" });
  }
  function step(forward) {
    const all = cards(), at = all.indexOf(document.activeElement && document.activeElement.closest(".failure, .step"));
    if (forward && at === all.length - 1 && flow && !$("sift-more").hidden) {
      room += page;
      drawSteps(true);
      return focusCard(cards()[at + 1]);
    }
    focusCard(all[at < 0 ? 0 : Math.min(all.length - 1, Math.max(0, at + (forward ? 1 : -1)))]);
  }

  // Links within the page open what they lead to.
  function reveal(id) {
    if (flow && id.startsWith("effects?")) {
      const state = new URLSearchParams(location.hash.slice(9)); // id is decoded already
      siftFor(state.get("q") || "", (state.get("kind") || "").split(",").filter(Boolean), true);
      id = "effects";
    }
    showStep(id);
    const target = id && $(id);
    if (!target) return;
    const row = byID.get(id);
    if (row) {
      if (!row.shown) show({});
      open(row, true);
    }
    for (let e = target; e; e = e.parentElement) if (e.tagName === "DETAILS") e.open = true;
    target.scrollIntoView({ block: "start", behavior: "instant" });
    const focused = row ? row.button : target.tagName === "DETAILS" ? target.querySelector("summary") : target;
    if (focused !== target || target.hasAttribute("tabindex")) focused.focus({ preventScroll: true });
  }
  const here = () => {
    try { return decodeURIComponent(location.hash.slice(1)); } catch { return location.hash.slice(1); }
  };
  addEventListener("hashchange", () => reveal(here()));
  document.addEventListener("click", (e) => {
    const link = e.target.closest("a[href^='#']");
    if (!link) return;
    const d = link.dataset, href = link.getAttribute("href");
    if ("find" in d || "rung" in d) show(d);
    if ("sift" in d && flow) siftFor(d.sift, [], true);
    // Following a link twice changes no hash.
    if (href === location.hash) reveal(here());
  });

  document.addEventListener("keydown", (e) => {
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    const typing = e.target.matches && e.target.matches("input, select, textarea");
    const isCard = e.target.matches && e.target.matches(".failure, .step");
    if (e.key === "/" && !typing) {
      // The filter of what is seen: that of the integrations if the effects are above, or there are none.
      const field = flow && sift.parentElement.getBoundingClientRect().bottom > 100 ? sought : find;
      field.focus();
      field.select();
      e.preventDefault();
    } else if (e.key === "Escape" && e.target === sought || e.key === "Escape" && isCard) {
      if (sought && sought.value === "" && !isCard) sought.blur();
      if (flow) siftFor("", []);
    } else if (e.key === "Escape" && e.target === find) {
      if (find.value === "") find.blur();
      find.value = "";
      filter();
    } else if ((e.key === "j" || e.key === "k") && !typing) {
      step(e.key === "j");
    } else if (e.key === "Enter" && isCard) {
      const all = [...e.target.querySelectorAll("details")], yes = !all.every((d) => d.open);
      for (const d of all) d.open = yes;
    }
  });

  form.addEventListener("submit", (e) => e.preventDefault());
  form.addEventListener("input", filter);
  $("reset").addEventListener("click", () => { show({}); find.focus(); });
  let allOpen = false;
  $("open-all").addEventListener("click", (e) => {
    allOpen = !allOpen;
    for (const row of rows) if (row.shown || !allOpen) open(row, allOpen);
    e.target.textContent = allOpen ? "Close all" : "Open all";
  });

  // On paper nothing can be opened. So failures and effects are opened, and the changed files if they
  // are few.
  let closed = [];
  addEventListener("beforeprint", () => {
    const files = document.querySelectorAll(".file");
    if (flow) {
      room = Infinity;
      for (const s of steps) opened.add(s.group);
      drawSteps(true);
    }
    closed = [...document.querySelectorAll(".failure details:not([open]), .step details:not([open])"), ...(files.length > 12 ? [] : files)].filter((e) => !e.open);
    for (const row of rows) if (row.body.classList.contains("bad")) fill(row.body);
    for (const e of closed) e.open = true;
  });
  addEventListener("afterprint", () => {
    for (const e of closed) e.open = false;
    closed = [];
    room = page;
    drawSteps(true);
  });

  // A live page hears what happens. Nothing that stands there moves while a person reads: what comes in is told in one
  // line and added at the end, until somebody asks for the order, or the run has ended.
  function follow(live) {
    const had = Number(live.dataset.ended); // what ended before stands on the page
    const now = $("live-now"), failed = $("live-failed"), said = $("live-said"), sorted = $("live-sort");
    let news = { failed: 0, effects: 0 }, told = -Infinity, timer = 0, lost = 0;
    for (const li of now.children) li.since = Date.now() - 1000 * li.dataset.s;
    const again = () => location.reload();
    sorted.addEventListener("click", again);
    setInterval(() => { for (const li of now.children) li.lastElementChild.textContent = Math.round((Date.now() - li.since) / 1000) + " s"; }, 1000);
    function tell() {
      const wait = told + 5000 - performance.now();
      if (timer || wait > 0) { timer = timer || setTimeout(() => { timer = 0; tell(); }, wait); return; }
      told = performance.now();
      const parts = [];
      if (news.failed) parts.push(news.failed + (news.failed === 1 ? " more task failed" : " more tasks failed"));
      if (news.effects) parts.push(news.effects + (news.effects === 1 ? " more effect" : " more effects"));
      said.textContent = parts.join(", ");
      news = { failed: 0, effects: 0 };
      sorted.hidden = false;
    }
    const events = new EventSource("/events?after=" + live.dataset.after);
    const on = (name, what) => events.addEventListener(name, (e) => what(JSON.parse(e.data)));
    on("task", (d) => {
      const li = [...now.children].find((e) => e.dataset.n === String(d.n));
      if (d.state === "running" && !li) {
        const item = document.createElement("li"), time = document.createElement("small");
        item.dataset.n = d.n;
        item.since = Date.now();
        item.append(d.task + " ", time);
        now.append(item);
      } else if (d.state !== "running" && li) li.remove();
      if (d.bad && d.ended > had) {
        const item = document.createElement("li");
        item.textContent = d.task + ": " + d.state + (d.line ? ": " + d.line : "");
        failed.append(item);
        news.failed++;
        tell();
      }
      $("live-count").textContent = d.headline + ".";
      $("live-bar").value = d.ended;
      document.title = "prcheck: " + d.headline;
    });
    on("effects", (d) => {
      if (d.place <= had) return;
      for (const html of d.rows) steps.push({ html, n: html.split('<details class="e ').length - 1 });
      drawSteps(true);
      news.effects += d.effects;
      tell();
    });
    on("verdict", () => { events.close(); again(); });
    on("reload", () => { events.close(); again(); });
    events.onopen = () => { clearTimeout(lost); lost = 0; };
    events.onerror = () => {
      if (lost) return;
      lost = setTimeout(() => {
        events.close();
        said.textContent = "The run cannot be reached any more: it was stopped or killed before it told a verdict. What stands here was known at " + new Date().toLocaleTimeString("en-GB") + ".";
        document.title = "prcheck: lost";
        now.replaceChildren();
      }, 4000);
    };
  }
  if ($("live") && $("live").dataset.after) follow($("live"));

  form.hidden = rows.length === 0;
  filter();
  if (location.hash) reveal(here());
})();
