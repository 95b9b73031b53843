//! Calls whose sender proves to have a key (RFC 9449). A step names the key and the nonce that it heard last; the proof
//! itself is made as the call is sent, and anew each time: it states that moment, and a server takes it once.

use selfsame_driver::Result;
use selfsame_net::{Authorization, Call, CallHeader, Method, NetError, Request, Response};
use selfsame_oauth::client::possession::{AnsweredProof, ProvenRequest, usable_nonce};
use selfsame_store::TenantId;

use super::call::{CallProof, HttpCall};
use crate::shared::Shared;

impl Shared {
    /// Sends an HTTP request of a tenant, with a proof of possession if it names a key. If the server wants its nonce in
    /// the proof, the request is sent once more (RFC 9449 §8): it was refused before it was looked at.
    ///
    /// # Errors
    /// If the key can't sign.
    pub async fn sent(
        &self,
        tenant: &TenantId,
        call: &HttpCall,
    ) -> Result<std::result::Result<Response, NetError>> {
        let Some(proof) = &call.proof else {
            let authorization = match &call.bearer {
                Some(token) => Authorization::Bearer(token.clone()),
                None => Authorization::None,
            };
            let body = call.body.body();
            return Ok(self.net.post(&call.url, body, authorization).await);
        };
        let first = self.sent_proven(tenant, call, proof).await?;
        let Some(nonce) = first.as_ref().ok().and_then(wanted_nonce) else {
            return Ok(first);
        };
        let proof = CallProof {
            nonce: Some(nonce.to_owned()),
            ..proof.clone()
        };
        self.sent_proven(tenant, call, &proof).await
    }

    async fn sent_proven(
        &self,
        tenant: &TenantId,
        call: &HttpCall,
        proof: &CallProof,
    ) -> Result<std::result::Result<Response, NetError>> {
        let public = self.keys.public(tenant, &proof.key).await?;
        let request = ProvenRequest {
            method: "POST",
            url: &call.url,
            access_token: call.bearer.as_ref(),
            nonce: proof.nonce.as_deref(),
        };
        let draft = request.draft(&public, &self.clock.ctx());
        let signing = self.keys.sign(tenant, &proof.key, draft.signing_input());
        let signature = signing.await?;
        let value = draft.finish(&signature);
        let header = CallHeader {
            name: "dpop",
            value: &value,
        };
        let call = Call {
            method: Method::Post,
            url: &call.url,
            body: call.body.body(),
            authorization: match &call.bearer {
                Some(token) => Authorization::Bound(token.clone()),
                None => Authorization::None,
            },
            request: Request {
                headers: &[header],
                ..Request::default()
            },
        };
        Ok(self.net.call(call).await)
    }
}

/// The nonce that a refused proof is to have.
fn wanted_nonce(response: &Response) -> Option<&str> {
    let answered = AnsweredProof {
        status: response.status,
        challenge: response.challenge.as_deref(),
        body: &response.body,
    };
    usable_nonce(response.dpop_nonce.as_deref()).filter(|_| answered.wants_nonce())
}
