"use strict";
// Everything from a recording is put on the page with textContent; nothing here makes markup out of text.
(() => {
  const LINES = 14, CHARACTERS = 1400, ROWS = 400, WAIT = 180;
  const names = { said: "says", thought: "thinks", ran: "runs", output: "output", gap: "" };
  const make = (tag, attributes = {}, text = "") => {
    const element = document.createElement(tag);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    if (text) element.textContent = text;
    return element;
  };
  const later = (action) => {
    let timer = 0;
    return () => { clearTimeout(timer); timer = setTimeout(action, WAIT); };
  };
  const read = (id) => JSON.parse(document.getElementById(id).textContent);

  const folded = (text) => {
    let end = Math.min(text.length, CHARACTERS), at = -1;
    for (let line = 0; line < LINES; line++) {
      at = text.indexOf("\n", at + 1);
      if (at < 0) break;
      if (line === LINES - 1) end = Math.min(end, at);
    }
    return end < text.length ? text.slice(0, end) : text;
  };

  // A line of a hundred thousand characters without a blank would take a browser minutes to lay out as one.
  const GIANT = /[^\n]{2000}(?=[^\n])/g;
  const put = (pre, text) => {
    let from = 0;
    for (const match of text.matchAll(GIANT)) {
      const end = match.index + match[0].length;
      pre.append(make("span", { class: "stretch" }, text.slice(from, end)));
      from = end;
    }
    pre.append(text.slice(from));
  };
  const write = (pre, text, wanted) => {
    pre.textContent = "";
    if (!wanted) { put(pre, text); return; }
    const low = text.toLowerCase();
    // Where lower case is longer than the text, places do not fit: then nothing is marked.
    let from = 0, at = low.length === text.length ? low.indexOf(wanted) : -1, marks = 0;
    while (at >= 0 && marks < 500) {
      put(pre, text.slice(from, at));
      pre.append(make("mark", {}, text.slice(at, at + wanted.length)));
      from = at + wanted.length;
      at = low.indexOf(wanted, from);
      marks++;
    }
    put(pre, text.slice(from));
  };

  const piece = ([step, actor, kind, text, note, cut]) => {
    const box = make("div", { class: "piece " + kind });
    if (kind === "gap") { box.append(make("p", { class: "note" }, "… " + text + " …")); return { box, text, show() {} }; }
    const told = ["step " + step, actor, names[kind], note].filter(Boolean).join(" · ");
    box.append(make("h6", {}, told + (cut ? " · " + cut.toLocaleString("en") + " characters left out" : "")));
    const pre = make("pre"), short = folded(text);
    box.append(pre);
    let open = short === text, wanted = "";
    let button = null;
    const show = () => write(pre, open || wanted ? text : short + " …", wanted);
    if (!open) {
      const lines = text.split("\n").length;
      const label = () => open ? "Show less" : "Show all " + (lines > 1 ? lines.toLocaleString("en") + " lines" : text.length.toLocaleString("en") + " characters");
      button = make("button", { type: "button", "aria-expanded": "false" }, label());
      button.addEventListener("click", () => {
        open = !open;
        button.setAttribute("aria-expanded", String(open));
        button.textContent = label();
        show();
      });
      box.append(button);
    }
    show();
    return { box, text, show(word) { wanted = word; show(); } };
  };

  const fill = (details, word = "") => {
    if (details.filled) return details.filled;
    const { rows } = read(details.dataset.body);
    const tools = make("div", { class: "tools" });
    const label = make("label", { class: "search" }, "Find in this trajectory ");
    const input = make("input", { type: "search", autocomplete: "off", spellcheck: "false" });
    const told = make("output", { "aria-live": "polite" });
    label.append(input);
    tools.append(label, told);
    const steps = make("div", { class: "steps" });
    let pieces = [], at = 0;
    const more = make("button", { type: "button" });
    const add = (n) => {
      const fresh = rows.slice(at, at + n).map(piece);
      at += fresh.length;
      pieces.push(...fresh);
      steps.append(...fresh.map((one) => one.box));
      more.hidden = at >= rows.length;
      more.textContent = "Show the next " + Math.min(ROWS, rows.length - at) + " of " + (rows.length - at) + " texts";
    };
    more.addEventListener("click", () => add(ROWS));
    const search = () => {
      const wanted = input.value.trim().toLowerCase();
      if (wanted) add(rows.length);
      let n = 0;
      for (const one of pieces) {
        const hit = !wanted || one.text.toLowerCase().includes(wanted);
        one.box.hidden = !hit;
        if (hit) { n++; one.show(wanted); }
      }
      told.textContent = wanted ? n + (n === 1 ? " text holds it" : " texts hold it") : "";
    };
    input.addEventListener("input", later(search));
    add(ROWS);
    details.append(tools, steps, more);
    details.filled = { look(word) { input.value = word; search(); } };
    if (word) details.filled.look(word);
    return details.filled;
  };

  const tasks = [...document.querySelectorAll(".task")];
  const everything = document.getElementById("find-all");
  document.addEventListener("toggle", (event) => {
    const details = event.target;
    if (details.matches?.(".trajectory") && details.open) {
      const word = everything.value.trim();
      fill(details, word.length > 1 ? word : "");
    }
  }, true);

  const filters = document.getElementById("filters");
  const byName = document.getElementById("find-task");
  const shown = document.getElementById("shown");
  const lower = new Map();
  const bodyHolds = (task, wanted) => [...task.querySelectorAll(".trajectory")].filter((details) => {
    const id = details.dataset.body;
    if (!lower.has(id)) lower.set(id, read(id).rows.map((row) => row[3]).join("\n").toLowerCase());
    const found = lower.get(id).includes(wanted);
    details.classList.toggle("found", found);
    return found;
  }).length;
  const filter = () => {
    const flag = new FormData(filters).get("flag") || "";
    const word = byName.value.trim().toLowerCase(), wanted = everything.value.trim().toLowerCase();
    let n = 0, runs = 0;
    for (const task of tasks) {
      let fits = !flag || task.dataset.flags.split(" ").includes(flag);
      if (fits && word) {
        const text = task.querySelector("h3").textContent + " " + (task.querySelector(".instruction pre")?.textContent || "");
        fits = text.toLowerCase().includes(word);
      }
      if (fits && wanted.length > 1) { const found = bodyHolds(task, wanted); runs += found; fits = found > 0; }
      task.hidden = !fits;
      n += fits;
    }
    document.getElementById("none").hidden = n > 0;
    shown.textContent = n + " of " + tasks.length + " tasks" + (wanted.length > 1 ? ", " + runs + " trajectories" : "");
  };
  filters.hidden = false;
  filters.addEventListener("submit", (event) => event.preventDefault());
  filters.addEventListener("change", filter);
  for (const input of [byName, everything]) input.addEventListener("input", later(filter));
  filter();

  const open = () => {
    const target = /^#task-\d+$/.test(location.hash) && document.querySelector(location.hash);
    if (target) { target.open = true; target.scrollIntoView(); }
  };
  addEventListener("hashchange", open);
  open();
})();
