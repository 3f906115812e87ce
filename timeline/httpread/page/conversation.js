// One open conversation: what the agent declared and what was said to it.

import { el, show, time, day, moment, command } from "./text.js";
import { json, request } from "./request.js";
import { Follow } from "./stream.js";
import { pill, broken } from "./sessions.js";

const $ = (id) => document.getElementById(id);
const pageSize = 200;
const batch = 100; // states in one request
const longText = 3000, longLines = 40;
const gone = new Set(["no-session", "session-closed", "bad-id"]);
const lookAgain = 2000; // at messages that are on their way
const lookMost = 300000; // between two looks that fail
const words = { handing: "being handed over" };
const hints = {
  owed: "The agent does not have it yet: it is tried again.",
  handing: "The agent is getting it now.",
  unknown: "The server cannot read where this message is.",
  unconfirmed: "docket confirm says that it arrived, drain --redeliver hands it over again, revoke takes it back.",
};

export class Conversation {
  #bodies = []; // {e, text} of what can be searched
  #states = new Map(); // mid -> its element
  #open = new Set(); // mids whose state can still change
  #stop = new AbortController();
  #follow; #timer; #first; #last = ""; #firstDay = "";
  #fault; // what of the session cannot be read
  #failed = 0; // looks at the states in a row
  gone = false; // there is nobody to send to any more
  #pinned = true; // the view stays at the end as it grows
  #grown = new ResizeObserver(() => this.#pinned && this.bottom());

