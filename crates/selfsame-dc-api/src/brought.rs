//! The wallet reads a request that a browser brings from a page (Appendix A.2, A.3).

use selfsame_credential::evidence::{Evidence, Step};
use selfsame_crypto::jws::Compact;
use selfsame_crypto::x509::Chain;
use selfsame_crypto::{json, time::UnixTime};
use selfsame_openid4vc::holder::client::{KnownNow, trusted_key};
use selfsame_openid4vc::holder::request::{WalletTrust, asked_by, check_time};
use selfsame_openid4vc::holder::{Audience, AwaitingConsent, Verifier};
use selfsame_openid4vc::wire::request::{
    BrowserPage, ClientId, ORIGIN, Parameters, Request, STATIC_AUDIENCE, TYP,
};
use selfsame_openid4vc::{Error, Transport};
use serde_json::{Map, Value};

use crate::exchange::ExchangeProtocol;
use crate::general::{General, OBJECT_MAX, unreadable};
use crate::origin::PageOrigin;

/// The parameters that are defined for requests by a browser (Appendix A.2), and `purpose` of our profile. Others are
/// ignored.
const DEFINED: [&str; 9] = [
    "client_id",
    "response_type",
    "response_mode",
    "nonce",
    "client_metadata",
    "transaction_data",
    "dcql_query",
    "expected_origins",
    "purpose",
];

/// A request, and the page that it comes from.
#[derive(Clone, Debug)]
pub struct BroughtRequest {
    /// The origin of the page, as the browser states it.
    pub origin: PageOrigin,
    /// The protocol of the exchange.
    pub protocol: ExchangeProtocol,
    /// What the page handed over.
    pub data: Value,
    /// Whether of several identities that are known one with the prefix `x509_hash` counts first (HAIP 1.0 §5).
    pub by_hash_first: bool,
}

impl BroughtRequest {
    /// The request with this `data` of a page of this origin. Nothing is authenticated yet.
    ///
    /// # Errors
    /// `invalid_request` for an origin that may not ask, or a protocol that is not supported.
    pub fn new(
        origin: &str,
        protocol: &str,
        data: Value,
        transport: &Transport,
    ) -> Result<Self, Error> {
        Ok(Self {
            origin: PageOrigin::parse(origin, transport)?,
            protocol: ExchangeProtocol::parse(protocol)?,
            data,
            by_hash_first: false,
        })
    }

    /// Authenticates the request and checks its parameters.
    ///
    /// # Errors
    /// Those of OpenID4VP §8.5.
    pub fn open(
        &self,
        trust: &WalletTrust<'_>,
        evidence: &Evidence,
        now: UnixTime,
    ) -> Result<Step<AwaitingConsent>, Error> {
        let known = KnownNow { evidence, now };
        match self.protocol {
            ExchangeProtocol::Unsigned => self.unsigned(trust).map(Step::Done),
            ExchangeProtocol::Signed => self.signed(trust, &known),
            ExchangeProtocol::Multisigned => self.multisigned(trust, &known),
        }
    }

    /// The certificates (DER) that came with the signature of this client; none if it has signed by something else.
    #[must_use]
    pub fn certificates(&self, client_id: &str) -> Vec<Vec<u8>> {
        let objects = match self.protocol {
            ExchangeProtocol::Unsigned => Vec::new(),
            ExchangeProtocol::Signed => self.object().into_iter().collect(),
            ExchangeProtocol::Multisigned => self.objects().unwrap_or_default(),
        };
        // The only signature is that of the client.
        let is_its = |object: &Compact| {
            self.protocol == ExchangeProtocol::Signed
                || named(object).is_some_and(|name| {
                    ClientId::parse(name).is_ok_and(|client| client.to_string() == client_id)
                })
        };
        let own = objects.into_iter().find(is_its);
        own.and_then(|object| object.header.x5c).unwrap_or_default()
    }

    /// The object with the only signature.
    fn object(&self) -> Result<Compact, Error> {
        let refuse = Error::invalid_request;
        let text = self.data.get("request").and_then(Value::as_str);
        let text = text.ok_or_else(|| refuse("a signed request has no request object"))?;
        Compact::parse_within(text, OBJECT_MAX).map_err(unreadable)
    }

