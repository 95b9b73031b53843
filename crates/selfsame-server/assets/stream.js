// A stream of events that is open while its page is seen, and only then: over plain HTTP a browser has six connections
// to a server for all its tabs, and a seventh page would wait for ever. Gives what closes it for good.
export function whileSeen(address, listen) {
  let source = null;
  let over = false;
  const close = () => {
    source?.close();
    source = null;
  };
  const turn = () => {
    if (over || document.hidden) return close();
    if (source) return;
    source = new EventSource(address);
    listen(source);
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
