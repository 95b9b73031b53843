//! Foreign parties, written by hand: a wallet, an issuer, a verifier and a web server that send exactly what a test
//! needs.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{SystemTime, UNIX_EPOCH};

use selfsame_credential::ClaimPath;
use selfsame_credential::format::sd_jwt_vc::Issue;
use selfsame_credential::sd_jwt::{DigestAlgorithm, SdJwt};
use selfsame_credential::signer::Signer;
use selfsame_crypto::ctx::Ctx;
use selfsame_crypto::encoding::base64url_encode;
use selfsame_crypto::jws::Unsigned;
use selfsame_crypto::time::UnixTime;
use selfsame_crypto::{KeyHandle, KeyType, PrivateKey, seal};
use serde_json::{Map, Value, json};
use url::Url;

use crate::http::{Api, Reply, Request};
use crate::rig::{World, offer, post, succeeded, text};

pub const PRE_AUTHORIZED: &str = "urn:ietf:params:oauth:grant-type:pre-authorized_code";
pub const FORM: &str = "application/x-www-form-urlencoded";

pub fn now() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap()
        .as_secs()
}

/// A form body.
pub fn form(pairs: &[(&str, &str)]) -> String {
    url::form_urlencoded::Serializer::new(String::new())
        .extend_pairs(pairs)
        .finish()
}

/// A parameter of a link.
pub fn parameter(link: &str, name: &str) -> Option<String> {
    let link = Url::parse(link).unwrap();
    link.query_pairs()
        .find(|(known, _)| known == name)
        .map(|(_, value)| value.into_owned())
}

/// A key and its DID.
pub struct Key {
    private: PrivateKey,
}

impl Key {
    pub fn new() -> Self {
        Self::of(KeyType::P256)
    }

    pub fn of(kind: KeyType) -> Self {
        Self {
            private: PrivateKey::generate(kind).unwrap(),
        }
    }

    pub fn jwk(&self) -> Value {
        self.private.public().to_jwk().to_value()
    }

    pub fn did(&self) -> String {
        selfsame_did::jwk::create(self.private.public())
            .as_str()
            .to_owned()
    }

    pub fn kid(&self) -> String {
        format!("{}#0", self.did())
    }

    pub fn alg(&self) -> &'static str {
        self.private.algorithm().as_str()
    }

    pub fn sign(&self, header: &Value, payload: &Value) -> String {
        let unsigned = Unsigned::new(header, payload);
        let signature = self.private.sign(unsigned.signing_input()).unwrap();
        unsigned.finish(&signature)
    }

    pub fn sign_bytes(&self, bytes: &[u8]) -> Vec<u8> {
        self.private.sign(bytes).unwrap()
    }

    pub fn signer(&self) -> Signer {
        Signer {
            key: KeyHandle::of(self.private.public()),
            algorithm: self.private.algorithm(),
            kid: Some(self.kid()),
            x5c: Vec::new(),
        }
    }

    pub fn public_jwk(&self) -> selfsame_crypto::Jwk {
        self.private.public().to_jwk()
    }
}

/// A JWT of these parts without a signature.
pub fn unsigned(header: &Value, payload: &Value) -> String {
    let part = |value: &Value| base64url_encode(value.to_string().as_bytes());
    format!("{}.{}.", part(header), part(payload))
}

/// A foreign wallet that holds an offer.
pub struct Holder {
    issuer: Api,
    pub offer: Value,
    pub key: Key,
}

impl Holder {
    /// Reads an offer, by value or by reference.
    pub fn of(offer: &Value, issuer: &Api) -> Self {
        let link = text(offer, "uri");
        let offer = match (
            parameter(&link, "credential_offer"),
            parameter(&link, "credential_offer_uri"),
        ) {
            (Some(offer), None) => serde_json::from_str(&offer).unwrap(),
            (None, Some(address)) => {
                let address = Url::parse(&address).unwrap();
                succeeded(
                    address.as_str(),
                    &Request::new("GET", &address).send().unwrap(),
                )
            }
            neither => panic!("an offer is by value or by reference: {neither:?}"),
        };
        Self {
            issuer: issuer.clone(),
            offer,
            key: Key::new(),
        }
    }

