// A verification's page: shows the result when there is one.
import { pause, whileSeen } from "./stream.js";

const OVER = new Set(["answered", "declined", "expired"]);

export function liveResult() {
  const place = document.querySelector("[data-result]");
  if (!place?.querySelector(".waiting")) return;
  if (place.dataset.result) follow(place, place.dataset.result);
  else lookAgain(place);
}

// By the request's events, which are the operator's.
function follow(place, request) {
  let looks = 0;
  const told = async (event) => {
    const { state } = JSON.parse(event.data);
    const mine = ++looks;
    for (let tries = 0; mine === looks; tries++) {
      const page = await fetched(`${request}/result`);
      if (mine !== looks) return;
      if (page) {
        show(place, page.body);
        if (OVER.has(state)) end();
        return;
      }
      await waited(tries);
    }
  };
  const end = whileSeen(`${request}/events`, (source) => source.addEventListener("state", told));
}

// Whom a wallet brought back has no events to follow: the page itself is asked, by the cookie that it is bound to.
async function lookAgain(place) {
  for (let tries = 0; place.querySelector(".waiting"); tries++) {
    await waited(tries);
    if (document.hidden) continue;
    const fresh = (await fetched(location.href))?.querySelector("[data-result]");
    if (fresh && !fresh.querySelector(".waiting")) show(place, fresh);
  }
}

// The page's text, or nothing after an error that may pass. A redirect (to a sign-in) or a refusal is shown by a reload.
async function fetched(address) {
  const answer = await fetch(address, { headers: { accept: "text/html" } }).catch(() => null);
  const refused = answer && answer.status >= 400 && answer.status < 500 && answer.status !== 429;
  if (answer?.redirected || refused) location.reload();
  if (!answer?.ok || answer.redirected) return null;
  const text = await answer.text().catch(() => null);
  return text === null ? null : new DOMParser().parseFromString(text, "text/html");
}

function show(place, fresh) {
  const waiting = place.querySelector(".waiting");
  const still = fresh.querySelector(".waiting");
  // While the request waits, only its line is replaced: a link that the person is about to press stays in place.
  if (waiting && still) return waiting.replaceWith(still);
  const held = place.contains(document.activeElement);
  place.replaceChildren(...fresh.childNodes);
  if (!held) return;
  // Who was at something that is gone now goes on at what came in its place, and not at the page's beginning.
  const heading = place.querySelector("h2");
  heading?.setAttribute("tabindex", "-1");
  heading?.focus();
}

function waited(tries) {
  return new Promise((resolve) => { setTimeout(resolve, pause(tries)); });
}
