// The page: which session is open, and what is typed.

import { show, key } from "./text.js";
import { json } from "./request.js";
import { Sessions, pills } from "./sessions.js";
import { Conversation } from "./conversation.js";
import { Find } from "./find.js";

const $ = (id) => document.getElementById(id);
const words = { live: "live", wait: "reconnecting", lost: "not connected" };
const drafts = new Map(); // id -> {text, key}: a key stays with its text until it is accepted

let open; // the Conversation
const links = { list: "wait", open: "live" };

function state(part, now, why) {
  links[part] = now;
  const worst = Object.values(links).includes("lost") ? "lost" : Object.values(links).includes("wait") ? "wait" : "live";
  if ($("link").dataset.state === worst && $("link").textContent === words[worst]) return;
  $("link").dataset.state = worst;
  $("link").textContent = words[worst];
  $("link").title = why ?? "";
}

const find = new Find(() => open?.redraw());
const sessions = new Sessions(head, (now, why) => state("list", now, why));

function head() {
  const s = sessions.all.get(sessions.current);
  const takes = sessions.offers.has("input");
  $("composer").hidden = !takes || open?.gone;
  $("shut").hidden = takes || !sessions.loaded || open?.gone;
  if (!open) return;
  open.known(s);
  show($("name"), s?.title || sessions.current);
  $("meta").replaceChildren(...(s ? pills(s) : []), ...(s?.title ? [s.id] : []));
  document.title = (s?.title || sessions.current) + " · docket";
}

function route() {
  const id = location.hash.match(/^#\/s\/([A-Za-z0-9][A-Za-z0-9._-]{0,127})$/)?.[1] ?? "";
  keep();
  open?.close();
  open = undefined;
  links.open = id ? "wait" : "live";
  $("app").classList.toggle("chosen", id !== "");
  $("blank").hidden = id !== "";
  $("open").hidden = id === "";
  sessions.choose(id);
  if (!id) {
    document.title = "docket";
    return;
  }
  find.close();
  open = new Conversation(id, find, (now) => state("open", now), () => sessions.soon(id));
  head();
  $("text").value = drafts.get(id)?.text ?? "";
  grow();
  $("conversation").focus({ preventScroll: true });
}

// keep keeps what is typed for when the session is opened again.
function keep() {
  if (!open) return;
  const text = $("text").value, had = drafts.get(open.id);
  if (!text) drafts.delete(open.id);
  else if (had?.text !== text || had?.via !== $("via").value) drafts.set(open.id, { text, via: $("via").value, key: key() });
}

function grow() {
  const t = $("text");
  t.style.height = "auto";
  t.style.height = t.scrollHeight + 2 + "px";
  $("send").disabled = t.value.trim() === "";
}

async function send(e) {
  e.preventDefault();
  if (!open || $("text").value.trim() === "" || $("send").dataset.busy) return;
  keep();
  const to = open, draft = drafts.get(to.id);
  $("send").dataset.busy = "1";
  $("send").disabled = true;
  $("notice").hidden = true;
  try {
    await json(to.path + "/input", {
      method: "POST",
      headers: { "Content-Type": "application/json", "Idempotency-Key": draft.key },
      body: JSON.stringify({ text: draft.text, replyVia: draft.via }),
    });
    if (drafts.get(to.id) === draft) drafts.delete(to.id);
    if (open === to && $("text").value === draft.text) $("text").value = "";
    to.sent();
    sessions.soon(to.id);
  } catch (err) {
    $("notice").textContent = "Not sent: " + (err.status ? err.message : "the server cannot be reached: send again, it will be said once");
    $("notice").hidden = false;
  } finally {
    delete $("send").dataset.busy;
    grow();
  }
}

$("composer").addEventListener("submit", send);
$("text").addEventListener("input", grow);
$("text").addEventListener("keydown", (e) => {
  if (e.key === "Enter" && (e.ctrlKey || e.metaKey)) send(e);
});
$("earlier").addEventListener("click", () => open?.earlier());
$("jump").addEventListener("click", () => open?.bottom());
document.querySelector(".skip").addEventListener("click", (e) => {
  e.preventDefault(); // the hash names the session
  $("conversation").focus();
});
document.addEventListener("keydown", (e) => {
  if (e.key === "/" && open && !e.target.closest("input, textarea, select, dialog")) {
    e.preventDefault();
    find.open();
  }
});
addEventListener("hashchange", route);
route();
