// A page that waits for another device: it opens the page that shows the answer once there is one.

const PAUSE = 2000;

export function awaitedDevice() {
  const waiting = document.querySelector("[data-awaited]");
  if (!waiting) return;
  const look = async () => {
    // A hidden page need not know at once.
    if (!document.hidden) {
      const answer = await fetch(waiting.dataset.awaited, { redirect: "manual" }).catch(() => null);
      if (answer?.type === "opaqueredirect") return location.assign(waiting.dataset.awaited);
    }
    setTimeout(look, PAUSE);
  };
  setTimeout(look, PAUSE);
}
