// The list of sessions: those that need somebody first, then by the newest event, what
// is archived last.

import { el, show, time } from "./text.js";
import { json, request } from "./request.js";
import { Follow } from "./stream.js";

const $ = (id) => document.getElementById(id);
const every = 5000; // debts come and go without an event
const soon = 300;
const atOnce = 10; // sessions that are looked at together
const shownAtFirst = 200;
const calls = new Set(["asking", "error", "review"]); // words of an agent that waits for a person

export class Sessions {
  all = new Map();
  offers = new Set(); // what the server can do
  current = "";
  #timer; #flush; #dirty = new Set(); loaded = false; #busy = false; #most = shownAtFirst;

  constructor(changed, state) {
    this.changed = changed;
    this.state = state;
    $("filter").addEventListener("input", () => this.draw());
    $("list").addEventListener("keydown", (e) => this.#step(e));
    $("list-more").addEventListener("click", () => { this.#most += shownAtFirst; this.draw(); });
    document.addEventListener("visibilitychange", () => document.hidden || this.load());
    this.load();
    const nothing = () => {}; // load tells of trouble
    new Follow(request, "api/events?after=end", "", { event: (_, e) => e.session && this.soon(e.session), state: nothing, refused: nothing });
  }

  // soon looks at one session in a moment, as something happened there.
  soon(id) {
    this.#dirty.add(id);
    this.#flush ??= setTimeout(() => this.#look(), soon);
  }

  async #look() {
    const some = [...this.#dirty].slice(0, atOnce);
    for (const id of some) this.#dirty.delete(id);
    await Promise.all(some.map(async (id) => {
      try {
        this.all.set(id, await json("api/sessions/" + encodeURIComponent(id)));
      } catch (err) {
        if (err.status === 404) this.all.delete(id);
      }
    }));
    this.#flush = this.#dirty.size ? setTimeout(() => this.#look(), soon) : undefined;
    if (!this.loaded) return;
    this.draw();
    this.changed();
  }

  async load() {
    if (document.hidden || this.#busy) return;
    this.#busy = true;
    const began = performance.now();
    try {
      const all = new Map();
      let after = "";
      do {
        const page = await json("api/sessions" + (after && "?after=" + encodeURIComponent(after)));
        this.offers = new Set(page.offers);
        for (const s of page.sessions) all.set(s.id, s);
        after = page.next;
      } while (after);
      this.all = all;
      this.loaded = true;
      this.state("live");
      this.draw();
      this.changed();
    } catch (err) {
      this.state(err.status ? "lost" : "wait", err.message);
    } finally {
      this.#busy = false;
      const took = performance.now() - began; // long where the store is large: it is not asked all the time
      clearTimeout(this.#timer);
      this.#timer = setTimeout(() => this.load(), Math.max(every, 10 * took));
    }
  }

  choose(id) {
    this.current = id;
    this.draw();
  }

  draw() {
    const what = $("filter").value.trim().toLowerCase();
    const fits = (s) => [s.id, s.title, s.display].some((t) => t?.toLowerCase().includes(what));
    const when = (s) => (s.archived ? "" : "1") + (s.last?.ts ?? s.createdAt ?? "");
    const found = [...this.all.values()].filter(fits).sort((a, b) => (when(a) < when(b) ? 1 : when(a) > when(b) ? -1 : a.id < b.id ? -1 : 1));
    const had = document.activeElement?.closest?.("#list a")?.dataset.id;
    const needy = found.filter(needs), rest = found.filter((s) => !needs(s));
    const shown = [...needy, ...rest].slice(0, this.#most).map((s) => this.#item(s));
    if (needy.length) shown.splice(needy.length, 0, ...(rest.length && needy.length < this.#most ? [group("The rest")] : []));
    $("list").replaceChildren(...(needy.length ? [group("Needs you")] : []), ...shown);
    if (had) [...$("list").querySelectorAll("a")].find((a) => a.dataset.id === had)?.focus({ preventScroll: true });
    $("list-more").hidden = found.length <= this.#most;
    $("list-empty").hidden = found.length > 0 || !this.loaded;
    $("list-empty").textContent = this.all.size ? "No session fits." : "There is no session yet: docket new worker-1 makes one.";
  }

  // step moves the focus through the list with the arrow keys.
  #step(e) {
    const by = { ArrowDown: 1, ArrowUp: -1 }[e.key];
    const all = [...$("list").querySelectorAll("a")], next = all[all.indexOf(e.target.closest("a")) + by];
    if (!by || !next) return;
    e.preventDefault();
    next.focus();
  }

  #item(s) {
    const title = show(el("span", { class: "title", dir: "auto" }), s.title || s.id);
    const link = el("a", {
      class: "item" + (s.archived || s.retired ? " past" : ""), href: "#/s/" + s.id, "data-id": s.id,
      "aria-current": s.id === this.current ? "page" : null,
    }, el("div", { class: "top" }, title, time(s.last?.ts ?? s.createdAt, true)));
    if (s.last?.excerpt) link.append(show(el("p", { class: "excerpt", dir: "auto" }), s.last.excerpt.slice(0, 160)));
    link.append(el("div", { class: "tags" }, ...pills(s), s.title ? el("span", { class: "sid" }, s.id) : null));
    return el("li", {}, link);
  }
}

const group = (name) => el("li", { class: "group" }, el("h2", {}, name));

// broken reports whether a part of the session cannot be read until somebody repairs it.
export const broken = (s) => /^un(readable|safe)-/.test(s?.fault?.code ?? "");

// needs reports whether a session waits for a person.
const needs = (s) => !s.archived && (s.unconfirmed > 0 || broken(s) || (calls.has(s.display) && !s.retired));

// pills are the words of a session: its status, what it is owed, what is wrong.
export function pills(s) {
  const found = [];
  if (s.display) found.push(pill(s.display));
  const owed = s.owed - (s.unconfirmed ?? 0);
  if (s.unconfirmed) found.push(el("span", { class: "pill decide", title: "handed over, and nobody knows whether it arrived" }, s.unconfirmed + " to decide"));
  if (owed > 0) found.push(el("span", { class: "pill owed", title: "not delivered yet" }, owed + " owed"));
  if (s.launching) found.push(el("span", { class: "pill" }, "starting"));
  if (s.archived) found.push(el("span", { class: "pill" }, "archived"));
  if (s.retired) found.push(el("span", { class: "pill" }, "retired"));
  if (s.fault) found.push(el("span", { class: "pill fault", title: s.fault.error }, broken(s) ? "damaged" : "not readable now"));
  return found;
}

export const pill = (word) => show(el("span", { class: "pill", "data-word": word }), word);
