// A stream of events that is open while its page is seen, and only then: over plain HTTP a browser has six connections
// to a server for all its tabs, and a seventh page would wait for ever. Gives what closes it for good.
export function whileSeen(address, listen) {
  let source = null;
  let timer = null;
  let tries = 0;
  let over = false;
  const close = () => {
    clearTimeout(timer);
    source?.close();
    timer = source = null;
  };
  const open = () => {
    timer = null;
    source = new EventSource(address);
    source.addEventListener("open", () => { tries = 0; });
    source.addEventListener("error", failed);
    listen(source);
  };
  // What breaks off a browser opens again by itself; what is answered by anything but 200 it never asks for again
  // (HTML §9.2.3).
  const failed = () => {
    if (source?.readyState !== EventSource.CLOSED) return;
    close();
    again();
  };
  const again = () => {
    timer = setTimeout(async () => {
      const mine = timer;
      const asked = { method: "HEAD", headers: { accept: "text/event-stream" } };
      const answer = await fetch(address, asked).catch(() => null);
      if (timer !== mine) return;
      // Whose session is over is led to where a new one begins.
      if (answer?.status === 401) location.reload();
      else if (answer?.ok) open();
      else again();
    }, pause(tries++));
  };
  const turn = () => {
    if (over || document.hidden) return close();
    if (!source && !timer) open();
  };
  document.addEventListener("visibilitychange", turn);
  addEventListener("pagehide", close);
  addEventListener("pageshow", turn);
  turn();
  return () => {
    over = true;
    close();
  };
}

// How long to wait before the next try: two seconds at first, half a minute in the end, and not all pages at once.
export function pause(tries) {
  return Math.min(2000 * 2 ** tries, 30000) * (0.75 + Math.random() / 2);
}