    /// The objects of several signatures, which have one payload.
    fn objects(&self) -> Result<Vec<Compact>, Error> {
        // The text shows the object alone, and speaks of the parameter `request`, as compact requests have it.
        let sent = self.data.get("request").unwrap_or(&self.data);
        General::read(sent.clone())?.objects()
    }

    /// The verifier is whoever the origin belongs to; `client_id` and `expected_origins` are ignored (Appendix A.2).
    fn unsigned(&self, trust: &WalletTrust<'_>) -> Result<AwaitingConsent, Error> {
        let refuse = Error::invalid_request;
        let mut members = self
            .data
            .as_object()
            .cloned()
            .ok_or_else(|| refuse("the request is not a JSON object"))?;
        if members.contains_key("request") || members.contains_key("request_uri") {
            return Err(refuse("an unsigned request refers to a request object"));
        }
        members.remove("client_id");
        members.remove("expected_origins");
        let client_id = format!("{ORIGIN}{}", self.origin.as_str());
        Ok(AwaitingConsent {
            request: self.checked(members, &client_id, trust)?,
            verifier: Verifier {
                prefix: ORIGIN.trim_end_matches(':').to_owned(),
                name: self.origin.as_str().to_owned(),
                authenticated: false,
            },
            audience: None,
        })
    }

    fn signed(
        &self,
        trust: &WalletTrust<'_>,
        known: &KnownNow<'_>,
    ) -> Result<Step<AwaitingConsent>, Error> {
        let refuse = Error::invalid_request;
        let object = self.object()?;
        if !object.header.is_of_type(TYP) {
            return Err(refuse(
                "the request object's typ is not oauth-authz-req+jwt",
            ));
        }
        let claims = self.claims(&object, trust.transport, known)?;
        let client_id = text_of(&claims, "client_id")?;
        let client = ClientId::parse(&client_id)?;
        let key = match trusted_key(&client, &object, trust, known)? {
            Step::Needs(needs) => return Ok(Step::Needs(needs)),
            Step::Done(key) => key,
        };
        object
            .verify(&key)
            .map_err(|_| refuse("the request object's signature does not verify"))?;
        let audience = audience(&claims, &client_id)?;
        let request = self.checked(claims, &client_id, trust)?;
        Ok(Step::Done(asked_by(&client, &object, request, audience)))
    }

    /// The verifier is the first of the identities for which somebody vouches whom the wallet trusts; the other
    /// identities may be for other wallets. A signature that is wrong under the key that it names makes all wrong.
    fn multisigned(
        &self,
        trust: &WalletTrust<'_>,
        known: &KnownNow<'_>,
    ) -> Result<Step<AwaitingConsent>, Error> {
        let refuse = Error::invalid_request;
        let objects = self.objects()?;
        // Nobody is looked up for a page of another origin.
        let first = objects
            .first()
            .ok_or_else(|| refuse("there is no signature"))?;
        let claims = self.claims(first, trust.transport, known)?;
        // Appendix A.3.2.2: these stand in the protected headers alone.
        if claims.contains_key("client_id") || claims.contains_key("verifier_info") {
            return Err(refuse(
                "the payload of several signatures has client_id or verifier_info",
            ));
        }
        let (mut needs, mut signers, mut why) = (Vec::new(), Vec::new(), None);
        for object in &objects {
            match signatory(object, trust, known)? {
                Signatory::Waits(more) => needs.extend(more),
                Signatory::Known(client) => signers.push((object, client)),
                Signatory::Unknown(error) => why = why.or(Some(error)),
            }
        }
        if !needs.is_empty() {
            return Ok(Step::Needs(needs));
        }
        let is_late = |client: &ClientId| !matches!(client, ClientId::X509Hash(_));
        signers.sort_by_key(|(_, client)| self.by_hash_first && is_late(client));
        let Some((object, client)) = signers.into_iter().next() else {
            return Err(why.unwrap_or_else(|| refuse("no signature is by a known verifier")));
        };
        let client_id = client.to_string();
        let audience = audience(&claims, &client_id)?;
        let request = self.checked(claims, &client_id, trust)?;
        Ok(Step::Done(asked_by(&client, object, request, audience)))
    }

