// What the page's visitor reads. Whether the order may go on is for the page's server: it asks
// GET https://verifier.example/api/verifier/requests/{request} with an API key, and compares `saved` and `reference`.
const words = {
  valid: "Proven.",
  closed: "The window was closed before there was a result.",
  blocked: "The browser has blocked the window.",
};

document.querySelector("selfsame-request").addEventListener("selfsame-result", ({ detail }) => {
  const { state, outcome, reference } = detail;
  const result = document.querySelector("#result");
  result.textContent = words[outcome ?? state] ?? `Not proven: ${outcome ?? state}.`;
  result.dataset.reference = reference ?? "";
});
