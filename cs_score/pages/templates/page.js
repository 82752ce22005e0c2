"use strict";
// Tables that sort, filter and page, and rows that open. What a table shows stands in the address, as TABLE.sort, .find,
// .only, .page and .open.
(() => {
  const ROWS = 25;
  const compare = new Intl.Collator(undefined, { numeric: true }).compare;
  let state = new URLSearchParams(location.hash.slice(1));
  const views = [];

  const make = (tag, text, attributes = {}) => {
    const element = document.createElement(tag);
    element.textContent = text;
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    return element;
  };

  function set(name, value) { if (value) state.set(name, value); else state.delete(name); }

  function keep() {
    for (const key of [...state.keys()]) if (!key.includes(".")) state.delete(key);
    const address = "#" + state;
    try { history.replaceState(null, "", address); } catch { location.replace(address); }
  }

  // What opens: packed texts, and entries of a head, numbers of texts, groups of other entries, and a chart.
  let unpacked;
  function openings() {
    return unpacked ??= (async () => {
      const bytes = Uint8Array.from(atob(document.getElementById("openings").textContent), (each) => each.charCodeAt(0));
      return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"))).json();
    })();
  }

  // Lines that are indented by two spaces for each level, as lists in lists.
  function tree(texts) {
    const top = make("ul", "");
    const lists = [top];
    for (const line of texts.flatMap((text) => text.split("\n"))) {
      const text = line.trimStart();
      const level = Math.min((line.length - text.length) >> 1, lists.length);
      if (level === lists.length) {
        const inner = make("ul", "");
        lists[level - 1].lastElementChild.append(inner);
        lists.push(inner);
      }
      lists.length = level + 1;
      lists[level].append(make("li", text));
    }
    return top;
  }

  function explained(data, number) {
    const [, steps, groups, svg] = data.entries[number];
    const box = make("div", "", { class: "steps" });
    if (svg) box.append(document.importNode(new DOMParser().parseFromString(svg, "image/svg+xml").documentElement, true));
    const texts = steps.map((step) => data.texts[step]);
    if (texts.length) box.append(data.trees ? tree(texts) : make("pre", texts.join("\n")));
    for (const [title, members] of groups) {
      box.append(make("p", title + " (" + members.length + ")"));
      for (const member of members) {
        const details = make("details", "");
        details.append(make("summary", data.entries[member][0]));
        details.addEventListener("toggle", () => {
          if (details.open && details.childElementCount === 1) details.append(explained(data, member));
        });
        box.append(details);
      }
    }
    return box;
  }

  class View {
    constructor(block) {
      this.block = block;
      this.name = block.id;
      this.body = block.querySelector("tbody");
      this.rows = [...this.body.rows];
      this.heads = [...block.querySelectorAll("th")];
      this.keys = this.heads.map((head) => head.dataset.key);
      this.heads.forEach((head) => {
        const button = make("button", head.textContent, { type: "button" });
        button.addEventListener("click", () => this.sortBy(head.dataset.key));
        head.replaceChildren(button);
      });
      const caption = block.querySelector("caption").textContent;
      this.find = make("input", "", { type: "search", placeholder: "Filter", "aria-label": "Filter rows of " + caption });
      this.find.addEventListener("input", () => this.change({ find: this.find.value, page: "" }));
      this.all = make("button", "", { type: "button" });
      this.all.addEventListener("click", () => { this.change({ only: "", page: "" }); this.find.focus(); });
      this.back = make("button", "Previous", { type: "button", "aria-label": "Previous rows of " + caption });
      this.back.addEventListener("click", () => this.turn(-1));
      this.on = make("button", "Next", { type: "button", "aria-label": "Next rows of " + caption });
      this.on.addEventListener("click", () => this.turn(1));
      this.status = make("span", "", { class: "status", role: "status" });
      const copy = make("button", "Copy as TSV", { type: "button", "aria-label": "Copy rows of " + caption + " as TSV" });
      copy.addEventListener("click", () => this.copy());
      const tools = make("div", "", { class: "tools" });
      this.isLarge = "large" in block.dataset;
      if (this.isLarge) tools.append(this.find, this.all, this.back, this.on);
      tools.append(copy, this.status);
      if (this.isLarge) block.prepend(tools); else block.append(tools);
      this.show();
    }

    get(what) { return state.get(this.name + "." + what) || ""; }

    change(values) {
      for (const [what, value] of Object.entries(values)) set(this.name + "." + what, value);
      keep();
      this.show();
    }

    sortBy(key) {
      const now = this.get("sort");
      this.change({ sort: now === key ? "-" + key : now === "-" + key ? "" : key, page: "" });
    }

    turn(by) { this.change({ page: String(Math.max(1, (parseInt(this.get("page"), 10) || 1) + by)) }); }

    chosen() {
      const [, column, value] = /^([^:]*):([^]*)$/.exec(this.get("only")) || [];
      const at = this.keys.indexOf(column);
      const words = this.get("find").toLowerCase();
      let rows = this.rows;
      if (at >= 0) rows = rows.filter((row) => row.cells[at].textContent === value);
      if (words) rows = rows.filter((row) => row.textContent.toLowerCase().includes(words));
      const sort = this.get("sort");
      const by = this.keys.indexOf(sort.replace(/^-/, ""));
      if (by >= 0) rows = this.sorted(rows, by, sort[0] === "-" ? -1 : 1);
      return [rows, at >= 0 ? this.heads[at].textContent + " " + value : ""];
    }

    sorted(rows, at, sign) {
      const isNumber = !this.heads[at].classList.contains("text");
      const keys = new Map(rows.map((row) => [row, exact(row.cells[at])]));
      return [...rows].sort((one, other) => {
        const a = keys.get(one), b = keys.get(other);
        if (a === "" || b === "") return (a === "") - (b === "");  // what is unknown stands last in both orders
        return sign * (isNumber ? a - b : compare(a, b));
      });
    }

    show() {
      const [rows, only] = this.chosen();
      const per = this.isLarge ? ROWS : Infinity;
      const last = Math.max(1, Math.ceil(rows.length / per));
      const page = Math.min(last, Math.max(1, parseInt(this.get("page"), 10) || 1));
      const first = per === Infinity ? 0 : (page - 1) * per;
      const shown = rows.slice(first, first + per);
      shown.forEach((row) => this.prepare(row));
      this.body.replaceChildren(...shown.flatMap((row) => row.opened ? [row, row.opened] : [row]));
      this.find.value = this.get("find");
      this.all.textContent = "Show all, not only " + only;
      this.all.hidden = !only;
      this.back.hidden = this.on.hidden = last === 1;
      this.back.disabled = page === 1;
      this.on.disabled = page === last;
      const among = rows.length < this.rows.length ? " (of " + this.rows.length + ")" : "";
      const counted = rows.length ? "Rows " + (first + 1) + " to " + (first + shown.length) + " of " + rows.length : "No rows";
      this.status.textContent = this.isLarge ? counted + among : "";
      const sort = this.get("sort");
      this.heads.forEach((head) => {
        const key = head.dataset.key;
        if (sort === key) head.setAttribute("aria-sort", "ascending");
        else if (sort === "-" + key) head.setAttribute("aria-sort", "descending");
        else head.removeAttribute("aria-sort");
      });
    }

    // What opens in a row gets a button when the row is first shown, and opens where the address says so.
    prepare(row) {
      const open = state.getAll(this.name + ".open");
      for (const cell of row.querySelectorAll("td[data-open]")) {
        const number = cell.dataset.open;
        if (!cell.firstElementChild) {
          const button = make("button", cell.textContent, { type: "button", class: "opener" });
          button.addEventListener("click", () => this.open(number));
          cell.replaceChildren(button);
        }
        const isOpen = open.includes(number);
        cell.firstElementChild.setAttribute("aria-expanded", isOpen);
        if (!isOpen) row.opened = null;
        else if (!row.opened) {
          row.opened = make("tr", "", { class: "opened" });
          const box = make("td", "", { colspan: this.heads.length });
          row.opened.append(box);
          openings().then((data) => box.append(explained(data, number)));
        }
      }
    }

    open(number) {
      const name = this.name + ".open";
      const others = state.getAll(name).filter((each) => each !== number);
      const isOpen = others.length < state.getAll(name).length;
      state.delete(name);
      (isOpen ? others : [...others, number]).forEach((each) => state.append(name, each));
      this.change({});
      this.body.querySelector('[data-open="' + number + '"] button').focus();
    }

    copy() {
      const line = (cells) => cells.map((cell) => field(cell)).join("\t");
      const text = [line(this.heads), ...this.chosen()[0].map((row) => line([...row.cells]))].join("\n") + "\n";
      const done = () => { this.status.textContent = "Copied"; };
      const write = navigator.clipboard ? navigator.clipboard.writeText(text) : Promise.reject();
      write.then(done, () => {
        const area = make("textarea", text);
        document.body.append(area);
        area.select();
        if (document.execCommand("copy")) done(); else this.status.textContent = "The browser does not let pages copy";
        area.remove();
      });
    }
  }

  // The exact number of a rounded one.
  const exact = (cell) => cell.dataset.exact || cell.textContent;

  // A spreadsheet would take a text that begins like this for a formula.
  function field(cell) {
    const text = exact(cell).replace(/[\t\r\n]+/g, " ");
    const isText = !cell.classList.contains("number");
    return isText && /^'*[=+@-]/.test(text) ? "'" + text : text;
  }

  document.querySelectorAll(".table").forEach((block) => views.push(new View(block)));

  // An address with a view of a table leads there.
  const first = [...state.keys()].find((key) => key.includes("."));
  const wanted = first && views.find((view) => first.startsWith(view.name + "."));
  if (wanted) wanted.block.scrollIntoView();

  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[data-column]");
    const view = link && views.find((each) => "#" + each.name === link.getAttribute("href"));
    if (!view) return;
    event.preventDefault();
    view.change({ only: link.dataset.column + ":" + link.dataset.value, find: "", page: "" });
    view.block.scrollIntoView();
    view.all.focus({ preventScroll: true });
  });

  addEventListener("hashchange", () => {
    const now = new URLSearchParams(location.hash.slice(1));
    if (![...now.keys()].some((key) => key.includes("."))) return;  // an anchor: what is shown stays
    state = now;
    views.forEach((view) => view.show());
  });
})();