    pub fn code(&self) -> &str {
        self.offer["grants"][PRE_AUTHORIZED]["pre-authorized_code"]
            .as_str()
            .unwrap()
    }

    pub fn configuration(&self) -> &str {
        self.offer["credential_configuration_ids"][0]
            .as_str()
            .unwrap()
    }

    pub fn audience(&self) -> &str {
        self.offer["credential_issuer"].as_str().unwrap()
    }

    /// The token endpoint's answer.
    pub fn redeem(&self, further: &[(&str, &str)]) -> Reply {
        let mut pairs = vec![
            ("grant_type", PRE_AUTHORIZED),
            ("pre-authorized_code", self.code()),
        ];
        pairs.extend(further);
        self.issuer
            .request("POST", "/issuer/token")
            .body(FORM, form(&pairs))
            .send()
            .unwrap()
    }

    /// A token; the request must succeed.
    pub fn token(&self) -> String {
        text(
            &succeeded("/issuer/token", &self.redeem(&[])),
            "access_token",
        )
    }

    pub fn nonce(&self) -> String {
        let reply = self.issuer.request("POST", "/issuer/nonce").send().unwrap();
        assert_eq!(
            reply.header("cache-control"),
            Some("no-store"),
            "OpenID4VCI 1.0 §7.2"
        );
        text(&succeeded("/issuer/nonce", &reply), "c_nonce")
    }

    pub fn proof_header(&self) -> Value {
        json!({"typ": "openid4vci-proof+jwt", "alg": self.key.alg(), "jwk": self.key.jwk()})
    }

    pub fn proof_claims(&self, nonce: &str) -> Value {
        json!({"aud": self.audience(), "iat": now(), "nonce": nonce})
    }

    /// A valid proof.
    pub fn proof(&self, nonce: &str) -> String {
        self.key
            .sign(&self.proof_header(), &self.proof_claims(nonce))
    }

    /// The credential endpoint's answer to this body.
    pub fn request(&self, token: &str, body: &Value) -> Reply {
        self.issuer
            .with_token(token)
            .request("POST", "/issuer/credential")
            .json(body)
            .send()
            .unwrap()
    }

    /// The credential endpoint's answer to these proofs.
    pub fn ask(&self, token: &str, proofs: &[String]) -> Reply {
        let body =
            json!({"credential_configuration_id": self.configuration(), "proofs": {"jwt": proofs}});
        self.request(token, &body)
    }

    /// A credential; the request must succeed.
    pub fn credential(&self) -> String {
        let reply = self.ask(&self.token(), &[self.proof(&self.nonce())]);
        text(
            &succeeded("/issuer/credential", &reply)["credentials"][0],
            "credential",
        )
    }
}

/// A foreign wallet with a new offer.
pub fn holder(world: &World, changes: &Value) -> Holder {
    Holder::of(&offer(&world.operator, changes), &world.anybody())
}

/// A verifier's request, as a foreign wallet reads it.
pub struct Asked {
    pub client_id: String,
    pub nonce: String,
    pub state: String,
    pub response_uri: Url,
    pub query: String,
}

/// A new request whose link contains everything.
pub fn ask(operator: &Api) -> Value {
    let asked = json!({"type": "immunization", "client_id_prefix": "redirect_uri"});
    post(operator, "/api/verifier/requests", &asked)
}

impl Asked {
    /// Reads a link that contains everything.
    pub fn read(asked: &Value) -> Self {
        let link = text(asked, "uri");
        let of =
            |name: &str| parameter(&link, name).unwrap_or_else(|| panic!("no {name} in {link}"));
        let query: Value = serde_json::from_str(&of("dcql_query")).unwrap();
        Self {
            client_id: of("client_id"),
            nonce: of("nonce"),
            state: of("state"),
            response_uri: Url::parse(&of("response_uri")).unwrap(),
            query: text(&query["credentials"][0], "id"),
        }
    }

