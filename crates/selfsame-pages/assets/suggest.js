// A name that is made from a title while it is typed, and the address that it gives. The server makes the same one.

const SPELLED = { "ä": "ae", "æ": "ae", "ö": "oe", "œ": "oe", "ø": "oe", "ü": "ue", "ß": "ss" };
const LONGEST = 63;

function suggestion(title) {
  const spelled = title.trim().toLowerCase().replace(/[äæöœøüß]/g, (letter) => SPELLED[letter]);
  const plain = spelled.normalize("NFD").replace(/[\u0300-\u036f'’]/g, "");
  return plain.replace(/[^a-z0-9]+/g, "-").replace(/^-/, "").slice(0, LONGEST).replace(/-$/, "");
}

export function suggestNames() {
  for (const field of document.querySelectorAll("[data-suggest]")) {
    const title = document.querySelector(field.dataset.suggest);
    const shown = field.closest("form").querySelector("[data-suggested]");
    // A name that was typed is not replaced.
    let own = field.value !== "" && field.value !== suggestion(title.value);
    const show = () => { shown.textContent = field.value || "…"; };
    title.addEventListener("input", () => {
      if (!own) field.value = suggestion(title.value);
      show();
    });
    field.addEventListener("input", () => {
      own = field.value !== "";
      show();
    });
  }
}
