// Requests to the server of this page, with the token where it asks for one.

const place = "docket-token";
let asked;

// request returns a good answer. Otherwise it throws an error with status, code and
// the server's own words.
export async function request(path, options = {}) {
  for (;;) {
    const token = sessionStorage.getItem(place);
    const headers = { ...options.headers };
    if (token) headers.Authorization = "Bearer " + token;
    const answer = await fetch(path, { ...options, headers });
    if (answer.ok) return answer;
    const said = await answer.json().catch(() => ({}));
    if (answer.status !== 401) {
      throw Object.assign(new Error(said.error ?? answer.statusText), { status: answer.status, code: said.code });
    }
    if (sessionStorage.getItem(place) !== token) continue; // given by now: the answer is to an older one
    await (asked ??= ask(token !== null).finally(() => (asked = undefined)));
  }
}

export const json = async (path, options) => (await request(path, options)).json();

// ask waits until the person gives a token.
function ask(again) {
  const dialog = document.getElementById("ask"), field = document.getElementById("token");
  document.getElementById("ask-bad").hidden = !again;
  field.value = "";
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener("cancel", (e) => e.preventDefault());
    dialog.addEventListener("close", () => {
      sessionStorage.setItem(place, field.value.trim());
      resolve();
    }, { once: true });
  });
}