    /// The verifier's answer to one presentation.
    pub fn present(&self, presentation: &str) -> Reply {
        let vp_token = json!({ &self.query: [presentation] }).to_string();
        self.post(&[("vp_token", &vp_token), ("state", &self.state)])
    }

    pub fn post(&self, pairs: &[(&str, &str)]) -> Reply {
        Request::new("POST", &self.response_uri)
            .body(FORM, form(pairs))
            .send()
            .unwrap()
    }
}

/// An SD-JWT with a Key Binding JWT of these claims; `sd_hash` is added.
pub fn bound(sd_jwt: &str, key: &Key, claims: &Value) -> String {
    let mut claims = claims.clone();
    let digest = selfsame_crypto::hash::sha256(sd_jwt.as_bytes());
    claims["sd_hash"] = json!(base64url_encode(&digest));
    let header = json!({"typ": "kb+jwt", "alg": key.alg()});
    format!("{sd_jwt}{}", key.sign(&header, &claims))
}

/// The claims of a Key Binding JWT that fits a request.
pub fn binding(asked: &Asked) -> Value {
    json!({"aud": asked.client_id, "nonce": asked.nonce, "iat": now()})
}

/// An SD-JWT VC of a foreign issuer about a vaccination, bound to the holder's key.
pub fn foreign_credential(issuer: &Key, holder: &Key, changes: &Value) -> String {
    let mut claims = json!({
        "iss": issuer.did(),
        "vct": "urn:selfsame:credential:immunization",
        "iat": now() - 60,
        "exp": now() + 3600,
        "disease": {"name": "COVID-19"},
        "vaccine": {"cvx": "208"},
        "series": {"complete": true},
        "last_dose_date": "2026-03-23",
        "patient": {"birth_date": "1990-01-01"},
    });
    for (name, value) in changes.as_object().unwrap() {
        match value {
            Value::Null => claims.as_object_mut().unwrap().remove(name),
            value => claims
                .as_object_mut()
                .unwrap()
                .insert(name.clone(), value.clone()),
        };
    }
    let Value::Object(claims) = claims else {
        unreachable!("it was made an object")
    };
    let draft = Issue {
        claims,
        disclosable: vec![ClaimPath::of_names(["vaccine", "cvx"]).unwrap()],
        decoys: 1,
        cnf: Some(holder.public_jwk()),
        digest: DigestAlgorithm::Sha256,
        signer: issuer.signer(),
        label: "foreign".to_owned(),
    };
    let draft = draft
        .draft(&Ctx::new(UnixTime(now()), seal::random_seed()))
        .unwrap();
    let signature = issuer.sign_bytes(draft.signing_input());
    draft.finish(&signature)
}

/// What a presentation discloses.
pub fn claims_of(presentation: &str) -> Map<String, Value> {
    let processed = SdJwt::parse(presentation).unwrap().process().unwrap();
    processed.claims.as_object().unwrap().clone()
}

/// A request that a foreign server received.
#[derive(Clone, Debug)]
pub struct Heard {
    pub method: String,
    pub target: String,
    pub head: String,
    pub body: String,
}

/// A response of a foreign server.
#[derive(Clone, Debug)]
pub struct Said {
    status: u16,
    content_type: String,
    further: String,
    body: Vec<u8>,
}

impl Said {
    pub fn new(status: u16, content_type: &str, body: impl Into<Vec<u8>>) -> Self {
        Self {
            status,
            content_type: content_type.to_owned(),
            further: String::new(),
            body: body.into(),
        }
    }

    pub fn json(body: &Value) -> Self {
        Self::new(200, "application/json", body.to_string())
    }

    /// 64 MiB of white space, compressed.
    pub fn exploding() -> Self {
        let packed = Vec::new();
        let mut encoder = flate2::write::GzEncoder::new(packed, flate2::Compression::best());
        for _ in 0..64 {
            encoder.write_all(&vec![b' '; 1 << 20]).unwrap();
        }
        let mut said = Self::new(200, "application/json", encoder.finish().unwrap());
        said.further = "Content-Encoding: gzip\r\n".to_owned();
        said
    }

