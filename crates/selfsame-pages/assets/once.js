// A form is sent once, however often its button is pressed while the answer is on its way.

// No page tells its scripts that its person has stopped what was loading: after so long they may send again.
const PATIENCE = 8000;

export function sendOnce() {
  let sent = new WeakSet();
  let timer;
  const forget = () => {
    clearTimeout(timer);
    sent = new WeakSet();
    for (const button of document.querySelectorAll("form button")) button.removeAttribute("aria-disabled");
  };
  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (form.getAttribute("method") !== "post") return;
    if (sent.has(form)) return event.preventDefault();
    sent.add(form);
    // Not `disabled`: the pressed button's value must be sent, and Firefox would keep that when the page is reloaded.
    for (const button of form.querySelectorAll("button")) button.setAttribute("aria-disabled", "true");
    clearTimeout(timer);
    timer = setTimeout(forget, PATIENCE);
  });
  // The form can be sent again after the person comes back to the page, or stops it with Escape.
  addEventListener("pageshow", forget);
  addEventListener("keydown", (event) => {
    if (event.key === "Escape") forget();
  });
}
