// Requests by the browser (Digital Credentials API), and the window of a wallet that another page opens.

// A verifier's page: where the browser can ask wallets, a button for that stands beside the link and the code.
export function askByBrowser() {
  if (!("DigitalCredential" in window) || !navigator.credentials?.get) return;
  for (const form of document.querySelectorAll("form[data-browser]")) prepare(form);
}

async function prepare(form) {
  const answer = await fetch(form.dataset.browser, { headers: { accept: "application/json" } }).catch(() => null);
  if (!answer?.ok || answer.redirected) return;
  // It is here before the press: whoever waits in between has lost the press, without which no browser asks.
  const digital = await answer.json().catch(() => null);
  if (!digital?.requests?.some(({ protocol }) => DigitalCredential.userAgentAllowsProtocol?.(protocol) ?? true)) return;
  form.querySelector("button").addEventListener("click", () => ask(form, digital));
  form.hidden = false;
}

async function ask(form, digital) {
  const told = form.querySelector("[role=status]");
  told.textContent = "";
  try {
    const { protocol, data } = await navigator.credentials.get({ mediation: "required", digital });
    const answer = typeof data === "string" ? JSON.parse(data) : data;
    form.elements.message.value = JSON.stringify({ origin: location.origin, protocol, data: answer });
    form.submit();
  } catch (error) {
    told.textContent = error.name === "NotAllowedError"
      ? "No wallet has answered. You can ask again, or use the link or the code."
      : "This browser can’t ask a wallet. Use the link or the code.";
  }
}

// The wallet's window: the page that opened it says what it asks for; the browser says whose page it is.
export function answerInWindow() {
  const form = document.querySelector("form[data-window]");
  if (form && window.opener) wait(form);
  const returned = document.querySelector("[data-returned]");
  if (returned) give(returned);
  for (const button of document.querySelectorAll("[data-settles]")) settle(button);
}

// How long the window stands with the focus before it takes the press that shares, in milliseconds.
const SETTLED = 500;

// Another page opened the window, perhaps where somebody is pressing twice: the second press must not share.
function settle(button) {
  let timer;
  let hadFocus = false;
  const wait = () => {
    hadFocus ||= document.activeElement === button;
    button.disabled = true;
    clearTimeout(timer);
    timer = setTimeout(() => {
      button.disabled = false;
      if (hadFocus && document.activeElement === document.body) button.focus();
      hadFocus = false;
    }, SETTLED);
  };
  wait();
  // A press in a window without the focus gives it the focus first. `pageshow`: the person comes back to the page.
  addEventListener("focus", wait);
  addEventListener("pageshow", wait);
}

function wait(form) {
  form.querySelector("[data-alone]").hidden = true;
  form.querySelector(".waiting").hidden = false;
  addEventListener("message", ({ source, origin, data }) => {
    if (source !== window.opener || data?.type !== "selfsame-digital-request") return;
    const { protocol, data: asked } = data;
    form.elements.message.value = JSON.stringify({ origin, protocol, data: asked });
    form.submit();
  });
  // It says nothing but that it is here, so that any page may hear it.
  window.opener.postMessage({ type: "selfsame-digital-ready" }, "*");
}

function give(place) {
  const close = place.querySelector("[data-close]");
  // An origin that is none, such as that of a sandboxed page, cannot be addressed.
  if (!window.opener || !place.dataset.to.startsWith("http")) return;
  const { protocol, data } = JSON.parse(place.dataset.returned);
  // A page of another origin that has taken the opener's place gets nothing.
  window.opener.postMessage({ type: "selfsame-digital-credential", protocol, data }, place.dataset.to);
  close.hidden = false;
  close.addEventListener("click", () => window.close());
}