    pub fn redirect(to: &str) -> Self {
        let mut said = Self::new(302, "text/plain", "");
        said.further = format!("Location: {to}\r\n");
        said
    }
}

type Handler = Box<dyn Fn(&Heard) -> Said + Send + Sync>;

/// A foreign web server on loopback; its responses can be changed while it runs.
pub struct Stranger {
    pub origin: Url,
    handler: Arc<Mutex<Handler>>,
    heard: Arc<Mutex<Vec<Heard>>>,
}

impl Stranger {
    /// A server without responses.
    pub fn new() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let origin = format!(
            "http://localhost:{}/",
            listener.local_addr().unwrap().port()
        );
        let nothing: Handler = Box::new(|_| Said::new(404, "text/plain", "nothing"));
        let server = Self {
            origin: Url::parse(&origin).unwrap(),
            handler: Arc::new(Mutex::new(nothing)),
            heard: Arc::default(),
        };
        let (handler, heard) = (server.handler.clone(), server.heard.clone());
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let (handler, heard) = (handler.clone(), heard.clone());
                thread::spawn(move || serve(stream, &handler, &heard));
            }
        });
        server
    }

    pub fn says(&self, handler: impl Fn(&Heard) -> Said + Send + Sync + 'static) {
        *self.handler.lock().unwrap() = Box::new(handler);
    }

    pub fn url(&self, path: &str) -> String {
        format!("{}{path}", self.origin)
    }

    /// The requests received since the last call.
    pub fn heard(&self) -> Vec<Heard> {
        std::mem::take(&mut *self.heard.lock().unwrap())
    }
}

fn serve(mut stream: TcpStream, handler: &Mutex<Handler>, heard: &Mutex<Vec<Heard>>) {
    let Some(request) = read(&mut stream) else {
        return;
    };
    let said = (handler.lock().unwrap())(&request);
    heard.lock().unwrap().push(request);
    let head = format!(
        "HTTP/1.1 {} Said\r\nContent-Type: {}\r\nContent-Length: {}\r\n{}Connection: close\r\n\r\n",
        said.status,
        said.content_type,
        said.body.len(),
        said.further,
    );
    let _ = stream
        .write_all(head.as_bytes())
        .and_then(|()| stream.write_all(&said.body));
}

fn read(stream: &mut TcpStream) -> Option<Heard> {
    let mut bytes = Vec::new();
    let mut buffer = [0; 4096];
    let end = loop {
        if let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            break end;
        }
        let count = stream.read(&mut buffer).ok().filter(|count| *count > 0)?;
        bytes.extend_from_slice(&buffer[..count]);
    };
    let head = String::from_utf8(bytes[..end].to_vec()).ok()?;
    let length = head
        .lines()
        .filter_map(|line| line.split_once(':'))
        .find(|(name, _)| name.eq_ignore_ascii_case("content-length"))
        .and_then(|(_, value)| value.trim().parse().ok())
        .unwrap_or(0);
    while bytes.len() < end + 4 + length {
        let count = stream.read(&mut buffer).ok().filter(|count| *count > 0)?;
        bytes.extend_from_slice(&buffer[..count]);
    }
    let mut words = head.lines().next()?.split(' ');
    let (method, target) = (words.next()?.to_owned(), words.next()?.to_owned());
    Some(Heard {
        method,
        target,
        head,
        body: String::from_utf8_lossy(&bytes[end + 4..]).into_owned(),
    })
}

/// The object with these members replaced; `null` removes a member.
pub fn changed(mut object: Value, changes: &Value) -> Value {
    for (name, value) in changes.as_object().unwrap() {
        match value {
            Value::Null => object.as_object_mut().unwrap().remove(name),
            value => object
                .as_object_mut()
                .unwrap()
                .insert(name.clone(), value.clone()),
        };
    }
    object
}
