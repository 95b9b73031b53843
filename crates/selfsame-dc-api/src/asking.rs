//! The verifier makes the data of a request for the browser (Appendix A.2, A.3).

use selfsame_credential::evidence::{Evidence, Need, SignatureRequest, Step};
use selfsame_credential::signer::Signer;
use selfsame_crypto::ctx::Ctx;
use selfsame_crypto::jws::Unsigned;
use selfsame_openid4vc::Error;
use selfsame_openid4vc::verifier::{Asked, request};
use selfsame_openid4vc::wire::request::{
    ClientId, DC_API, DC_API_JWT, Parameters, STATIC_AUDIENCE,
};
use serde_json::{Value, json};

use crate::exchange::ExchangeProtocol;
use crate::general::{General, SIGNATURES_MAX};

/// An identity that a verifier signs requests with.
#[derive(Clone, Debug)]
pub struct AskingParty {
    /// Its client identifier, of a prefix whose requests are signed.
    pub client: ClientId,
    /// Its key.
    pub signer: Signer,
}

/// A request for the browser.
#[derive(Clone, Copy, Debug)]
pub struct BrowserAsk<'a> {
    /// The request.
    pub asked: &'a Asked,
    /// How it is signed.
    pub protocol: ExchangeProtocol,
    /// The origins of the verifier's pages.
    pub origins: &'a [String],
    /// Who signs: the first one, or each of them.
    pub parties: &'a [AskingParty],
}

impl BrowserAsk<'_> {
    /// The `data` of the request. On an error nothing is signed.
    ///
    /// # Errors
    /// `Expired`; `State` if nobody can sign it.
    pub fn step(&self, evidence: &Evidence, ctx: &Ctx) -> Result<Step<Value>, Error> {
        if ctx.now() >= self.asked.expires {
            return Err(Error::Expired("the request has expired"));
        }
        let parameters = self.parameters()?;
        match self.protocol {
            ExchangeProtocol::Unsigned => Ok(Step::Done(unsigned(parameters)?)),
            ExchangeProtocol::Signed => self.signed(parameters, evidence, ctx),
            ExchangeProtocol::Multisigned => self.multisigned(parameters, evidence, ctx),
        }
    }

    /// The parameters that all protocols have. `state` and the addresses of a posted answer are not among them.
    fn parameters(&self) -> Result<Parameters, Error> {
        let mode = match self.asked.metadata.jwks.is_some() {
            true => DC_API_JWT,
            false => DC_API,
        };
        Ok(Parameters {
            client_id: None,
            response_uri: None,
            state: None,
            response_mode: Some(mode.to_owned()),
            ..request::parameters(self.asked)?
        })
    }

    fn signed(
        &self,
        parameters: Parameters,
        evidence: &Evidence,
        ctx: &Ctx,
    ) -> Result<Step<Value>, Error> {
        let party = self.parties.first().ok_or_else(unsignable)?;
        let parameters = Parameters {
            client_id: Some(party.client.to_string()),
            ..parameters
        };
        let claims = self.claims(parameters, ctx)?;
        let header = request::header(&party.signer);
        let drafts = [SignatureDraft {
            party,
            object: Unsigned::new(&header, &claims),
        }];
        Ok(match sign(&drafts, evidence) {
            Step::Needs(needs) => Step::Needs(needs),
            Step::Done(signed) => Step::Done(json!({ "request": signed.first() })),
        })
    }

    /// The client identifier stands in each protected header, and all else in the payload (Appendix A.3.2.2).
    fn multisigned(
        &self,
        parameters: Parameters,
        evidence: &Evidence,
        ctx: &Ctx,
    ) -> Result<Step<Value>, Error> {
        if self.parties.is_empty() || self.parties.len() > SIGNATURES_MAX {
            return Err(unsignable());
        }
        let claims = self.claims(parameters, ctx)?;
        let draft = |party| SignatureDraft {
            party,
            object: Unsigned::new(&protected(party), &claims),
        };
        let drafts: Vec<_> = self.parties.iter().map(draft).collect();
        let signed = match sign(&drafts, evidence) {
            Step::Needs(needs) => return Ok(Step::Needs(needs)),
            Step::Done(signed) => signed,
        };
        let general = General::of(&signed).ok_or_else(unsignable)?;
        Ok(Step::Done(json!({ "request": written(&general)? })))
    }

    fn claims(&self, parameters: Parameters, ctx: &Ctx) -> Result<Value, Error> {
        let mut claims = written(&Parameters {
            expected_origins: Some(json!(self.origins)),
            ..parameters
        })?;
        if let Some(members) = claims.as_object_mut() {
            members.insert("aud".to_owned(), Value::from(STATIC_AUDIENCE));
            members.insert("iat".to_owned(), json!(ctx.now().0));
            members.insert("exp".to_owned(), json!(self.asked.expires.0));
        }
        Ok(claims)
    }
}

fn protected(party: &AskingParty) -> Value {
    let mut header = request::header(&party.signer);
    if let Some(members) = header.as_object_mut() {
        let client_id = Value::from(party.client.to_string());
        members.insert("client_id".to_owned(), client_id);
    }
    header
}

/// An unsigned request proves no name, so it states no name.
fn unsigned(parameters: Parameters) -> Result<Value, Error> {
    let mut data = written(&parameters)?;
    let metadata = data.get_mut("client_metadata");
    if let Some(members) = metadata.and_then(Value::as_object_mut) {
        members.remove("client_name");
        members.remove("logo_uri");
    }
    Ok(data)
}

/// A request object, and who is to sign it.
struct SignatureDraft<'a> {
    party: &'a AskingParty,
    object: Unsigned,
}

/// The drafts with their signatures, in compact form.
fn sign(drafts: &[SignatureDraft<'_>], evidence: &Evidence) -> Step<Vec<String>> {
    let mut needs = Vec::new();
    let mut signed = Vec::with_capacity(drafts.len());
    for SignatureDraft { party, object } in drafts {
        let request = SignatureRequest {
            key: party.signer.key.clone(),
            bytes: object.signing_input().to_vec(),
        };
        match evidence.signature(&request) {
            Some(signature) => signed.push(object.clone().finish(signature)),
            None => needs.push(Need::Signature(request)),
        }
    }
    match needs.is_empty() {
        true => Step::Done(signed),
        false => Step::Needs(needs),
    }
}

fn written(value: &impl serde::Serialize) -> Result<Value, Error> {
    serde_json::to_value(value)
        .map_err(|error| Error::Setup(format!("the request can't be written: {error}")))
}

fn unsignable() -> Error {
    Error::State("this verifier has no identity that signs requests")
}