  // changed is called when something happened that the list of sessions shows too.
  constructor(id, find, state, changed) {
    Object.assign(this, { id, find, state, changed, path: "api/sessions/" + encodeURIComponent(id) });
    this.#grown.observe($("log"));
    this.#grown.observe($("scroll"));
    $("scroll").addEventListener("scroll", () => {
      this.#pinned = this.#nearEnd();
      if (this.#pinned) $("jump").hidden = true;
    }, { signal: this.#stop.signal });
    $("log").replaceChildren();
    for (const hidden of ["earlier", "log-empty", "jump", "notice", "fault"]) $(hidden).hidden = true;
    this.#begin();
  }

  close() {
    this.#stop.abort();
    this.#follow?.stop();
    this.#grown.disconnect();
    clearTimeout(this.#timer);
  }

  async #begin() {
    const log = $("log");
    log.setAttribute("aria-busy", "true");
    try {
      const page = await this.#json("/timeline?limit=" + pageSize);
      log.append(...this.#rows(page, false));
      this.#first = page.first;
      $("earlier").hidden = !page.earlier;
      $("log-empty").hidden = log.children.length > 0;
      this.bottom();
      this.find.counted();
      this.#look(0);
      this.#follow = new Follow(request, this.path + "/events", page.next, {
        event: (type, data) => this.#event(type, data),
        state: this.state,
        refused: (err) => this.#refused(err),
      });
    } catch (err) {
      if (!this.#stop.signal.aborted) this.#refused(err);
    } finally {
      log.removeAttribute("aria-busy");
    }
  }

  #json(tail) { return json(this.path + tail, { signal: this.#stop.signal }); }

  #refused(err) {
    if (err.status === 409) { // the timeline is another one now
      this.reload();
      return;
    }
    this.#say(err.code, err.message);
    this.state(gone.has(err.code) ? "live" : "lost");
  }

  // known takes what the list of sessions knows of this one; undefined is nothing yet.
  known(s) {
    if (!s) return;
    const had = this.#fault;
    this.#fault = s.fault ?? undefined;
    if (had && !this.#fault) {
      this.#failed = 0;
      this.#look(0);
    }
    if (had?.error === s.fault?.error) return;
    $("fault").hidden = !this.#fault;
    if (!this.#fault) return;
    $("fault").replaceChildren(el("p", {}, el("b", {}, broken(s) ? "This session is damaged: " : "Not all can be read: "), s.fault.error));
    if (broken(s)) $("fault").append(command("docket", s.fault.code === "unreadable-queue" ? "repair" : "verify", this.id));
    if ($("notice").textContent === s.fault.error) $("notice").hidden = true;
  }

  #say(code, text) {
    this.gone ||= gone.has(code);
    if (this.gone) $("composer").hidden = true;
    const left = this.#follow ? "There is no such session any more. What is shown here stays until you leave it." : `There is no session called ${this.id}.`;
    $("notice").textContent = gone.has(code) ? left : text;
    $("notice").hidden = !this.gone && text === this.#fault?.error;
  }

  reload() { dispatchEvent(new HashChangeEvent("hashchange")); }

  #event(type, data) {
    if (type === "closed" || type === "error") {
      this.#say(data.code, data.error);
      if (type === "closed") this.#follow?.stop();
      this.changed();
      return;
    }
    if (type === "caught-up") return;
    const follow = this.#pinned;
    $("log").append(...(type === "event" ? this.#row(data, true) : [this.#broken(data.error)]));
    $("log-empty").hidden = true;
    this.find.counted();
    if (follow) this.bottom();
    else $("jump").hidden = false;
    if (data.kind === "sent") this.#look(150);
    this.changed();
  }

  #nearEnd() {
    const s = $("scroll");
    return s.scrollHeight - s.scrollTop - s.clientHeight < 60;
  }

  bottom() {
    this.#pinned = true;
    $("scroll").scrollTop = $("scroll").scrollHeight;
    $("jump").hidden = true;
  }

  // earlier puts the page before what is shown on top, and keeps the view where it is.
  async earlier() {
    $("earlier").disabled = true;
    try {
      const page = await this.#json(`/timeline?limit=${pageSize}&before=${this.#first}`);
      this.#first = page.first;
      const newest = this.#last, known = this.#bodies;
      [this.#last, this.#bodies] = ["", []];
      const rows = this.#rows(page, false);
      if (this.#last === this.#firstDay) $("log").querySelector(".day")?.remove();
      this.#firstDay = rows.length ? rows.find((r) => r.dataset.day)?.dataset.day ?? this.#firstDay : this.#firstDay;
      this.#last = newest;
      this.#bodies = [...this.#bodies, ...known];
      const from = $("scroll").scrollHeight - $("scroll").scrollTop;
      $("log").setAttribute("aria-live", "off");
      $("log").prepend(...rows);
      $("scroll").scrollTop = $("scroll").scrollHeight - from;
      setTimeout(() => $("log").setAttribute("aria-live", "polite"), 500);
      $("earlier").hidden = !page.earlier;
      this.find.counted();
      this.#look(0);
    } catch (err) {
      if (!this.#stop.signal.aborted) this.#say(err.code, err.message);
    } finally {
      $("earlier").disabled = false;
    }
  }

  #rows(page, fresh) {
    const rows = page.events.flatMap((e) => this.#row(e, fresh));
    if (page.unreadable) rows.unshift(this.#broken(page.unreadable + " lines here cannot be read: run docket verify on the server"));
    return rows;
  }

  #broken(text) { return el("li", { class: "broken" }, text); }

  // row is an event, with its day before it if that is another one.
  #row(e, fresh) {
    const rows = [], name = day(e.ts);
    if (name && name !== this.#last) {
      if (!this.#firstDay) this.#firstDay = name;
      rows.push(el("li", { class: "day", "data-day": name }, name));
      this.#last = name;
    }
    rows.push(e.kind === "sent" ? this.#sent(e, fresh) : this.#status(e, fresh));
    return rows;
  }

  #status(e, fresh) {
    const head = el("div", { class: "head" }, el("b", {}, "Agent"), pill(e.display || "-"), time(e.ts));
    const li = el("li", { class: "entry status" + (fresh ? " new" : "") }, head);
    if (e.note) li.append(...this.#body(e.note));
    return li;
  }

  #sent(e, fresh) {
    const who = show(el("b", { dir: "auto" }), e.from ?? "You");
    const head = el("div", { class: "head" }, who, time(e.ts));
    const foot = el("div", { class: "foot" }, el("span", {}, e.replyVia === "note" ? "answer by note" : "answer in the terminal"));
    const state = el("span", { class: "state", hidden: true });
    foot.append(state);
    if (e.mid) {
      this.#states.set(e.mid, state);
      this.#open.add(e.mid);
    }
    return el("li", { class: "entry sent" + (e.from ? " peer" : "") + (fresh ? " new" : "") }, head, ...this.#body(e.text ?? ""), foot);
  }

  #body(text) {
    const body = el("div", { class: "body", dir: "auto" });
    this.#bodies.push({ e: body, text });
    show(body, text, this.find.text);
    if (text.length < longText && text.split("\n").length < longLines) return [body];
    body.classList.add("long");
    const more = el("button", { type: "button", class: "quiet more" }, "Show all");
    more.addEventListener("click", () => { body.classList.remove("long"); more.remove(); });
    return [body, more];
  }

  redraw() {
    for (const { e, text } of this.#bodies) show(e, text, this.find.text);
  }

  // look asks where the messages are that were still on their way, the newest first.
  #look(wait) {
    clearTimeout(this.#timer);
    if (this.#open.size && !this.#stop.signal.aborted) this.#timer = setTimeout(() => this.#ask(), wait);
  }

  async #ask() {
    if (document.hidden) return this.#look(lookAgain);
    if (["unreadable-queue", "unreadable-timeline"].includes(this.#fault?.code)) { // until it is repaired
      this.#lose();
      return this.#look(lookAgain);
    }
    try {
      const mids = [...this.#open].reverse();
      for (let i = 0; i < mids.length; i += batch) {
        const some = mids.slice(i, i + batch);
        const { states } = await this.#json("/states?" + some.map((m) => "mid=" + encodeURIComponent(m)).join("&"));
        for (const mid of some) this.#place(mid, states[mid]);
      }
      this.#failed = 0;
    } catch (err) {
      if (err.status >= 400 && err.status < 500 || err.status === 501) this.#open.clear();
      else if (err.status >= 500 && err.status !== 503) {
        if (!this.#failed++) this.changed(); // which tells of the fault
        this.#lose();
      }
    }
    this.#look(Math.min(lookAgain * 4 ** this.#failed, lookMost));
  }

  // lose says of the messages that were on their way that nobody can tell where they are.
  #lose() {
    for (const mid of this.#open) this.#place(mid, { state: "unknown" });
  }

  #place(mid, s) {
    const e = this.#states.get(mid);
    const ended = !s || s.state === "delivered" || s.state === "revoked";
    if (ended) this.#open.delete(mid);
    if (!s) {
      e.hidden = true;
      return;
    }
    const now = s.handing ? "handing" : s.state;
    let said = words[now] ?? now;
    if (s.reason && s.reason !== s.state) said += ": " + s.reason;
    if (s.attempts && now === "owed") said += `, ${s.attempts} ${s.attempts === 1 ? "attempt" : "attempts"}`;
    if (s.lastError && !ended && !s.handing) said += ": " + s.lastError.slice(0, 200);
    if (now === "unconfirmed") said += ". Nobody knows whether it arrived.";
    if (e.textContent === said && !e.hidden) return;
    if (ended && e.textContent) this.changed();
    e.hidden = false;
    e.dataset.state = now;
    e.title = hints[now] ?? moment(s.endedAt);
    show(e, said);
    this.#choice(e.closest(".entry"), mid, now === "unconfirmed");
  }

  // choice shows at an unconfirmed message how a person decides about it.
  #choice(entry, mid, open) {
    entry.querySelector(".choice")?.remove();
    if (!open) return;
    const confirm = ["docket", "confirm", this.id, mid];
    entry.append(el("div", { class: "choice" },
      el("p", {}, "Look at the agent, and decide on the server. If it arrived:"), command(...confirm),
      el("p", {}, "If it did not, which makes it owed again:"), command(...confirm, "--absent")));
  }

  // sent is told of an accepted message, whose event comes by the stream.
  sent() { this.bottom(); }
}
