// An offer's page: shows its state as soon as a wallet accepts it, and when it is over, that instead of its code.
import { whileSeen } from "./stream.js";

export function liveOffer() {
  const line = document.querySelector("[data-offer]");
  const body = document.querySelector("[data-offer-body]");
  const offer = line?.dataset.offer;
  if (!offer || !body) return;
  const told = async (event) => {
    const { state } = JSON.parse(event.data);
    const answer = await fetch(offer, { headers: { accept: "text/html" } }).catch(() => null);
    if (answer?.ok && !answer.redirected) {
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      replace(line, page.querySelector("[data-offer]"));
      // While it is open the line alone is replaced, so that a code that is shown once stays on the page.
      if (state !== "open") replace(body, page.querySelector("[data-offer-body]"));
    }
    if (state !== "open") end();
  };
  const end = whileSeen(`${offer}/events`, (source) => source.addEventListener("state", told));
}

function replace(place, fresh) {
  if (!fresh) return;
  const held = place.contains(document.activeElement);
  place.replaceChildren(...fresh.childNodes);
  if (!held) return;
  // Who was at something that is gone now goes on at what came in its place.
  const heading = place.querySelector("h2");
  heading?.setAttribute("tabindex", "-1");
  heading?.focus();
}
