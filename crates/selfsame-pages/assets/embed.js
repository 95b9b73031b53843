// <selfsame-request src="https://HOST/ask/NAME" reference="order-17">Prove your age</selfsame-request>
//
// A button that opens a saved request in a window, and gives its page the event `selfsame-result` when it has ended.
// The result comes by way of the visitor's browser: a server must ask the verifier's API before it relies on it.
const look = new CSSStyleSheet();
look.replaceSync(`
:host { display: inline-block }
:host([hidden]) { display: none }
button { font: inherit; font-weight: 600; padding: .6em 1.2em; border: 0; border-radius: .5em; color: #fff; background: #0b5d4b; cursor: pointer }
button:hover { background: #084638 }
button:focus-visible { outline: 3px solid #2f9e83; outline-offset: 2px }`);

class SelfsameRequest extends HTMLElement {
  #window = null;
  #watch = 0;
  #heard = (event) => this.#hear(event);

  connectedCallback() {
    if (this.shadowRoot) return;
    const root = this.attachShadow({ mode: "open", delegatesFocus: true });
    root.adoptedStyleSheets = [look];
    const button = document.createElement("button");
    button.type = "button";
    button.part = "button";
    button.append(document.createElement("slot"));
    button.addEventListener("click", () => this.#open());
    root.append(button);
  }

  disconnectedCallback() {
    this.#end();
  }

  get #address() {
    return new URL(this.getAttribute("src") ?? "", document.baseURI);
  }

  #open() {
    // A second press leads back to the window that is open.
    if (this.#window && !this.#window.closed) return this.#window.focus();
    const address = this.#address;
    address.searchParams.set("from", location.origin);
    const reference = this.getAttribute("reference");
    if (reference) address.searchParams.set("reference", reference);
    this.#end();
    this.#window = window.open(address, "_blank", "popup,width=480,height=820");
    if (!this.#window) return this.#tell({ state: "blocked" });
    addEventListener("message", this.#heard);
    this.#watch = setInterval(() => {
      if (!this.#window?.closed) return;
      this.#end();
      this.#tell({ state: "closed" });
    }, 500);
  }

  #hear({ origin, source, data }) {
    if (source !== this.#window || origin !== this.#address.origin || data?.type !== "selfsame-result") return;
    this.#end();
    const { request, state, outcome, reference } = data;
    this.#tell({ request, state, outcome, reference });
  }

  #end() {
    removeEventListener("message", this.#heard);
    clearInterval(this.#watch);
  }

  #tell(detail) {
    this.dispatchEvent(new CustomEvent("selfsame-result", { detail, bubbles: true, composed: true }));
  }
}

customElements.define("selfsame-request", SelfsameRequest);
