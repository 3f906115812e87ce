// Everything that is stored is text, and is put into the page as text. What would
// act on the text around it, such as a change of direction, is shown by its number.

const acting = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028\u2029\u202a-\u202e\u2060\u2066-\u2069\ufeff\ufff9-\ufffb]/g;

export function el(name, props = {}, ...children) {
  const e = document.createElement(name);
  for (const [key, value] of Object.entries(props)) {
    if (value === null || value === undefined || value === false) continue;
    if (key === "class") e.className = value;
    else e.setAttribute(key, value === true ? "" : value);
  }
  e.append(...children.filter((c) => c !== null && c !== undefined));
  return e;
}

// show replaces what is in e by the text, with the hits of the search marked.
export function show(e, text, search = "") {
  e.replaceChildren(...pieces(text, search));
  return e;
}

function pieces(text, search) {
  if (!search) return controls(text);
  const found = [], low = text.toLowerCase(), what = search.toLowerCase();
  if (low.length !== text.length) return controls(text); // a letter changed its length: places do not fit
  let at = 0;
  for (let hit; (hit = low.indexOf(what, at)) >= 0; at = hit + what.length) {
    found.push(...controls(text.slice(at, hit)), el("mark", {}, ...controls(text.slice(hit, hit + what.length))));
  }
  return [...found, ...controls(text.slice(at))];
}

function controls(text) {
  const found = [];
  let at = 0;
  for (const m of text.matchAll(acting)) {
    const code = "U+" + m[0].charCodeAt(0).toString(16).toUpperCase().padStart(4, "0");
    found.push(text.slice(at, m.index), el("span", { class: "ctl", title: "a character that acts on the text" }, code));
    at = m.index + m[0].length;
  }
  return [...found, text.slice(at)].filter((p) => p !== "");
}

// command is one for a shell, which a tap selects as a whole.
export function command(...words) {
  return show(el("code", { class: "command" }), words.map((w) => (/^[\w.:@%+=/-]+$/.test(w) ? w : `'${w.replaceAll("'", `'\\''`)}'`)).join(" "));
}

const clock = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit" });
const dayLong = new Intl.DateTimeFormat(undefined, { weekday: "long", day: "numeric", month: "long", year: "numeric" });
const dayShort = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short" });
const full = new Intl.DateTimeFormat(undefined, { dateStyle: "full", timeStyle: "medium" });

function parsed(ts) {
  const t = new Date(ts ?? NaN);
  return Number.isNaN(t.getTime()) ? null : t;
}

export function time(ts, short = false) {
  const t = parsed(ts);
  if (!t) return null;
  const today = t.toDateString() === new Date().toDateString();
  return el("time", { datetime: t.toISOString(), title: full.format(t) }, short && !today ? dayShort.format(t) : clock.format(t));
}

export function moment(ts) {
  const t = parsed(ts);
  return t ? full.format(t) : "";
}

export function day(ts) {
  const t = parsed(ts);
  return t ? dayLong.format(t) : "";
}

// key is 128 random bits, also where the page is not in a secure context.
export function key() {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (b) => b.toString(16).padStart(2, "0")).join("");
}
