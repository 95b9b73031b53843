// The registry's page: shows what comes, as it comes.
import { pause, whileSeen } from "./stream.js";

const CALM = 900;

export function liveLedger() {
  const place = document.querySelector("[data-ledger]");
  if (!place) return;
  let shown = Number(place.dataset.height);
  let kept = false;
  let tries = 0;
  let timer = null;
  const look = (wait) => {
    timer ??= setTimeout(async () => {
      const seen = await refresh(place);
      timer = null;
      if (seen) ({ height: shown, kept } = seen);
      tries = seen ? 0 : tries + 1;
      // Who turns to the page again is told the height anew.
      if (!seen && !document.hidden) look(pause(tries));
    }, wait);
  };
  const told = (event) => {
    if (JSON.parse(event.data).height !== shown) look(CALM);
  };
  whileSeen(place.dataset.ledger, (source) => source.addEventListener("head", told));
  place.addEventListener("focusout", () => {
    if (kept) look(CALM);
  });
}

// What the same page says now. Who is in the middle of it keeps the rows he is at, until he leaves them.
async function refresh(place) {
  const answer = await fetch(location.href, { headers: { accept: "text/html" } }).catch(() => null);
  const text = answer?.ok ? await answer.text().catch(() => "") : "";
  const fresh = new DOMParser().parseFromString(text, "text/html").querySelector("[data-ledger]");
  if (!fresh) return null;
  let kept = false;
  for (const part of place.querySelectorAll("[data-part]")) {
    const now = fresh.querySelector(`[data-part="${part.dataset.part}"]`);
    if (part.contains(document.activeElement)) kept = true;
    else if (now) part.replaceWith(now);
  }
  return { height: Number(fresh.dataset.height), kept };
}
