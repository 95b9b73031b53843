//! The addresses that are steps of a flow: what their messages are called, between whom they go, and by which paragraphs.

use http::Method;
use selfsame_wire::{FlowKind, WireParty, WireStep};

use FlowKind::{Issuance, Presentation, SignIn};
use WireParty::{Application, Browser, Issuer, Provider, Verifier, Wallet};

/// A step at an address.
struct AddressedStep {
    method: Method,
    path: &'static str,
    step: WireStep,
}

/// The step at this address; `None` for an address that belongs to no flow.
pub(crate) fn of(method: &Method, path: &str) -> Option<WireStep> {
    let all = issuance().into_iter().chain(presentation());
    let mut all = all.chain(application()).chain(browser());
    let found = all.find(|one| one.method == *method && one.path == path)?;
    Some(found.step)
}

/// The names of a request and of its answer.
struct StepNames(&'static str, &'static str);

/// The paragraphs of a request and of its answer.
struct StepParagraphs(&'static str, &'static str);

fn step(kind: FlowKind, names: StepNames, by: StepParagraphs) -> WireStep {
    let (from, to) = match kind {
        Issuance => (Wallet, Issuer),
        Presentation => (Wallet, Verifier),
        SignIn => (Browser, Provider),
        FlowKind::Wallet => (Wallet, Issuer),
    };
    WireStep {
        kind,
        request: names.0,
        answer: names.1,
        from,
        to,
        by: by.0,
        answer_by: by.1,
        answers_person: false,
        is_stateless: false,
    }
}

fn get(path: &'static str, step: WireStep) -> AddressedStep {
    let method = Method::GET;
    AddressedStep { method, path, step }
}

fn post(path: &'static str, step: WireStep) -> AddressedStep {
    let method = Method::POST;
    AddressedStep { method, path, step }
}

fn issuance() -> Vec<AddressedStep> {
    let step = |names, by| step(Issuance, names, by);
    // Whoever asks gets a nonce; only its use tells to which flow it belongs.
    let nonce = WireStep {
        is_stateless: true,
        ..step(
            StepNames("Nonce request", "Nonce response"),
            StepParagraphs("OpenID4VCI 1.0 §7.1", "OpenID4VCI 1.0 §7.2"),
        )
    };
    vec![
        get(
            "/issuer/offers/{id}",
            step(
                StepNames("Request for the offer", "Credential offer"),
                StepParagraphs("OpenID4VCI 1.0 §4.1.3", "OpenID4VCI 1.0 §4.1.1"),
            ),
        ),
        post(
            "/issuer/token",
            step(
                StepNames("Token request", "Token response"),
                StepParagraphs("OpenID4VCI 1.0 §6.1", "OpenID4VCI 1.0 §6.2"),
            ),
        ),
        post("/issuer/nonce", nonce),
        post(
            "/issuer/credential",
            step(
                StepNames("Credential request", "Credential response"),
                StepParagraphs("OpenID4VCI 1.0 §8.2", "OpenID4VCI 1.0 §8.3"),
            ),
        ),
        post(
            "/issuer/deferred",
            step(
                StepNames(
                    "Deferred credential request",
                    "Deferred credential response",
                ),
                StepParagraphs("OpenID4VCI 1.0 §9.1", "OpenID4VCI 1.0 §9.2"),
            ),
        ),
        post(
            "/issuer/notification",
            step(
                StepNames("Notification request", "Notification response"),
                StepParagraphs("OpenID4VCI 1.0 §11.1", "OpenID4VCI 1.0 §11.2"),
            ),
        ),
    ]
}

fn presentation() -> Vec<AddressedStep> {
    let step = |names, by| step(Presentation, names, by);
    let asked = || StepNames("Request for the request object", "Authorization request");
    vec![
        get(
            "/verifier/requests/{id}",
            step(
                asked(),
                StepParagraphs("RFC 9101 §5.2.2", "OpenID4VP 1.0 §5"),
            ),
        ),
        post(
            "/verifier/requests/{id}",
            step(
                asked(),
                StepParagraphs("OpenID4VP 1.0 §5.10", "OpenID4VP 1.0 §5"),
            ),
        ),
        post(
            "/verifier/responses/{id}",
            step(
                StepNames("Authorization response", "Where the wallet goes on"),
                StepParagraphs("OpenID4VP 1.0 §8.1", "OpenID4VP 1.0 §8.2"),
            ),
        ),
    ]
}

