//! Calls whose sender proves to have keys: that of its token (RFC 9449), and the one that somebody attests (attestation-based
//! client authentication, draft -07). A step names the keys and the nonce that it heard last; the proofs themselves are made
//! as the call is sent, and anew each time: they state that moment, and a server takes each once.

use selfsame_attestation::challenge::{ChallengeAnswer, usable_challenge};
use selfsame_attestation::headers;
use selfsame_attestation::made::PopDraft;
use selfsame_crypto::json::{self, Limits};
use selfsame_crypto::jws::Unsigned;
use selfsame_crypto::{KeyHandle, PublicKey};
use selfsame_driver::Result;
use selfsame_net::{Authorization, Body, Call, CallHeader, Method, NetError, Request, Response};
use selfsame_oauth::client::possession::{AnsweredProof, ProvenRequest, usable_nonce};
use selfsame_oauth::{Code, ErrorBody};
use selfsame_store::TenantId;
use url::Url;

use super::call::{CallAttestation, CallProof, HttpCall};
use crate::shared::Shared;

/// What a server wants in the proofs of a call.
#[derive(Clone, Default)]
struct WantedInProofs {
    nonce: Option<String>,
    challenge: Option<String>,
}

impl Shared {
    /// Sends an HTTP request of a tenant, with the proofs of the keys that it names. If the server wants its nonce or its
    /// challenge in a proof, the request is sent once more for each (RFC 9449 §8, draft -07 §8.1): it was refused before
    /// it was looked at.
    ///
    /// # Errors
    /// If a key can't sign.
    pub async fn sent(
        &self,
        tenant: &TenantId,
        call: &HttpCall,
    ) -> Result<std::result::Result<Response, NetError>> {
        if call.proof.is_none() && call.attested.is_none() {
            let authorization = match &call.bearer {
                Some(token) => Authorization::Bearer(token.clone()),
                None => Authorization::None,
            };
            let body = call.body.body();
            return Ok(self.net.post(&call.url, body, authorization).await);
        }
        let mut wanted = WantedInProofs {
            nonce: call.proof.as_ref().and_then(|proof| proof.nonce.clone()),
            challenge: None,
        };
        if let Some(url) = call
            .attested
            .as_ref()
            .and_then(|attested| attested.challenge_endpoint.as_ref())
        {
            match self.challenge(url).await {
                Ok(challenge) => wanted.challenge = Some(challenge),
                Err(error) => return Ok(Err(error)),
            }
        }
        let (mut is_nonce_new, mut is_challenge_new) = (false, false);
        loop {
            let answer = self.sent_proven(tenant, call, &wanted).await?;
            let Ok(response) = &answer else {
                return Ok(answer);
            };
            if let (Some(nonce), false) = (wanted_nonce(call, response), is_nonce_new) {
                (wanted.nonce, is_nonce_new) = (Some(nonce), true);
            } else if let (Some(challenge), false) =
                (wanted_challenge(call, response), is_challenge_new)
            {
                (wanted.challenge, is_challenge_new) = (Some(challenge), true);
            } else {
                return Ok(answer);
            }
        }
    }

    /// A challenge of a server (draft -07 §8).
    async fn challenge(&self, url: &Url) -> std::result::Result<String, NetError> {
        let answer = self.net.post(url, Body::Empty, Authorization::None).await?;
        let read = json::parse_as::<ChallengeAnswer>(&answer.body, &Limits::default()).ok();
        let given = read.filter(|_| answer.is_success());
        let given = given
            .and_then(|given| usable_challenge(&given.attestation_challenge).map(str::to_owned));
        given.ok_or(NetError::Malformed("the server's challenge"))
    }

    async fn sent_proven(
        &self,
        tenant: &TenantId,
        call: &HttpCall,
        wanted: &WantedInProofs,
    ) -> Result<std::result::Result<Response, NetError>> {
        let mut values = Vec::new();
        if let Some(CallProof { key, .. }) = &call.proof {
            let request = ProvenRequest {
                method: "POST",
                url: &call.url,
                access_token: call.bearer.as_ref(),
                nonce: wanted.nonce.as_deref(),
            };
            let drafted = |public: &PublicKey| request.draft(public, &self.clock.ctx());
            values.push(("dpop", self.proven_by(tenant, key, drafted).await?));
        }
        if let Some(attested) = &call.attested {
            let CallAttestation { attestation, .. } = &**attested;
            let pop = self.pop(tenant, attested, wanted).await?;
            values.push((headers::ATTESTATION, attestation.clone()));
            values.push((headers::POP, pop));
        }
        let named = values.iter();
        let headers: Vec<CallHeader<'_>> = named
            .map(|(name, value)| CallHeader { name, value })
            .collect();
        let call = Call {
            method: Method::Post,
            url: &call.url,
            body: call.body.body(),
            authorization: match (&call.bearer, &call.proof) {
                (Some(token), Some(_)) => Authorization::Bound(token.clone()),
                (Some(token), None) => Authorization::Bearer(token.clone()),
                (None, _) => Authorization::None,
            },
            request: Request {
                headers: &headers,
                ..Request::default()
            },
        };
        Ok(self.net.call(call).await)
    }

    /// A proof of possession of an attested key.
    async fn pop(
        &self,
        tenant: &TenantId,
        attested: &CallAttestation,
        wanted: &WantedInProofs,
    ) -> Result<String> {
        let draft = PopDraft {
            client_id: &attested.client_id,
            server: &attested.server,
            challenge: wanted.challenge.as_deref(),
        };
        let drafted = |public: &PublicKey| draft.draft(public, &self.clock.ctx());
        self.proven_by(tenant, &attested.key, drafted).await
    }

    async fn proven_by(
        &self,
        tenant: &TenantId,
        key: &KeyHandle,
        drafted: impl FnOnce(&PublicKey) -> Unsigned + Send,
    ) -> Result<String> {
        let public = self.keys.public(tenant, key).await?;
        let draft = drafted(&public);
        let signing = self.keys.sign(tenant, key, draft.signing_input());
        let signature = signing.await?;
        Ok(draft.finish(&signature))
    }
}

/// The nonce that a refused proof is to have.
fn wanted_nonce(call: &HttpCall, response: &Response) -> Option<String> {
    let answered = AnsweredProof {
        status: response.status,
        challenge: response.challenge.as_deref(),
        body: &response.body,
    };
    let is_wanted = call.proof.is_some() && answered.wants_nonce();
    let nonce = usable_nonce(response.dpop_nonce.as_deref()).filter(|_| is_wanted);
    nonce.map(str::to_owned)
}

/// The challenge that a refused proof is to have: the code comes with the header (draft -07 §6.2).
fn wanted_challenge(call: &HttpCall, response: &Response) -> Option<String> {
    call.attested.as_ref()?;
    let body = json::parse_as::<ErrorBody>(&response.body, &Limits::default()).ok()?;
    let is_wanted = body.error == Code::UseAttestationChallenge.as_str();
    let given = response.attestation_challenge.as_deref();
    given
        .filter(|_| is_wanted && !response.is_success())
        .and_then(usable_challenge)
        .map(str::to_owned)
}
