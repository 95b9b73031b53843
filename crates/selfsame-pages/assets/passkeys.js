// Forms that carry what an authenticator answers. A form has what is asked, or the address that tells it.

const bytes = (text) => Uint8Array.from(atob(text.replace(/-/g, "+").replace(/_/g, "/")), (letter) => letter.charCodeAt(0));
const text = (buffer) =>
  btoa(String.fromCharCode(...new Uint8Array(buffer))).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
const named = (all) => (all ?? []).map((one) => ({ ...one, id: bytes(one.id) }));

async function created(options) {
  const publicKey = {
    ...options,
    challenge: bytes(options.challenge),
    user: { ...options.user, id: bytes(options.user.id) },
    excludeCredentials: named(options.excludeCredentials),
  };
  const { response, ...credential } = whole(await navigator.credentials.create({ publicKey }));
  return {
    ...credential,
    response: {
      clientDataJSON: text(response.clientDataJSON),
      attestationObject: text(response.attestationObject),
      transports: response.getTransports?.() ?? [],
    },
  };
}

async function answered(options) {
  const publicKey = {
    ...options,
    challenge: bytes(options.challenge),
    allowCredentials: named(options.allowCredentials),
  };
  const { response, ...credential } = whole(await navigator.credentials.get({ publicKey }));
  return {
    ...credential,
    response: {
      clientDataJSON: text(response.clientDataJSON),
      authenticatorData: text(response.authenticatorData),
      signature: text(response.signature),
      userHandle: response.userHandle ? text(response.userHandle) : null,
    },
  };
}

const whole = ({ id, rawId, type, response }) => ({ id, rawId: text(rawId), type, response });

async function asked(form) {
  if (form.dataset.options) return JSON.parse(form.dataset.options);
  const answer = await fetch(form.dataset.from, { headers: { accept: "application/json" } });
  if (!answer.ok) throw new Error(answer.statusText);
  return answer.json();
}

export function passkeyForms() {
  // Browsers have no passkeys at a bare address.
  if (!window.PublicKeyCredential || /^(\[|[\d.]+$)/.test(location.hostname)) return;
  for (const form of document.querySelectorAll("form[data-passkey]")) {
    const told = form.querySelector("[data-told]");
    const button = form.querySelector("[data-ready]");
    told.textContent = "";
    form.hidden = button.hidden = false;
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      // The form is sent below, without this event.
      event.stopPropagation();
      if (button.getAttribute("aria-disabled")) return;
      button.setAttribute("aria-disabled", "true");
      told.textContent = "";
      try {
        const answer = form.dataset.passkey === "create" ? created : answered;
        form.elements.answer.value = JSON.stringify(await answer(await asked(form)));
        form.submit();
      } catch (error) {
        told.textContent = error.name === "InvalidStateError" ? form.dataset.existing : form.dataset.cancelled;
        button.removeAttribute("aria-disabled");
      }
    });
  }
}