/// What the application calls.
fn application() -> Vec<AddressedStep> {
    let step = |names, by| WireStep {
        from: Application,
        ..step(SignIn, names, by)
    };
    let userinfo = WireStep {
        answers_person: true,
        ..step(
            StepNames("Userinfo request", "Userinfo response"),
            StepParagraphs(
                "OpenID Connect Core 1.0 §5.3.1",
                "OpenID Connect Core 1.0 §5.3.2",
            ),
        )
    };
    vec![
        post(
            "/oidc/par",
            step(
                StepNames("Pushed authorization request", "Reference to the request"),
                StepParagraphs("RFC 9126 §2.1", "RFC 9126 §2.2"),
            ),
        ),
        post(
            "/oidc/token",
            step(
                StepNames("Token request", "Token response"),
                StepParagraphs(
                    "OpenID Connect Core 1.0 §3.1.3.1",
                    "OpenID Connect Core 1.0 §3.1.3.3",
                ),
            ),
        ),
        get("/oidc/userinfo", userinfo),
        post("/oidc/userinfo", userinfo),
        post(
            "/oidc/introspect",
            step(
                StepNames("Introspection request", "Introspection response"),
                StepParagraphs("RFC 7662 §2.1", "RFC 7662 §2.2"),
            ),
        ),
        post(
            "/oidc/revoke",
            step(
                StepNames("Revocation request", "Revocation response"),
                StepParagraphs("RFC 7009 §2.1", "RFC 7009 §2.2"),
            ),
        ),
    ]
}

/// Where the person's browser goes, and what it sends.
fn browser() -> Vec<AddressedStep> {
    let step = |names, by| step(SignIn, names, by);
    let begins = step(
        StepNames("Authentication request", "Page of the sign-in"),
        StepParagraphs(
            "OpenID Connect Core 1.0 §3.1.2.1",
            "OpenID Connect Core 1.0 §3.1.2.5",
        ),
    );
    let own = |request, answer| step(StepNames(request, answer), StepParagraphs(GUIDE, GUIDE));
    let code = own("Request for a one-time password", "Where it was sent");
    let proof = own("What the person proves", "Whether it holds");
    let agreement = step(
        StepNames("What the person agrees to", "Authentication response"),
        StepParagraphs(GUIDE, "OpenID Connect Core 1.0 §3.1.2.5"),
    );
    vec![
        get("/oidc/authorize", begins),
        post("/oidc/authorize", begins),
        post("/oidc/sign-in/{id}/otp", code),
        post("/oidc/sign-in/{id}/authentication", proof),
        post("/oidc/sign-in/{id}/agreement", agreement),
        post("/oidc/sign-in/{id}/refusal", agreement),
        post("/sign-in/{id}/code", code),
        post("/sign-in/{id}/proof", proof),
        post("/sign-in/{id}/passkey", proof),
        post("/sign-in/{id}/agreement", agreement),
    ]
}

/// The steps that no specification describes.
const GUIDE: &str = "docs/sign-in.md";

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn each_step_has_names_and_paragraphs_and_no_address_has_two() {
        let all: Vec<AddressedStep> = [issuance(), presentation(), application(), browser()]
            .into_iter()
            .flatten()
            .collect();
        let addresses: BTreeSet<String> = all
            .iter()
            .map(|one| format!("{} {}", one.method, one.path))
            .collect();
        assert_eq!(addresses.len(), all.len());
        for AddressedStep { step, path, .. } in all {
            for text in [step.request, step.answer, step.by, step.answer_by] {
                assert!(!text.is_empty(), "{path}");
            }
            assert!(step.by.contains('§') || step.by == GUIDE, "{path}");
        }
    }

    #[test]
    fn a_page_that_only_shows_something_is_no_step() {
        for path in ["/issuer/token", "/issuer/deferred"] {
            assert!(of(&Method::POST, path).is_some(), "{path}");
        }
        for (method, path) in [
            (Method::GET, "/issuer/token"),
            (Method::GET, "/issuer"),
            (Method::GET, "/sign-in/{id}"),
            (Method::GET, "/oidc/sign-in/{id}/otp"),
        ] {
            assert!(of(&method, path).is_none(), "{path}");
        }
    }
}
