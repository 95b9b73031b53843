// A form is sent once, however often its button is pressed while the answer is on its way.
export function sendOnce() {
  let sent = new WeakSet();
  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (form.getAttribute("method") !== "post") return;
    if (sent.has(form)) return event.preventDefault();
    sent.add(form);
    // Not `disabled`: the pressed button's value must be sent, and Firefox would keep that when the page is reloaded.
    for (const button of form.querySelectorAll("button")) button.setAttribute("aria-disabled", "true");
  });
  // Whoever comes back to the page may send again.
  addEventListener("pageshow", () => {
    sent = new WeakSet();
    for (const button of document.querySelectorAll("form button")) button.removeAttribute("aria-disabled");
  });
}
