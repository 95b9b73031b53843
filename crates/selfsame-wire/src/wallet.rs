//! What a wallet does: its calls to issuers and verifiers, recorded among the records of its owner.

use selfsame_driver::Error;
use selfsame_store::TenantId;

use crate::exchange::{WireAnswer, WireExchange, WireRequest, WireStep};
use crate::parties::{FlowKind, WireParty};
use crate::texts::shown_address;
use crate::wires::Wires;

const FORM: &str = "application/x-www-form-urlencoded";

/// Records the calls of people's wallets.
#[derive(Clone)]
pub struct WalletWire {
    wires: Wires,
    /// The tenant whose switch counts.
    switch: TenantId,
}

/// A call of a wallet.
#[derive(Clone, Copy, Debug)]
pub struct WalletRequest<'a> {
    /// The method.
    pub method: &'static str,
    /// The address.
    pub url: &'a str,
    /// What its flow is called, if that is known.
    pub flow: Option<&'a str>,
    /// The access token.
    pub token: Option<&'a str>,
    /// The media type of the body.
    pub media: &'a str,
    /// The body.
    pub body: &'a [u8],
}

/// What a wallet fetches.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum WalletFetch {
    /// An offer that a link refers to.
    Offer,
    /// A request for a presentation.
    Request,
}

const fn step(to: WireParty, names: [&'static str; 2], by: [&'static str; 2]) -> WireStep {
    let ([request, answer], [by, answer_by]) = (names, by);
    WireStep {
        kind: FlowKind::Wallet,
        request,
        answer,
        from: WireParty::Wallet,
        to,
        by,
        answer_by,
        answers_person: false,
        is_stateless: false,
    }
}

const OFFER: WireStep = step(
    WireParty::Issuer,
    ["Request for the offer", "Credential offer"],
    ["OpenID4VCI 1.0 §4.1.3", "OpenID4VCI 1.0 §4.1.1"],
);
const TOKEN: WireStep = step(
    WireParty::Issuer,
    ["Token request", "Token response"],
    ["OpenID4VCI 1.0 §6.1", "OpenID4VCI 1.0 §6.2"],
);
const PUSHED: WireStep = step(
    WireParty::Issuer,
    ["Pushed authorization request", "Reference to the request"],
    ["RFC 9126 §2.1", "RFC 9126 §2.2"],
);
const NONCE: WireStep = step(
    WireParty::Issuer,
    ["Nonce request", "Nonce response"],
    ["OpenID4VCI 1.0 §7.1", "OpenID4VCI 1.0 §7.2"],
);
const CREDENTIAL: WireStep = step(
    WireParty::Issuer,
    ["Credential request", "Credential response"],
    ["OpenID4VCI 1.0 §8.2", "OpenID4VCI 1.0 §8.3"],
);
const DEFERRED: WireStep = step(
    WireParty::Issuer,
    [
        "Deferred credential request",
        "Deferred credential response",
    ],
    ["OpenID4VCI 1.0 §9.1", "OpenID4VCI 1.0 §9.2"],
);
const NOTIFICATION: WireStep = step(
    WireParty::Issuer,
    ["Notification request", "Notification response"],
    ["OpenID4VCI 1.0 §11.1", "OpenID4VCI 1.0 §11.2"],
);
const REQUEST: WireStep = step(
    WireParty::Verifier,
    ["Request for the request object", "Authorization request"],
    ["OpenID4VP 1.0 §5.10", "OpenID4VP 1.0 §5"],
);
const RESPONSE: WireStep = step(
    WireParty::Verifier,
    ["Authorization response", "Where the wallet goes on"],
    ["OpenID4VP 1.0 §8.1", "OpenID4VP 1.0 §8.2"],
);

/// The step that a call is, by what it sends.
fn step_of(request: &WalletRequest<'_>) -> WireStep {
    let body = String::from_utf8_lossy(request.body);
    let has = |name: &str| body.contains(name);
    match request.media {
        _ if request.body.is_empty() => NONCE,
        FORM if has("grant_type=") => TOKEN,
        FORM if has("vp_token=") || has("response=") || has("error=") => RESPONSE,
        FORM => PUSHED,
        _ if has("\"notification_id\"") => NOTIFICATION,
        _ if has("\"transaction_id\"") => DEFERRED,
        _ => CREDENTIAL,
    }
}

impl WalletWire {
    /// Records of the flows of wallets, switched by this organisation's tenant.
    #[must_use]
    pub fn new(wires: Wires, switch: TenantId) -> Self {
        Self { wires, switch }
    }

    /// Whether flows are recorded.
    pub async fn is_on(&self) -> bool {
        self.wires.is_on(&self.switch).await.unwrap_or_default()
    }

