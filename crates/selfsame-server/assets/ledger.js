// The registry's page: shows what comes, as it comes.
import { whileSeen } from "./stream.js";

const CALM = 900;

export function liveLedger() {
  const place = document.querySelector("[data-ledger]");
  if (!place) return;
  let shown = Number(place.dataset.height);
  let asked = false;
  const told = (event) => {
    const { height } = JSON.parse(event.data);
    if (height === shown || asked) return;
    asked = true;
    setTimeout(async () => {
      asked = false;
      shown = (await refresh(place)) ?? shown;
    }, CALM);
  };
  whileSeen(place.dataset.ledger, (source) => source.addEventListener("head", told));
}

// What the same page says now. Who is in the middle of it keeps the rows he is at.
async function refresh(place) {
  const answer = await fetch(location.href, { headers: { accept: "text/html" } }).catch(() => null);
  if (!answer?.ok) return null;
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const fresh = page.querySelector("[data-ledger]");
  if (!fresh) return null;
  for (const part of place.querySelectorAll("[data-part]")) {
    const now = fresh.querySelector(`[data-part="${part.dataset.part}"]`);
    if (now && !part.contains(document.activeElement)) part.replaceWith(now);
  }
  return Number(fresh.dataset.height);
}
