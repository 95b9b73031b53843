// The start page: counters and pulses, as things happen on the server.
import { whileSeen } from "./stream.js";

const EDGES = {
  issued: ["edge-issued"],
  received: ["edge-issued"],
  status_changed: ["edge-status"],
  presented: ["edge-presented", "edge-read"],
  verification: ["edge-verification"],
  anchored: ["edge-status", "edge-anchored"],
};

export function liveTriangle() {
  const place = document.querySelector("[data-live]");
  if (!place) return;
  const told = (event) => {
    const { kind, tally } = JSON.parse(event.data);
    for (const counter of place.querySelectorAll("[data-count]")) {
      counter.textContent = tally[counter.dataset.count] ?? counter.textContent;
    }
    for (const id of EDGES[kind] ?? []) pulse(document.getElementById(id));
  };
  whileSeen(place.dataset.live, (source) => source.addEventListener("tally", told));
}

function pulse(edge) {
  if (!edge) return;
  edge.classList.remove("pulse");
  void edge.getBoundingClientRect();
  edge.classList.add("pulse");
}
