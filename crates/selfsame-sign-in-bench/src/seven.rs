//! A sign-in by eSignet's interface: the seven calls of the study's plan, with its headers, its envelopes and its checks.

use selfsame_bench::Error;
use selfsame_bench::client::BenchClient;
use selfsame_crypto::encoding::base64url_encode;
use selfsame_crypto::hash::sha256;
use serde::de::IgnoredAny;
use serde_json::{Deserializer, Value, json};

use crate::caller::{BenchRequest, JSON, SuccessBody, member, token_claims};
use crate::party::{BenchParty, CodeProof, REDIRECT_URI, SignedWith};
use crate::people::{BenchPerson, SECRET, enveloped};
use crate::round::WalkedSignIn;
use crate::tokens::{GivenCode, TokenEndpoint};
use crate::walk::{SignInWalk, UserPace};

/// What eSignet's addresses begin with.
pub const BELOW: &str = "/v1/esignet";
/// The scopes of the study's plan.
const SCOPE: &str = "openid profile Manage-Identity-Data Manage-VID Manage-Authentication \
                     Manage-Service-Requests Manage-Credentials";
/// The class of a sign-in by a one-time password.
pub const ACR: &str = "mosip:idp:acr:generated-code";
/// The claims that people agree to.
const CLAIMS: [&str; 3] = ["name", "gender", "email"];

/// A provider with eSignet's interface.
#[derive(Clone)]
pub struct EsignetProvider {
    /// The client of its origin.
    pub client: BenchClient,
    /// What its addresses begin with.
    pub below: String,
    /// The token with which clients are registered; empty if none is needed.
    pub operator: String,
    /// The audience of assertions.
    pub audience: String,
}

/// A sign-in whose first two calls were answered.
struct BegunSignIn {
    csrf: String,
    transaction: String,
    details_hash: String,
    proof: CodeProof,
}

/// A call that belongs to a sign-in.
struct StepCall {
    name: &'static str,
    request: Value,
}

impl EsignetProvider {
    /// A provider at this origin, which tells the audience of assertions in its metadata.
    ///
    /// # Errors
    /// If it has no metadata.
    pub async fn find(client: BenchClient, below: &str, operator: &str) -> Result<Self, Error> {
        let path = format!("{below}/oauth/.well-known/oauth-authorization-server");
        let metadata = BenchRequest::get(&client, &path).send().await?;
        let metadata = metadata.success()?.json()?;
        Ok(Self {
            audience: member(&metadata, "token_endpoint")?,
            client,
            below: below.to_owned(),
            operator: operator.to_owned(),
        })
    }

    /// Registers a client by eSignet's interface. Its tokens are signed by RSA.
    ///
    /// # Errors
    /// If the provider refuses.
    pub async fn party(&self) -> Result<BenchParty, Error> {
        let party = BenchParty::new(SignedWith::Rsa)?;
        let request = json!({
            "clientId": &*party.client_id,
            "clientName": "Bench",
            "publicKey": party.jwk(),
            "relyingPartyId": "mock-relying-party-id",
            "userClaims": ["name", "email", "gender", "phone_number", "picture", "birthdate"],
            "authContextRefs": [ACR],
            "logoUri": "https://rp.example/logo.png",
            "redirectUris": [REDIRECT_URI],
            "grantTypes": ["authorization_code"],
            "clientAuthMethods": ["private_key_jwt"],
        });
        let csrf = self.csrf(&mut SignInWalk::new(None)).await?;
        let path = format!("{}/client-mgmt/oidc-client", self.below);
        let mut calling = self.enveloped(&path, &request, &csrf);
        if !self.operator.is_empty() {
            calling = calling.with("authorization", &format!("Bearer {}", self.operator));
        }
        opened(calling.send().await?.success()?)?;
        Ok(party)
    }

    /// One complete sign-in, at this pace or without pauses.
    pub async fn walk(
        &self,
        party: &BenchParty,
        person: &BenchPerson,
        pace: Option<&mut UserPace>,
    ) -> WalkedSignIn {
        let mut walk = SignInWalk::new(pace);
        let end = self.calls(party, person, &mut walk).await;
        walk.ended(end)
    }

    async fn calls(
        &self,
        party: &BenchParty,
        person: &BenchPerson,
        walk: &mut SignInWalk<'_>,
    ) -> Result<(), Error> {
        let begun = self.begin(party, walk).await?;
        self.prove(&begun, person, walk).await?;
        let code = self.agree(&begun, walk).await?;
        let endpoint = TokenEndpoint {
            client: &self.client,
            path: &format!("{}/oauth/v2/token", self.below),
            audience: &self.audience,
        };
        let given = GivenCode {
            code: &code,
            proof: &begun.proof,
        };
        let token = endpoint.redeem(party, &given, walk).await?;
        self.userinfo(&token, person, walk).await
    }

