// The search in what is loaded of a conversation.

const $ = (id) => document.getElementById(id);

export class Find {
  text = "";
  #at = -1;
  constructor(redraw) {
    this.redraw = redraw;
    $("find-open").addEventListener("click", () => ($("find").hidden ? this.open() : this.close()));
    $("find-text").addEventListener("input", () => this.#search($("find-text").value.trim()));
    $("find-next").addEventListener("click", () => this.#go(1));
    $("find-prev").addEventListener("click", () => this.#go(-1));
    $("find-text").addEventListener("keydown", (e) => {
      if (e.key === "Enter") { e.preventDefault(); this.#go(e.shiftKey ? -1 : 1); }
      if (e.key === "Escape") { e.preventDefault(); this.close(); $("find-open").focus(); }
    });
  }
  open() {
    $("find").hidden = false;
    $("find-open").setAttribute("aria-expanded", "true");
    $("find-text").focus();
    $("find-text").select();
  }
  close() {
    $("find").hidden = true;
    $("find-open").setAttribute("aria-expanded", "false");
    $("find-text").value = "";
    this.#search("");
  }
  #search(text) {
    if (text === this.text) return;
    this.text = text;
    this.#at = -1;
    this.redraw();
    this.#go(-1);
  }
  #marks() { return [...$("log").querySelectorAll("mark")]; }
  // counted says again how many hits there are, after events came.
  counted() {
    const n = this.#marks().length;
    $("find-count").textContent = !this.text ? "" : n ? `${Math.max(this.#at, 0) + 1} of ${n}` : "no hit";
    $("find-prev").disabled = $("find-next").disabled = n === 0;
  }
  #go(by) {
    const all = this.#marks();
    for (const m of all) m.classList.remove("now");
    if (all.length) {
      this.#at = this.#at < 0 ? all.length - 1 : (this.#at + by + all.length) % all.length;
      const now = all[this.#at];
      now.classList.add("now");
      const body = now.closest(".body.long");
      if (body) body.classList.remove("long");
      now.scrollIntoView({ block: "center" });
    }
    this.counted();
  }
}