    /// The payload of a signed request, which is for this origin and valid now.
    fn claims(
        &self,
        object: &Compact,
        transport: &Transport,
        known: &KnownNow<'_>,
    ) -> Result<Map<String, Value>, Error> {
        let refuse = Error::invalid_request;
        let Ok(Value::Object(claims)) = object.claims() else {
            return Err(refuse("the request object's payload is not a JSON object"));
        };
        if claims.contains_key("request") || claims.contains_key("request_uri") {
            return Err(refuse("the request object refers to another one"));
        }
        self.origin
            .is_expected(claims.get("expected_origins"), transport)?;
        check_time(&claims, known.now)?;
        Ok(claims)
    }

    fn checked(
        &self,
        mut members: Map<String, Value>,
        client_id: &str,
        trust: &WalletTrust<'_>,
    ) -> Result<Request, Error> {
        members.retain(|name, _| DEFINED.contains(&name.as_str()));
        members.insert("client_id".to_owned(), Value::from(client_id));
        let parameters: Parameters = json::value_as(Value::Object(members)).map_err(|_| {
            Error::invalid_request("a parameter of the request is of the wrong type")
        })?;
        let page = BrowserPage {
            origin: self.origin.as_str().to_owned(),
            protocol: self.protocol.as_str().to_owned(),
        };
        let request = Request::of_page(parameters, page, self.origin.url().clone())?;
        // §8.4: what cannot be shown is not agreed to.
        for transaction in &request.transaction_data {
            transaction.lines(trust.transactions)?;
        }
        Ok(request)
    }
}

/// What one of several signatures says.
enum Signatory {
    /// Who signed has to be looked up first.
    Waits(Vec<selfsame_credential::evidence::Need>),
    /// The verifier who signed.
    Known(ClientId),
    /// The signature is for wallets that trust others.
    Unknown(Error),
}

/// Who made one of several signatures.
///
/// # Errors
/// `invalid_request` if the signature is wrong under the key that its header names.
fn signatory(
    object: &Compact,
    trust: &WalletTrust<'_>,
    known: &KnownNow<'_>,
) -> Result<Signatory, Error> {
    let refuse = Error::invalid_request;
    let wrong = || refuse("one of the request's signatures does not verify");
    // Whoever vouches for a certificate, its key has signed or it has not.
    if let Some(x5c) = object.header.x5c.as_deref() {
        let chain = Chain::parse(x5c).map_err(|_| refuse("an x5c of the request can't be read"))?;
        object
            .verify(chain.leaf_public_key())
            .map_err(|_| wrong())?;
    }
    if object.header.typ.is_some() && !object.header.is_of_type(TYP) {
        return Err(refuse(
            "the request object's typ is not oauth-authz-req+jwt",
        ));
    }
    let client_id = named(object).ok_or_else(|| refuse("a protected header has no client_id"))?;
    let client = match ClientId::parse(client_id) {
        Ok(client) => client,
        Err(error) => return Ok(Signatory::Unknown(error)),
    };
    match trusted_key(&client, object, trust, known) {
        Ok(Step::Needs(needs)) => Ok(Signatory::Waits(needs)),
        Ok(Step::Done(key)) => match object.verify(&key) {
            Ok(()) => Ok(Signatory::Known(client)),
            Err(_) => Err(wrong()),
        },
        Err(error) => Ok(Signatory::Unknown(error)),
    }
}

/// The client that the protected header of one of several signatures names.
fn named(object: &Compact) -> Option<&str> {
    object.header.other.get("client_id").and_then(Value::as_str)
}

/// The audience of a request object if it is not that of §5.8. Requests by a browser need none: the origin says who
/// asks, and `expected_origins` where.
fn audience(claims: &Map<String, Value>, client_id: &str) -> Result<Option<Audience>, Error> {
    let named: Vec<&str> = match claims.get("aud") {
        None => return Ok(None),
        Some(Value::String(one)) => vec![one],
        Some(Value::Array(all)) => all.iter().filter_map(Value::as_str).collect(),
        Some(_) => Vec::new(),
    };
    if named.contains(&STATIC_AUDIENCE) {
        return Ok(None);
    }
    match named.contains(&client_id) {
        true => Ok(Some(Audience::Verifier(client_id.to_owned()))),
        false => Err(Error::invalid_request(
            "the request object is for another audience",
        )),
    }
}

fn text_of(claims: &Map<String, Value>, name: &str) -> Result<String, Error> {
    let text = claims.get(name).and_then(Value::as_str);
    text.map(str::to_owned)
        .ok_or_else(|| Error::invalid_request(format!("{name} is missing")))
}
