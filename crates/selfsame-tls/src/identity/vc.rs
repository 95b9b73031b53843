//! The paper's credential: a JSON text of fixed members in one form alone, with its issuer's proof inside.

use selfsame_credential::validity::Validity;
use selfsame_crypto::encoding::{base64_decode, base64_encode};
use selfsame_crypto::json::{self, Limits};
use selfsame_crypto::time::UnixTime;
use selfsame_did::Did;
use serde_json::{Map, Value};

use super::claim::is_signed;
use super::credential::{BAD_SUBJECT, Credential, MALFORMED, UNSIGNED, UNTRUSTED, issuer};
use super::policy::IdentityPolicy;
use crate::alert::Refusal;
use crate::codec::{Proof, Vc};
use crate::named::Scheme;
use crate::provider::SigningKey;

const CONTEXT: &str = "https://www.w3.org/2018/credentials/v2";
const TYPE: &str = "VerifiableCredential";
const LIMITS: Limits = Limits {
    max_bytes: 65_535,
    max_depth: 4,
    max_members: 32,
};

/// A credential as the authors' code writes it: what it says, and its proof.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct PaperVc {
    id: String,
    issuer: String,
    issued: String,
    expires: String,
    subject: String,
    proof: Option<IssuerProof>,
}

#[derive(Clone, Debug, Eq, PartialEq)]
struct IssuerProof {
    kind: String,
    created: String,
    method: String,
    value: String,
}

impl PaperVc {
    /// A credential that says of `subject` that its issuer vouches for it, from one time to another.
    pub fn new(
        id: &str,
        (issuer, subject): (&str, &str),
        (from, until): (UnixTime, UnixTime),
    ) -> Self {
        Self {
            id: id.to_owned(),
            issuer: issuer.to_owned(),
            issued: from.rfc3339(),
            expires: until.rfc3339(),
            subject: subject.to_owned(),
            proof: None,
        }
    }

    /// The text, signed with the issuer's key, which `method` (a DID URL) names.
    pub fn sign(mut self, key: &SigningKey, method: &str) -> Result<Vec<u8>, Refusal> {
        let known: Vec<Scheme> = KINDS.iter().map(|(scheme, _)| *scheme).collect();
        let unfit = Refusal::internal("the issuer's key makes no proof the paper knows");
        let scheme = key.choose(&known).ok_or(unfit)?;
        let kind = KINDS.iter().find(|(known, _)| *known == scheme);
        let signature = key.sign(scheme, self.text().as_bytes())?;
        self.proof = Some(IssuerProof {
            kind: kind.ok_or(unfit)?.1.to_owned(),
            created: self.issued.clone(),
            method: method.to_owned(),
            value: base64_encode(&signature),
        });
        Ok(self.text().into_bytes())
    }

    /// Reads a credential. Its text must be exactly what these members are written as: the proof is over the text.
    pub fn parse(bytes: &[u8]) -> Result<Self, Refusal> {
        let value = json::parse(bytes, &LIMITS).map_err(|_| MALFORMED)?;
        let vc = Self::read(&value).ok_or(MALFORMED)?;
        match vc.text().as_bytes() == bytes {
            true => Ok(vc),
            false => Err(MALFORMED),
        }
    }

    /// Reads a credential and finds the key of a trusted issuer that signed it.
    pub(super) fn accept(vc: Vc, policy: &IdentityPolicy) -> Result<Credential, Refusal> {
        let read = Self::parse(&vc.bytes)?;
        let proof = read.proof.as_ref().ok_or(MALFORMED)?;
        let issuer = issuer(policy, &read.issuer)?;
        let mut keys = issuer.keys.iter();
        // The method has to be one of that very issuer, or one issuer could sign for another.
        let key = keys.find(|(method, _)| *method == proof.method);
        let (key_id, key) = key.ok_or(UNTRUSTED)?;
        let kind = KINDS.iter().find(|(_, kind)| *kind == proof.kind);
        let signature = Proof {
            scheme: kind.ok_or(MALFORMED)?.0,
            signature: base64_decode(&proof.value).map_err(|_| MALFORMED)?,
        };
        let unsigned = Self {
            proof: None,
            ..read.clone()
        };
        if !is_signed(key, &signature, unsigned.text().as_bytes()) {
            return Err(UNSIGNED);
        }
        let time = |text: &str| UnixTime::parse_rfc3339(text).ok_or(MALFORMED);
        let subject = Did::parse(&read.subject);
        Ok(Credential {
            issuer: issuer.did.clone(),
            key_id: key_id.clone(),
            subject: subject.map_err(|_| BAD_SUBJECT)?,
            validity: Validity {
                not_before: Some(time(&read.issued)?),
                expires: Some(time(&read.expires)?),
            },
            types: vec![TYPE.to_owned()],
            claims: Map::new(),
            statuses: Vec::new(),
            vc,
        })
    }

    fn read(value: &Value) -> Option<Self> {
        let members = value.as_object()?;
        let text = |members: &Map<String, Value>, name: &str| {
            members.get(name)?.as_str().map(str::to_owned)
        };
        if text(members, "@context")? != CONTEXT || text(members, "type")? != TYPE {
            return None;
        }
        let subject = members.get("credentialSubject")?.as_object()?;
        let proof = members.get("proof")?.as_object()?;
        Some(Self {
            id: text(members, "id")?,
            issuer: text(members, "issuer")?,
            issued: text(members, "issuanceDate")?,
            expires: text(members, "expirationDate")?,
            subject: text(subject, "id")?,
            proof: Some(IssuerProof {
                kind: text(proof, "type")?,
                // The authors' code writes a blank before the time.
                created: text(proof, "created")?.strip_prefix(' ')?.to_owned(),
                method: text(proof, "verificationMethod")?,
                value: text(proof, "proofValue")?,
            }),
        })
    }

    /// The text as cJSON prints it: a tab for each level and after each colon, one member a line.
    fn text(&self) -> String {
        let mut members = vec![
            member("@context", CONTEXT),
            member("id", &self.id),
            member("type", TYPE),
            member("issuer", &self.issuer),
            member("issuanceDate", &self.issued),
            member("expirationDate", &self.expires),
        ];
        let subject = [member("id", &self.subject)];
        members.push(("credentialSubject", object(&subject, "\t")));
        if let Some(proof) = &self.proof {
            let proof = [
                member("type", &proof.kind),
                member("created", &format!(" {}", proof.created)),
                member("proofPurpose", "assertionMethod"),
                member("verificationMethod", &proof.method),
                member("proofValue", &proof.value),
            ];
            members.push(("proof", object(&proof, "\t")));
        }
        object(&members, "")
    }
}

/// How proofs are made, and what they are called: the code's names, which the paper's table has a little otherwise.
const KINDS: &[(Scheme, &str)] = &[
    (Scheme::ED25519, "Ed25519VerificationKey2023"),
    (
        Scheme::ECDSA_P256_SHA256,
        "EcdsaSecp256r1VerificationKey2023",
    ),
    (Scheme::RSA_PSS_SHA256, "RsaVerificationKey2023"),
];

fn member<'a>(name: &'a str, text: &str) -> (&'a str, String) {
    (name, Value::from(text).to_string())
}

fn object(members: &[(&str, String)], indent: &str) -> String {
    let line = |(name, value): &(&str, String)| format!("{indent}\t\"{name}\":\t{value}");
    let lines: Vec<String> = members.iter().map(line).collect();
    format!("{{\n{}\n{indent}}}", lines.join(",\n"))
}
