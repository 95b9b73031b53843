// A verification's page: shows the result when there is one.
import { whileSeen } from "./stream.js";

const OVER = new Set(["answered", "declined", "expired"]);

export function liveResult() {
  const place = document.querySelector("[data-result]");
  if (!place || !place.querySelector(".waiting")) return;
  const request = place.dataset.result;
  const told = async (event) => {
    const { state } = JSON.parse(event.data);
    if (OVER.has(state)) end();
    const answer = await fetch(`${request}/result`, { headers: { accept: "text/html" } });
    if (!answer.ok) return location.reload();
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const waiting = place.querySelector(".waiting");
    const still = page.querySelector(".waiting");
    // While it waits only its line changes, so that nobody loses the link they are about to press.
    if (waiting && still) waiting.replaceWith(still);
    else place.replaceChildren(...page.body.childNodes);
  };
  const end = whileSeen(`${request}/events`, (source) => source.addEventListener("state", told));
}
