//! What happened on the wire, as a person's wallet sees it: calls with their answers, as the record takes them.

use selfsame_core::machine::{Arrived, At, Call, CallEntry, HttpBody, HttpCall, Round};
use selfsame_holder::recording::{FORM, encoded};
use selfsame_wire::{WalletRequest, WalletWire, WireAnswer};

const JSON: &str = "application/json";

/// A call with its answer.
pub(crate) struct SeenCall {
    call: Box<HttpCall>,
    response: Arrived,
    first: Option<Arrived>,
    /// What its flow is called, if not as the record of the machine.
    flow: Option<String>,
}

impl SeenCall {
    /// The call that a step is given the answer to.
    pub fn of(round: &Round<'_>, response: &Arrived, first: Option<&Arrived>) -> Option<Self> {
        let Some(CallEntry {
            call: Call::Http(call),
            ..
        }) = round.entry
        else {
            return None;
        };
        Some(Self {
            call: call.clone(),
            response: response.clone(),
            first: first.cloned(),
            flow: None,
        })
    }

    /// The same call, which answers a request with this nonce.
    pub fn answering(self, nonce: &str) -> Self {
        let flow = WalletWire::presentation(self.call.url.as_str(), nonce);
        Self {
            flow: Some(flow),
            ..self
        }
    }

    /// Records it, if there is one, and the request that was made before it.
    pub async fn record(seen: Option<Self>, wire: &WalletWire, at: At<'_>) {
        if let Some(seen) = seen
            && wire.is_on().await
        {
            seen.noted(wire, at).await;
        }
    }

    async fn noted(&self, wire: &WalletWire, at: At<'_>) {
        let (media, body) = match &self.call.body {
            HttpBody::Form(pairs) => (FORM, encoded(pairs)),
            HttpBody::EncodedForm(form) => (FORM, form.expose().to_owned()),
            HttpBody::Json(text) => (JSON, text.clone()),
            HttpBody::Empty | HttpBody::Envelope { .. } => ("", String::new()),
        };
        let request = WalletRequest {
            method: "POST",
            url: self.call.url.as_str(),
            flow: Some(self.flow.as_deref().unwrap_or(at.id)),
            token: self.call.bearer.as_ref().map(|token| token.expose()),
            media,
            body: body.as_bytes(),
        };
        if let (Some(url), Some(first)) = (&self.call.first, &self.first) {
            let request = WalletRequest {
                url: url.as_str(),
                token: None,
                media: "",
                body: &[],
                ..request
            };
            wire.called(at.tenant, &request, answer(first)).await;
        }
        let response = answer(&self.response);
        wire.called(at.tenant, &request, response).await;
    }
}

fn answer(arrived: &Arrived) -> WireAnswer<'_> {
    WireAnswer {
        status: arrived.status,
        location: None,
        nonce: arrived.dpop_nonce.as_deref(),
        refusal: None,
        media: arrived.content_type.as_deref().unwrap_or_default(),
        body: arrived.body.as_bytes(),
    }
}
