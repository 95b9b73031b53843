//! Requests that a client pushes ahead of the person's browser (RFC 9126).

use selfsame_crypto::encoding::base64url_encode;
use selfsame_crypto::hash::sha256;
use selfsame_driver::Result;
use selfsame_driver::record::encode;
use selfsame_oauth::{Code, Error as Refused, Form};
use selfsame_store::{Batch, Put};
use serde::Serialize;

use crate::dpop_check::{CalledEndpoint, proven_key};
use crate::pushed_record::{PREFIX, PUSHED, PushedRequest};
use crate::read::RequestRead;
use crate::refusal::{refusal, refuse};
use crate::service::SignIns;
use crate::spent::{refused, spend};

/// The answer to a pushed request.
#[derive(Clone, Debug, Serialize)]
pub struct PushedAnswer {
    /// The address by which the browser names the request.
    pub request_uri: String,
    /// Its lifetime, in seconds.
    pub expires_in: u64,
}

impl SignIns {
    /// The pushed authorization request endpoint (RFC 9126 §2).
    ///
    /// # Errors
    /// Those of the authorization and the token endpoint, with their codes.
    pub async fn push(&self, called: &CalledEndpoint<'_>) -> Result<PushedAnswer> {
        let mut form = called.form()?;
        if form.has("request_uri") {
            let reason = "a pushed request has no request_uri";
            return Err(refuse(Code::InvalidRequest, reason));
        }
        let calling = self.caller(called, &mut form).await?;
        let (client, mut spent, instance) = (calling.client, calling.spent, calling.instance);
        let nonces = self.nonces(&client.rules).await?;
        let proven = proven_key(
            called,
            &client.rules,
            nonces.as_ref(),
            self.shared().clock.now(),
        )?;
        let lifetime = client.rules.lifetimes.pushed_request;
        let form = with_client(form, &client.party.id);
        let mut read = match self.read_parameters(form, client).await? {
            RequestRead::Read(read) => *read,
            RequestRead::Returned(returned) => return Err(refusal(returned.error)),
        };
        self.check_attested(&read.request.scope, instance.as_deref())?;
        if let Some(proven) = proven {
            // RFC 9449 §10.1: the proof binds the code, as `dpop_jkt` would.
            let named = read.request.dpop_jkt.as_ref();
            if named.is_some_and(|named| *named != proven.thumbprint) {
                let reason = "dpop_jkt is not the key of the proof";
                return Err(refusal(Refused::new(Code::InvalidDpopProof, reason)));
            }
            read.request.dpop_jkt = Some(proven.thumbprint);
            spent.proofs.push(proven.spent);
        }
        spent.tokens.extend(read.spent);
        let ctx = self.shared().clock.ctx();
        let token = ctx.token("oidc/request_uri");
        let id = base64url_encode(&sha256(token.as_bytes()));
        let request = read.request;
        let value = encode(&PushedRequest { request })?;
        let put = Put::new(PUSHED, id, value).expires(ctx.now().plus(lifetime));
        let batch = spend(Batch::new(self.place.tenant.clone()).put(put), &spent);
        self.shared().store.commit(batch).await.map_err(refused)?;
        Ok(PushedAnswer {
            request_uri: format!("{PREFIX}{token}"),
            expires_in: lifetime,
        })
    }
}

/// The parameters with the identifier of the client that authenticated.
fn with_client(form: Form, client_id: &str) -> Form {
    let own = ("client_id".to_owned(), client_id.to_owned());
    let all = form
        .iter()
        .map(|(name, value)| (name.to_owned(), value.to_owned()));
    Form::of_parameters(all.chain([own]))
}
