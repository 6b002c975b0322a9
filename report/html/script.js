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

  // Links within the page open what they lead to.
  function reveal(id) {
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
    // Following a link twice changes no hash.
    if (href === location.hash) reveal(here());
  });

  document.addEventListener("keydown", (e) => {
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    const typing = e.target.matches && e.target.matches("input, select, textarea");
    if (e.key === "/" && !typing) {
      find.focus();
      find.select();
      e.preventDefault();
    } else if (e.key === "Escape" && e.target === find) {
      if (find.value === "") find.blur();
      find.value = "";
      filter();
    }
  });

  form.addEventListener("submit", (e) => e.preventDefault());
  form.addEventListener("input", filter);
  $("reset").addEventListener("click", () => { show({}); find.focus(); });
  let opened = false;
  $("open-all").addEventListener("click", (e) => {
    opened = !opened;
    for (const row of rows) if (row.shown || !opened) open(row, opened);
    e.target.textContent = opened ? "Close all" : "Open all";
  });

  document.addEventListener("toggle", (e) => {
    if (e.target.open && e.target.classList.contains("later")) fill(e.target);
  }, true);

  // On paper nothing can be opened. So failures are opened, and the changed files if they
  // are few; the effects of deletions are open anyway.
  let closed = [];
  addEventListener("beforeprint", () => {
    const files = document.querySelectorAll(".file:not(.later)");
    closed = [...document.querySelectorAll(".failure details:not([open])"), ...(files.length > 12 ? [] : files)].filter((e) => !e.open);
    for (const row of rows) if (row.body.classList.contains("bad")) fill(row.body);
    for (const e of closed) e.open = true;
  });
  addEventListener("afterprint", () => {
    for (const e of closed) e.open = false;
    closed = [];
  });

  form.hidden = rows.length === 0;
  filter();
  if (location.hash) reveal(here());
})();
