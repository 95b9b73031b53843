// The wallet's box: reads a QR code with the camera, where the browser can.
export function scanBox() {
  const form = document.querySelector("[data-scan]");
  if (!form || !("BarcodeDetector" in window) || !navigator.mediaDevices) return;
  const start = form.querySelector("[data-scan-start]");
  const view = form.querySelector("[data-scan-view]");
  const note = form.querySelector("[data-scan-note]");
  start.hidden = false;
  start.addEventListener("click", async () => {
    let stream;
    try {
      stream = await navigator.mediaDevices.getUserMedia({ video: { facingMode: "environment" } });
    } catch {
      note.textContent = "The camera is not available. Paste the link instead.";
      return;
    }
    view.srcObject = stream;
    view.hidden = false;
    await view.play();
    note.textContent = "Hold the code in front of the camera.";
    const detector = new window.BarcodeDetector({ formats: ["qr_code"] });
    const look = async () => {
      const [code] = await detector.detect(view).catch(() => []);
      if (!code) return requestAnimationFrame(look);
      for (const track of stream.getTracks()) track.stop();
      view.hidden = true;
      form.elements.uri.value = code.rawValue;
      form.requestSubmit();
    };
    look();
  });
}
