//! A sign-in of OpenID Connect by the provider's own pages, as a browser takes its steps: authorization, sign-in, consent,
//! token, userinfo.

use selfsame_bench::Error;
use selfsame_bench::client::BenchClient;
use serde_json::{Value, json};

use crate::caller::{BenchRequest, JSON, field, form, member, refused, token_claims};
use crate::party::{BenchParty, CodeProof, REDIRECT_URI, unique};
use crate::people::{BenchPerson, SECRET};
use crate::round::WalkedSignIn;
use crate::tokens::{GivenCode, TokenEndpoint};
use crate::walk::{SignInWalk, UserPace};

/// Where an organisation's provider is.
const BELOW: &str = "/oidc";

/// An OpenID provider of this program.
#[derive(Clone)]
pub struct StandardProvider {
    client: BenchClient,
    issuer: String,
}

/// The browser of a person at a sign-in.
struct SignInBrowser {
    /// The path of the sign-in.
    place: String,
    cookie: String,
}

/// A step of a sign-in.
struct BrowserStep {
    name: &'static str,
    body: Value,
}

impl StandardProvider {
    /// The provider of this origin.
    ///
    /// # Errors
    /// If it has no metadata.
    pub async fn find(client: BenchClient) -> Result<Self, Error> {
        let path = format!("{BELOW}/.well-known/openid-configuration");
        let metadata = BenchRequest::get(&client, &path).send().await?;
        Ok(Self {
            issuer: member(&metadata.success()?.json()?, "issuer")?,
            client,
        })
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
        let proof = CodeProof::new();
        let browser = self.authorize(party, &proof, walk).await?;
        let attempt = json!({
            "identifier": person.id,
            "challenges": [{"factor": "password", "value": SECRET}],
        });
        let step = BrowserStep {
            name: "authentication",
            body: attempt,
        };
        let view = self.step(&browser, step, walk).await?;
        let claims = [&view["essential"], &view["voluntary"]];
        let claims = claims.into_iter().filter_map(Value::as_array).flatten();
        let agreement = json!({
            "claims": claims.collect::<Vec<_>>(),
            "scopes": view["scopes"],
        });
        let step = BrowserStep {
            name: "agreement",
            body: agreement,
        };
        let landing = self.step(&browser, step, walk).await?;
        let code = member(&landing["parameters"], "code")?;
        let endpoint = TokenEndpoint {
            client: &self.client,
            path: &format!("{BELOW}/token"),
            audience: &self.issuer,
        };
        let given = GivenCode {
            code: &code,
            proof: &proof,
        };
        let token = endpoint.redeem(party, &given, walk).await?;
        self.userinfo(&token, walk).await
    }

    async fn authorize(
        &self,
        party: &BenchParty,
        proof: &CodeProof,
        walk: &mut SignInWalk<'_>,
    ) -> Result<SignInBrowser, Error> {
        let state = unique();
        let query = form(&[
            field("response_type", "code"),
            field("client_id", &party.client_id),
            field("redirect_uri", REDIRECT_URI),
            field("scope", "openid email"),
            field("state", &state),
            field("nonce", &state),
            field("code_challenge", &proof.challenge),
            field("code_challenge_method", "S256"),
        ]);
        let path = format!("{BELOW}/authorize?{query}");
        walk.due().await;
        let answer = BenchRequest::get(&self.client, &path).send().await?;
        let place = answer.location()?.to_owned();
        if !place.starts_with(BELOW) {
            return Err(refused(BELOW, &format!("it leads to {place}")));
        }
        let cookie = answer.cookies();
        walk.answered(answer.call);
        Ok(SignInBrowser { place, cookie })
    }

    async fn step(
        &self,
        browser: &SignInBrowser,
        step: BrowserStep,
        walk: &mut SignInWalk<'_>,
    ) -> Result<Value, Error> {
        let path = format!("{}/{}", browser.place, step.name);
        let calling = BenchRequest::post(&self.client, &path, JSON, step.body.to_string());
        let calling = calling.with("cookie", &browser.cookie);
        let calling = calling.with("origin", self.issuer.trim_end_matches(BELOW));
        walk.due().await;
        let answer = calling.send().await?.success()?;
        let json = answer.json()?;
        walk.answered(answer.call);
        Ok(json)
    }

    async fn userinfo(&self, token: &str, walk: &mut SignInWalk<'_>) -> Result<(), Error> {
        let path = format!("{BELOW}/userinfo");
        let calling = BenchRequest::get(&self.client, &path);
        let calling = calling.with("authorization", &format!("Bearer {token}"));
        walk.due().await;
        let answer = calling.send().await?.success()?;
        let text = answer.text();
        // A provider may give a token in place of JSON.
        let claims = token_claims(&text).or_else(|| answer.json().ok());
        if claims.is_none_or(|claims| claims["email"].is_null()) {
            return Err(answer.wrong("the address is not in it"));
        }
        walk.answered(answer.call);
        Ok(())
    }
}