    /// The calls 1 and 2.
    async fn begin(
        &self,
        party: &BenchParty,
        walk: &mut SignInWalk<'_>,
    ) -> Result<BegunSignIn, Error> {
        let csrf = self.csrf(walk).await?;
        let proof = CodeProof::new();
        let request = json!({
            "clientId": &*party.client_id,
            "scope": SCOPE,
            "responseType": "code",
            "redirectUri": REDIRECT_URI,
            "display": "popup",
            "prompt": "login",
            "acrValues": ACR,
            "nonce": "973eieljzng",
            "state": "eree2311",
            "claimsLocales": "en",
            "uiLocales": "en",
            "codeChallenge": proof.challenge,
            "codeChallengeMethod": "S256",
            "claims": {
                "userinfo": {
                    "name": {"essential": true},
                    "gender": {"essential": false},
                    "email": {"essential": true},
                },
                "id_token": {},
            },
        });
        let path = format!("{}/authorization/v2/oauth-details", self.below);
        walk.due().await;
        let answer = self.enveloped(&path, &request, &csrf).send().await?;
        let answer = answer.success()?;
        let (text, call) = (answer.text(), answer.call);
        let details = response_text(&text).ok_or_else(|| answer.wrong("there is no response"))?;
        let details_hash = base64url_encode(&sha256(details.as_bytes()));
        let transaction = member(&opened(answer)?, "transactionId")?;
        walk.answered(call);
        Ok(BegunSignIn {
            transaction,
            csrf,
            details_hash,
            proof,
        })
    }

    /// The calls 3 and 4.
    async fn prove(
        &self,
        begun: &BegunSignIn,
        person: &BenchPerson,
        walk: &mut SignInWalk<'_>,
    ) -> Result<(), Error> {
        let request = json!({
            "transactionId": begun.transaction,
            "individualId": person.id,
            "otpChannels": ["PHONE"],
            "captchaToken": "",
        });
        let call = StepCall {
            name: "send-otp",
            request,
        };
        self.step(call, begun, walk).await?;
        let request = json!({
            "transactionId": begun.transaction,
            "individualId": person.id,
            "challengeList": [
                {"authFactorType": "OTP", "challenge": SECRET, "format": "alpha-numeric"},
            ],
        });
        let call = StepCall {
            name: "v3/authenticate",
            request,
        };
        self.step(call, begun, walk).await.map(drop)
    }

    /// The call 5.
    async fn agree(&self, begun: &BegunSignIn, walk: &mut SignInWalk<'_>) -> Result<String, Error> {
        let request = json!({
            "transactionId": begun.transaction,
            "acceptedClaims": CLAIMS,
            "permittedAuthorizeScopes": [],
        });
        let call = StepCall {
            name: "auth-code",
            request,
        };
        let agreed = self.step(call, begun, walk).await?;
        member(&agreed, "code")
    }

    /// The call 7. Its answer is a signed token that has the person's name.
    async fn userinfo(
        &self,
        token: &str,
        person: &BenchPerson,
        walk: &mut SignInWalk<'_>,
    ) -> Result<(), Error> {
        let path = format!("{}/oidc/userinfo", self.below);
        let calling = BenchRequest::get(&self.client, &path);
        let calling = calling.with("authorization", &format!("Bearer {token}"));
        walk.due().await;
        let answer = calling.send().await?.success()?;
        if !has_name(&answer.text(), &person.name) {
            return Err(answer.wrong("the name is not in it"));
        }
        walk.answered(answer.call);
        Ok(())
    }

    async fn csrf(&self, walk: &mut SignInWalk<'_>) -> Result<String, Error> {
        let path = format!("{}/csrf/token", self.below);
        walk.due().await;
        let answer = BenchRequest::get(&self.client, &path)
            .send()
            .await?
            .success()?;
        let token = member(&answer.json()?, "token")?;
        walk.answered(answer.call);
        Ok(token)
    }

    /// A call that belongs to a sign-in.
    async fn step(
        &self,
        call: StepCall,
        begun: &BegunSignIn,
        walk: &mut SignInWalk<'_>,
    ) -> Result<Value, Error> {
        let path = format!("{}/authorization/{}", self.below, call.name);
        let calling = self.enveloped(&path, &call.request, &begun.csrf);
        let calling = calling.with("oauth-details-key", &begun.transaction);
        let calling = calling.with("oauth-details-hash", &begun.details_hash);
        walk.due().await;
        let answer = calling.send().await?.success()?;
        let call = answer.call;
        let opened = opened(answer)?;
        walk.answered(call);
        Ok(opened)
    }

    fn enveloped<'a>(&'a self, path: &'a str, request: &Value, csrf: &str) -> BenchRequest<'a> {
        let calling = BenchRequest::post(&self.client, path, JSON, enveloped(request));
        let calling = calling.with("x-xsrf-token", csrf);
        calling.with("cookie", &format!("XSRF-TOKEN={csrf}"))
    }
}

/// The response in an envelope without errors.
fn opened(answer: SuccessBody) -> Result<Value, Error> {
    let mut envelope = answer.json()?;
    match envelope["errors"].as_array() {
        Some(errors) if errors.is_empty() => Ok(envelope["response"].take()),
        _ => Err(answer.wrong("it has errors")),
    }
}

/// The text of the response in an envelope, as the provider wrote it.
fn response_text(envelope: &str) -> Option<&str> {
    let (_, rest) = envelope.split_once("\"response\":")?;
    let mut values = Deserializer::from_str(rest).into_iter::<IgnoredAny>();
    values.next()?.ok()?;
    rest.get(..values.byte_offset())
}

/// Whether a token in compact form has this name among its claims.
fn has_name(token: &str, name: &str) -> bool {
    token_claims(token).is_some_and(|claims| claims["name"] == name)
}

#[cfg(test)]
mod tests;
