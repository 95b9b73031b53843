// The editor of a credential type: its card changes as one types, and rows are added, moved and removed at once.

const LARGEST = 64 * 1024;

export function typeEditor() {
  const form = document.querySelector("[data-type-editor]");
  if (!form) return;
  const card = document.querySelector("[data-card]");
  rows(form);
  names(form);
  form.addEventListener("input", () => draw(form, card));
  form.elements.logo_file.addEventListener("change", (event) => logo(form, card, event.target));
  draw(form, card);
}

function draw(form, card) {
  const face = card.querySelector(".face");
  const title = form.elements.title.value.trim();
  face.querySelector(".face-title bdi").textContent = title;
  const icon = face.querySelector(".face-icon");
  if (icon && !icon.querySelector("svg")) icon.textContent = form.elements.icon.value.trim();
  const background = form.elements.background_color.value;
  const text = form.elements.text_color.value;
  const beside = contrast(text, "#000000") > contrast(text, "#ffffff") ? "black" : "white";
  face.style.setProperty("--a", background);
  face.style.setProperty("--b", `color-mix(in srgb, ${background} 72%, ${beside})`);
  face.style.color = text;
  const found = contrast(background, text);
  const note = document.querySelector("[data-contrast]");
  const said = found < 4.5
    ? `The text is hard to read: its contrast is ${found.toFixed(1)}. Choose colours with a contrast of at least 4.5.`
    : "";
  if (note.textContent !== said) note.textContent = said;
}

// The contrast of two colours, as WCAG 2.2 defines it.
function contrast(one, other) {
  const [low, high] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
}

function luminance(color) {
  const part = (at) => {
    const value = parseInt(color.slice(at, at + 2), 16) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  };
  return 0.2126 * part(1) + 0.7152 * part(3) + 0.0722 * part(5);
}

function logo(form, card, field) {
  const file = field.files[0];
  const refused = form.querySelector("[data-logo-refused]");
  refused.hidden = !file || file.size <= LARGEST;
  if (!file) return;
  if (!refused.hidden) {
    field.value = "";
    return;
  }
  const reader = new FileReader();
  reader.addEventListener("load", () => {
    const place = card.querySelector(".face-logo, .face-icon");
    const image = document.createElement("img");
    image.className = "face-logo";
    image.alt = "";
    image.src = reader.result;
    place.replaceWith(image);
  });
  reader.readAsDataURL(file);
}

// A name follows its label until someone writes it.
function names(form) {
  const slug = (text, between) => text.toLowerCase().split(/[^a-z0-9]+/).filter(Boolean).join(between).slice(0, 60);
  const follow = (label, name, between) => {
    if (name.value === "" || name.dataset.follows === name.value) {
      name.value = slug(label.value, between);
      name.dataset.follows = name.value;
    }
  };
  form.addEventListener("input", (event) => {
    const { target } = event;
    if (target.name === "title" && form.elements.id.type !== "hidden") follow(target, form.elements.id, "-");
    if (target.matches("[data-label]")) follow(target, target.closest("[data-row]").querySelector("[data-name]"), "_");
  });
}

function rows(form) {
  form.addEventListener("click", (event) => {
    const button = event.target.closest("[data-row-up], [data-row-down], [data-row-remove], [data-row-add]");
    if (!button) return;
    event.preventDefault();
    if ("rowAdd" in button.dataset) return add(form, button);
    const row = button.closest("[data-row]");
    if ("rowUp" in button.dataset) row.previousElementSibling?.before(row);
    if ("rowDown" in button.dataset) row.nextElementSibling?.after(row);
    if ("rowRemove" in button.dataset) {
      const next = row.nextElementSibling ?? row.previousElementSibling;
      const add = row.closest("[data-rows]").parentElement.querySelector(":scope > [data-row-add]");
      row.remove();
      (next?.querySelector("[data-label]") ?? add).focus();
    } else {
      button.focus();
    }
  });
}

function add(form, button) {
  const fresh = document.querySelector(`[data-fresh="${button.dataset.rowAdd}"]`);
  const keys = [...form.querySelectorAll("[data-row]")].map((row) => parseInt(row.dataset.row, 10) || 0);
  const key = String(Math.max(-1, ...keys) + 1);
  const row = fresh.content.firstElementChild.cloneNode(true);
  for (const part of [row, ...row.querySelectorAll("*")]) {
    for (const name of ["id", "for", "name", "value", "data-row"]) {
      const value = part.getAttribute(name);
      if (value?.includes("KEY")) part.setAttribute(name, value.replace("KEY", key));
    }
  }
  button.parentElement.querySelector(":scope > [data-rows]").append(row);
  row.querySelector("[data-label]").focus();
}
