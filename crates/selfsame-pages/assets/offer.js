// An offer's page: shows its state and how often it can still be accepted, as soon as a wallet accepts it.
import { whileSeen } from "./stream.js";

export function liveOffer() {
  const line = document.querySelector("[data-offer]");
  const offer = line?.dataset.offer;
  if (!offer) return;
  const told = async (event) => {
    const { state } = JSON.parse(event.data);
    // The line alone is replaced, so that a code that is shown once stays on the page.
    const answer = await fetch(offer, { headers: { accept: "text/html" } }).catch(() => null);
    if (answer?.ok && !answer.redirected) {
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      const fresh = page.querySelector("[data-offer]");
      if (fresh) line.replaceChildren(...fresh.childNodes);
    }
    if (state !== "open") end();
  };
  const end = whileSeen(`${offer}/events`, (source) => source.addEventListener("state", told));
}
