// Buttons that copy a field's text.
export function copyButtons() {
  for (const button of document.querySelectorAll("[data-copy]")) {
    const label = button.textContent;
    button.addEventListener("click", async () => {
      const field = document.querySelector(button.dataset.copy);
      try {
        await navigator.clipboard.writeText(field.value);
        button.textContent = "Copied";
      } catch {
        field.select();
        button.textContent = "Press Ctrl+C";
      }
      setTimeout(() => { button.textContent = label; }, 2000);
    });
  }
}
