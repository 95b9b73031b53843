//! The token endpoint: a code, the client's assertion and the code verifier for tokens.

use selfsame_bench::Error;
use selfsame_bench::client::BenchClient;

use crate::caller::{BenchRequest, FORM, field, form, member};
use crate::party::{BenchParty, CodeProof, REDIRECT_URI};
use crate::walk::SignInWalk;

/// The kind of a client's assertion (RFC 7523 §2.2).
const ASSERTION_TYPE: &str = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";

/// The token endpoint of a provider.
pub struct TokenEndpoint<'a> {
    /// The client of its origin.
    pub client: &'a BenchClient,
    /// Its path.
    pub path: &'a str,
    /// The audience of assertions.
    pub audience: &'a str,
}

/// A code, with what shows that it was meant for the client.
pub struct GivenCode<'a> {
    /// The code.
    pub code: &'a str,
    /// The code verifier.
    pub proof: &'a CodeProof,
}

impl TokenEndpoint<'_> {
    /// The access token for a code. The assertion is signed before the call.
    ///
    /// # Errors
    /// If the provider refuses, or gives no ID token.
    pub async fn redeem(
        &self,
        party: &BenchParty,
        given: &GivenCode<'_>,
        walk: &mut SignInWalk<'_>,
    ) -> Result<String, Error> {
        walk.due().await;
        let assertion = party.assertion(self.audience)?;
        let body = form(&[
            field("grant_type", "authorization_code"),
            field("code", given.code),
            field("client_id", &party.client_id),
            field("client_assertion_type", ASSERTION_TYPE),
            field("client_assertion", &assertion),
            field("redirect_uri", REDIRECT_URI),
            field("code_verifier", &given.proof.verifier),
        ]);
        let calling = BenchRequest::post(self.client, self.path, FORM, body);
        let answer = calling.send().await?.success()?;
        let tokens = answer.json()?;
        member(&tokens, "id_token")?;
        let token = member(&tokens, "access_token")?;
        walk.answered(answer.call);
        Ok(token)
    }
}