    /// Records a call of a person's flow. A flow goes on whatever becomes of its record.
    pub async fn called(
        &self,
        tenant: &TenantId,
        request: &WalletRequest<'_>,
        answer: WireAnswer<'_>,
    ) {
        let step = step_of(request);
        self.record(tenant, &request.of(step), answer).await;
    }

    /// What the flow of a presentation is called: by the address where its answer goes, which may be that of all requests
    /// of a verifier, and by its nonce.
    #[must_use]
    pub fn presentation(response_uri: &str, nonce: &str) -> String {
        format!("{response_uri} {nonce}")
    }

    /// Records what was fetched for a person.
    pub async fn fetched(
        &self,
        tenant: &TenantId,
        what: WalletFetch,
        request: &WalletRequest<'_>,
        answer: WireAnswer<'_>,
    ) {
        let step = match what {
            WalletFetch::Offer => OFFER,
            WalletFetch::Request => REQUEST,
        };
        self.record(tenant, &request.of(step), answer).await;
    }

    async fn record(&self, tenant: &TenantId, call: &StepRequest<'_>, answer: WireAnswer<'_>) {
        let exchange = WireExchange {
            step: call.step,
            request: WireRequest {
                head: &call.head,
                id: call.id,
                query: "",
                authorization: call.authorization.as_deref(),
                proof: None,
                media: call.media,
                body: call.body,
            },
            answer,
            at: self.wires.now(),
            took: None,
        };
        if let Err(error) = self.wires.record(tenant, &exchange).await {
            told(&error);
        }
    }
}

fn told(error: &Error) {
    tracing::warn!(%error, "what happened on the wire is not recorded");
}

/// A call with the step that it is.
struct StepRequest<'a> {
    step: WireStep,
    head: String,
    id: Option<&'a str>,
    authorization: Option<String>,
    media: &'a str,
    body: &'a [u8],
}

impl<'a> WalletRequest<'a> {
    fn of(&self, step: WireStep) -> StepRequest<'a> {
        StepRequest {
            step,
            head: format!("{} {}", self.method, shown_address(self.url)),
            id: self.flow,
            authorization: self.token.map(|token| format!("Bearer {token}")),
            media: self.media,
            body: self.body,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use selfsame_crypto::seal::SealingKey;
    use selfsame_driver::clock::Clock;
    use selfsame_driver::paging::Paging;
    use selfsame_store::{Memory, Store, Vault};

    use super::*;

    #[tokio::test]
    async fn presentations_at_one_address_are_told_apart_by_their_nonces() {
        let vault = Vault::from_master(SealingKey::from_bytes([7; 32]));
        let store = Store::open(Arc::new(Memory::new()), vault).await.unwrap();
        let wires = Wires::new(store, Clock::default());
        let person = TenantId::parse("person").unwrap();
        let wire = WalletWire::new(wires.clone(), person.clone());
        let url = "https://verifier.example/answers";
        let answer = WireAnswer {
            status: 200,
            location: None,
            nonce: None,
            refusal: None,
            media: "",
            body: b"",
        };
        for nonce in ["the first nonce", "the second nonce"] {
            let flow = WalletWire::presentation(url, nonce);
            let fetch = WalletRequest {
                method: "GET",
                url: "https://verifier.example/request",
                flow: Some(&flow),
                token: None,
                media: "",
                body: b"",
            };
            let what = WalletFetch::Request;
            wire.fetched(&person, what, &fetch, answer).await;
            let sent = WalletRequest {
                method: "POST",
                url,
                media: FORM,
                body: b"vp_token=x",
                ..fetch
            };
            wire.called(&person, &sent, answer).await;
        }
        let paging = Paging::default();
        let listed = wires.list(&person, FlowKind::Wallet, &paging);
        let flows = listed.await.unwrap().items;
        assert_eq!(flows.len(), 2);
        assert!(flows.iter().all(|flow| flow.messages == 4), "{flows:?}");
    }

    #[test]
    fn what_is_sent_tells_the_step() {
        let step = |media, body: &str| {
            let request = WalletRequest {
                method: "POST",
                url: "https://issuer.example/token",
                flow: None,
                token: None,
                media,
                body: body.as_bytes(),
            };
            step_of(&request).request
        };
        assert_eq!(step(FORM, "grant_type=x"), "Token request");
        assert_eq!(step(FORM, "vp_token=x"), "Authorization response");
        assert_eq!(step(FORM, "client_id=x"), "Pushed authorization request");
        assert_eq!(
            step("application/json", "{\"notification_id\":1}"),
            "Notification request"
        );
        assert_eq!(
            step("application/json", "{\"transaction_id\":\"x\"}"),
            "Deferred credential request"
        );
        assert_eq!(step("application/json", "{}"), "Credential request");
        assert_eq!(step("", ""), "Nonce request");
    }
}
