// Server-Sent Events over fetch, because an EventSource can send no token. A stream
// resumes behind the last id that it got, waits longer after each failure, and rests
// while nobody looks: a browser opens only a few connections to one server.

const silence = 45000; // three heartbeats
const waits = [500, 1000, 2000, 4000, 8000, 15000];

// parse splits text into events. What is not complete yet stays in it.
export class Parser {
  #rest = "";
  feed(text) {
    const lines = (this.#rest + text).split("\n");
    this.#rest = lines.pop();
    const done = [];
    for (const line of lines) this.#line(line, done);
    return done;
  }
  #event = {};
  #line(line, done) {
    if (line === "") {
      if (this.#event.type) done.push(this.#event);
      this.#event = {};
      return;
    }
    const at = line.indexOf(": ");
    const name = line.slice(0, at), value = line.slice(at + 2);
    if (name === "event") this.#event.type = value;
    if (name === "id") this.#event.id = value;
    if (name === "data") this.#event.data = value;
  }
}

// Follow calls on.event(type, data) for each event, on.state("live" | "wait") as the
// connection comes and goes, and on.refused({status, code, error}) when to try again
// is no use; then it has stopped.
export class Follow {
  #abort; #stopped = false; #failures = 0; #timer;
  constructor(request, path, after, on) {
    Object.assign(this, { request, path, after, on });
    this.seen = () => (document.hidden ? this.#rest() : this.#begin());
    document.addEventListener("visibilitychange", this.seen);
    this.online = () => { this.#rest(); this.#begin(); };
    addEventListener("online", this.online);
    this.#begin();
  }
  stop() {
    this.#stopped = true;
    document.removeEventListener("visibilitychange", this.seen);
    removeEventListener("online", this.online);
    this.#rest();
  }
  #rest() {
    clearTimeout(this.#timer);
    this.#abort?.abort();
    this.#abort = undefined;
  }
  async #begin() {
    if (this.#stopped || this.#abort) return;
    const abort = (this.#abort = new AbortController());
    try {
      await this.#read(abort);
    } catch (err) {
      if (abort.signal.aborted && abort.signal.reason !== "silent") return;
      if (err.status && err.status < 500 && err.status !== 408 && err.status !== 429 || err.status === 501) {
        this.stop();
        this.on.refused(err);
        return;
      }
    }
    if (this.#stopped || this.#abort !== abort) return;
    this.#abort = undefined;
    this.on.state("wait");
    this.#timer = setTimeout(() => this.#begin(), waits[Math.min(this.#failures++, waits.length - 1)] * (0.75 + Math.random() / 2));
  }
  async #read(abort) {
    const headers = this.after ? { "Last-Event-ID": this.after } : {};
    const answer = await this.request(this.path, { headers, signal: abort.signal, cache: "no-store" });
    this.on.state("live");
    const parser = new Parser(), text = new TextDecoder();
    const reader = answer.body.getReader();
    for (;;) {
      const watch = setTimeout(() => abort.abort("silent"), silence);
      const { value, done } = await reader.read().finally(() => clearTimeout(watch));
      if (done || abort.signal.aborted) return;
      this.#failures = 0;
      for (const e of parser.feed(text.decode(value, { stream: true }))) {
        if (e.id) this.after = e.id;
        this.on.event(e.type, JSON.parse(e.data));
        if (this.#stopped) return;
      }
    }
  }
}
