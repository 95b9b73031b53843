// The page of a request that a visitor has opened: it shows the result when there is one, and tells the page whose
// button has opened this window.
const EVERY = 2500;

export function visitedRequest() {
  const place = document.querySelector("[data-visit]");
  if (!place) return;
  const address = new URL(location.href);
  // Another tab may be the one to which the wallet sends the person back. Its address has the code without which this
  // one is not shown the result.
  const channel = new BroadcastChannel(`selfsame-visit-${place.dataset.visit}`);
  const code = address.searchParams.get("response_code");
  if (code) channel.postMessage(code);
  channel.addEventListener("message", ({ data }) => {
    address.searchParams.set("response_code", data);
    look(place, address);
  });
  tell(place);
  closing();
  const timer = setInterval(() => {
    if (place.querySelector(".waiting")) look(place, address);
    else clearInterval(timer);
  }, EVERY);
}

async function look(place, address) {
  const answer = await fetch(address, { headers: { accept: "text/html" } }).catch(() => null);
  if (!answer?.ok) return;
  const text = await answer.text().catch(() => "");
  const fresh = new DOMParser().parseFromString(text, "text/html").querySelector("[data-visit]");
  const waiting = place.querySelector(".waiting");
  if (!fresh || !waiting) return;
  const still = fresh.querySelector(".waiting");
  // While the request waits, only its line is replaced: a link that the person is about to press stays in place.
  if (still) return waiting.replaceWith(still);
  const held = place.contains(document.activeElement);
  place.replaceChildren(...fresh.childNodes);
  tell(place);
  closing();
  if (!held) return;
  const heading = place.querySelector("h2");
  heading?.setAttribute("tabindex", "-1");
  heading?.focus();
}

// Only a page of the origin that the verifier lists gets the message, whatever page has opened this window.
function tell(place) {
  const ended = place.querySelector("[data-ended]");
  const to = place.dataset.to;
  if (!ended || !to || !window.opener) return;
  const { ended: state, outcome } = ended.dataset;
  const { visit: request, reference } = place.dataset;
  window.opener.postMessage({ type: "selfsame-result", request, state, outcome, reference }, to);
}

function closing() {
  for (const button of document.querySelectorAll("[data-close]")) {
    button.hidden = !window.opener;
    button.addEventListener("click", () => window.close());
  }
}
