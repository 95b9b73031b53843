//! The paper's credential: a JSON text with fixed members and exactly one encoding, including its issuer's proof.

use std::borrow::Cow;

use selfsame_credential::validity::Validity;
use selfsame_crypto::encoding::{base64_decode, base64_encode};
use selfsame_crypto::time::UnixTime;
use selfsame_did::Did;
use serde_json::{Map, Value};

use super::credential::{BAD_SUBJECT, Credential, MALFORMED, UNSIGNED, UNTRUSTED};
use super::policy::IdentityPolicy;
use super::signature::is_signed;
use crate::alert::Refusal;
use crate::codec::{CertificateVerify, Vc};
use crate::named::Scheme;
use crate::provider::SigningKey;

const CONTEXT: &str = "https://www.w3.org/2018/credentials/v2";
const TYPE: &str = "VerifiableCredential";
const PURPOSE: &str = "assertionMethod";
const MAX_BYTES: usize = 65_535;

/// A credential in the form of the authors' code: its content and its proof.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct PaperVc {
    id: String,
    issuer: String,
    issued: String,
    expires: String,
    subject: String,
    proof: Option<IssuerProof>,
}

/// The content of a [`PaperVc`]: what its issuer signs.
#[derive(Clone, Copy, Debug)]
pub struct PaperContent<'a> {
    /// The credential's identifier, a URI.
    pub id: &'a str,
    /// The issuer's DID.
    pub issuer: &'a str,
    /// The DID that the issuer vouches for.
    pub subject: &'a str,
    /// When the credential was issued; it is not valid before.
    pub issued: UnixTime,
    /// When the credential expires.
    pub expires: UnixTime,
}

#[derive(Clone, Debug, Eq, PartialEq)]
struct IssuerProof {
    kind: String,
    created: String,
    method: String,
    value: String,
}

impl PaperVc {
    /// A credential with this content, not signed yet.
    pub fn new(content: PaperContent<'_>) -> Self {
        Self {
            id: content.id.to_owned(),
            issuer: content.issuer.to_owned(),
            issued: content.issued.rfc3339(),
            expires: content.expires.rfc3339(),
            subject: content.subject.to_owned(),
            proof: None,
        }
    }

    /// Signs the text with the issuer's key, whose DID URL is `method`.
    pub fn sign(mut self, key: &SigningKey, method: &str) -> Result<Vec<u8>, Refusal> {
        let known: Vec<Scheme> = KINDS.iter().map(|(scheme, _)| *scheme).collect();
        let unfit =
            Refusal::internal("the paper defines no proof for the kind of the issuer's key");
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

    /// Parses a credential. Its text must be exactly how these members are written, because the proof covers the text.
    pub fn parse(bytes: &[u8]) -> Result<Self, Refusal> {
        Self::read(bytes).map(|(vc, _)| vc).ok_or(MALFORMED)
    }

    /// Parses a credential, and verifies that a trusted issuer's key signed it.
    pub(super) fn accept(vc: Vc, policy: &IdentityPolicy) -> Result<Credential, Refusal> {
        let (read, unsigned) = Self::read(&vc.bytes).ok_or(MALFORMED)?;
        let proof = read.proof.as_ref().ok_or(MALFORMED)?;
        let issuer = policy.issuer(&read.issuer)?;
        let mut keys = issuer.keys.iter();
        // The method must belong to this issuer; otherwise one issuer could sign for another.
        let key = keys.find(|(method, _)| *method == proof.method);
        let (key_id, key) = key.ok_or(UNTRUSTED)?;
        let kind = KINDS.iter().find(|(_, kind)| *kind == proof.kind);
        let signature = CertificateVerify {
            scheme: kind.ok_or(MALFORMED)?.0,
            signature: base64_decode(&proof.value).map_err(|_| MALFORMED)?,
        };
        if !is_signed(key, &signature, unsigned.as_bytes()) {
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

    /// Parses a credential; returns it, and its text without the proof.
    fn read(bytes: &[u8]) -> Option<(Self, String)> {
        let whole = std::str::from_utf8(bytes).ok()?;
        let mut text = Scan::new(whole).filter(|_| whole.len() <= MAX_BYTES)?;
        text.fixed("@context", CONTEXT)?;
        let id = text.member("id")?;
        text.fixed("type", TYPE)?;
        let issuer = text.member("issuer")?;
        let issued = text.member("issuanceDate")?;
        let expires = text.member("expirationDate")?;
        text.begin("credentialSubject")?;
        let subject = text.member("id")?;
        text.end()?;
        let signed = whole.len().checked_sub(text.rest.len())?;
        let unsigned = [whole.get(..signed)?, "\n}"].concat();
        text.begin("proof")?;
        let kind = text.member("type")?;
        // The authors' code writes a space before the time.
        let created = text.member("created")?.strip_prefix(' ')?.to_owned();
        text.fixed("proofPurpose", PURPOSE)?;
        let method = text.member("verificationMethod")?;
        let value = text.member("proofValue")?;
        text.end()?;
        text.end()?;
        let vc = Self {
            id: id.into_owned(),
            issuer: issuer.into_owned(),
            issued: issued.into_owned(),
            expires: expires.into_owned(),
            subject: subject.into_owned(),
            proof: Some(IssuerProof {
                kind: kind.into_owned(),
                created,
                method: method.into_owned(),
                value: value.into_owned(),
            }),
        };
        text.rest.is_empty().then_some((vc, unsigned))
    }

    /// The text as cJSON prints it: a tab per level and after each colon, one member per line.
    fn text(&self) -> String {
        let mut text = Text::new();
        text.member("@context", CONTEXT);
        text.member("id", &self.id);
        text.member("type", TYPE);
        text.member("issuer", &self.issuer);
        text.member("issuanceDate", &self.issued);
        text.member("expirationDate", &self.expires);
        text.begin("credentialSubject");
        text.member("id", &self.subject);
        text.end();
        if let Some(proof) = &self.proof {
            text.begin("proof");
            text.member("type", &proof.kind);
            text.member("created", &format!(" {}", proof.created));
            text.member("proofPurpose", PURPOSE);
            text.member("verificationMethod", &proof.method);
            text.member("proofValue", &proof.value);
            text.end();
        }
        text.end();
        text.written
    }
}

/// The proof types by scheme, with the names of the authors' code, which differ slightly from the paper's table.
const KINDS: &[(Scheme, &str)] = &[
    (Scheme::ED25519, "Ed25519VerificationKey2023"),
    (
        Scheme::ECDSA_P256_SHA256,
        "EcdsaSecp256r1VerificationKey2023",
    ),
    (Scheme::RSA_PSS_SHA256, "RsaVerificationKey2023"),
];

/// The usual size of a credential, unless its key is RSA.
const USUAL_BYTES: usize = 1024;

/// Writes an object.
struct Text {
    written: String,
    depth: usize,
    is_empty: bool,
}

impl Text {
    fn new() -> Self {
        let mut text = Self {
            written: String::with_capacity(USUAL_BYTES),
            depth: 0,
            is_empty: true,
        };
        text.open();
        text
    }

    fn member(&mut self, name: &str, value: &str) {
        self.name(name);
        // Such a value needs no escapes.
        if value.bytes().all(is_plain) {
            self.written.push('"');
            self.written.push_str(value);
            self.written.push('"');
        } else {
            self.written.push_str(&Value::from(value).to_string());
        }
    }

    fn begin(&mut self, name: &str) {
        self.name(name);
        self.open();
    }

    fn end(&mut self) {
        self.depth = self.depth.saturating_sub(1);
        self.is_empty = false;
        self.line();
        self.written.push('}');
    }

    fn open(&mut self) {
        self.written.push('{');
        self.depth = self.depth.saturating_add(1);
        self.is_empty = true;
    }

    fn name(&mut self, name: &str) {
        if !std::mem::replace(&mut self.is_empty, false) {
            self.written.push(',');
        }
        self.line();
        for part in ["\"", name, "\":\t"] {
            self.written.push_str(part);
        }
    }

    fn line(&mut self) {
        self.written.push('\n');
        self.written.extend(std::iter::repeat_n('\t', self.depth));
    }
}

/// Whether a byte needs no escape in a JSON string.
fn is_plain(byte: u8) -> bool {
    matches!(byte, b' '..=b'~') && !matches!(byte, b'"' | b'\\')
}

/// Reads an object in exactly the form that [`Text`] writes, and no other.
struct Scan<'t> {
    rest: &'t str,
    depth: usize,
    is_empty: bool,
}

impl<'t> Scan<'t> {
    fn new(text: &'t str) -> Option<Self> {
        let mut scan = Self {
            rest: text,
            depth: 0,
            is_empty: true,
        };
        scan.open().map(|()| scan)
    }

    fn fixed(&mut self, name: &str, value: &str) -> Option<()> {
        (self.member(name)? == value).then_some(())
    }

    fn member(&mut self, name: &str) -> Option<Cow<'t, str>> {
        self.name(name)?;
        let text = self.rest.strip_prefix('"')?;
        let plain = text.bytes().position(|byte| !is_plain(byte))?;
        if let Some(after) = text.get(plain..)?.strip_prefix('"') {
            self.rest = after;
            return text.get(..plain).map(Cow::Borrowed);
        }
        let mut read = serde_json::Deserializer::from_str(self.rest).into_iter::<String>();
        let value = read.next()?.ok()?;
        let (written, rest) = self.rest.split_at_checked(read.byte_offset())?;
        self.rest = rest;
        let again = Value::from(value.as_str()).to_string();
        (again == written).then_some(Cow::Owned(value))
    }

    fn begin(&mut self, name: &str) -> Option<()> {
        self.name(name)?;
        self.open()
    }

    fn end(&mut self) -> Option<()> {
        self.depth = self.depth.checked_sub(1)?;
        self.is_empty = false;
        self.line()?;
        self.skip("}")
    }

    fn open(&mut self) -> Option<()> {
        self.depth = self.depth.saturating_add(1);
        self.is_empty = true;
        self.skip("{")
    }

    fn name(&mut self, name: &str) -> Option<()> {
        if !std::mem::replace(&mut self.is_empty, false) {
            self.skip(",")?;
        }
        self.line()?;
        ["\"", name, "\":\t"]
            .into_iter()
            .try_for_each(|part| self.skip(part))
    }

    fn line(&mut self) -> Option<()> {
        self.skip("\n")?;
        (0..self.depth).try_for_each(|_| self.skip("\t"))
    }

    fn skip(&mut self, part: &str) -> Option<()> {
        self.rest = self.rest.strip_prefix(part)?;
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn unsigned(id: &str) -> PaperVc {
        PaperVc::new(PaperContent {
            id,
            issuer: "did:example:issuer",
            subject: "did:example:subject",
            issued: UnixTime(1_700_000_000),
            expires: UnixTime(1_800_000_000),
        })
    }

    #[test]
    fn a_credential_is_written_as_cjson_prints_it() {
        let proof = IssuerProof {
            kind: "Ed25519VerificationKey2023".to_owned(),
            created: "2023-11-14T22:13:20Z".to_owned(),
            method: "did:example:issuer#1".to_owned(),
            value: "c2lnbmVk".to_owned(),
        };
        let signed = PaperVc {
            proof: Some(proof),
            ..unsigned("urn:\"1\"")
        };
        let lines = [
            "{",
            "\t\"@context\":\t\"https://www.w3.org/2018/credentials/v2\",",
            "\t\"id\":\t\"urn:\\\"1\\\"\",",
            "\t\"type\":\t\"VerifiableCredential\",",
            "\t\"issuer\":\t\"did:example:issuer\",",
            "\t\"issuanceDate\":\t\"2023-11-14T22:13:20Z\",",
            "\t\"expirationDate\":\t\"2027-01-15T08:00:00Z\",",
            "\t\"credentialSubject\":\t{",
            "\t\t\"id\":\t\"did:example:subject\"",
            "\t},",
            "\t\"proof\":\t{",
            "\t\t\"type\":\t\"Ed25519VerificationKey2023\",",
            "\t\t\"created\":\t\" 2023-11-14T22:13:20Z\",",
            "\t\t\"proofPurpose\":\t\"assertionMethod\",",
            "\t\t\"verificationMethod\":\t\"did:example:issuer#1\",",
            "\t\t\"proofValue\":\t\"c2lnbmVk\"",
            "\t}",
            "}",
        ];
        assert_eq!(signed.text(), lines.join("\n"));
        let read = PaperVc::parse(signed.text().as_bytes()).unwrap();
        assert_eq!(read, signed);
    }

    fn signed(members: [&str; 9]) -> PaperVc {
        let [
            id,
            issuer,
            issued,
            expires,
            subject,
            kind,
            created,
            method,
            value,
        ] = members.map(str::to_owned);
        let proof = IssuerProof {
            kind,
            created,
            method,
            value,
        };
        PaperVc {
            id,
            issuer,
            issued,
            expires,
            subject,
            proof: Some(proof),
        }
    }

    #[test]
    fn a_credential_in_any_other_form_is_not_read() {
        let text = signed(["a", "b", "c", "d", "e", "f", "g", "h", "\"\u{e9}"]).text();
        assert!(PaperVc::parse(text.as_bytes()).is_ok());
        for (is, other) in [
            ("\t\t\"", "\t\t \""),
            (":\t\"a\"", ": \"a\""),
            ("{\n", "{\r\n"),
            ("\n}", "\n} "),
            ("\n}", "\n}\n"),
            ("\n}", ""),
            ("\"a\"", "\"\\u0061\""),
            ("\u{e9}", "\\u00e9"),
            ("\\\"", "\\u0022"),
            ("\"a\"", "1"),
            ("\"a\"", "null"),
            ("\"a\"", "\"\n\""),
            (",\n\t\"type\"", ",\n\t\"more\":\t\"1\",\n\t\"type\""),
            ("assertionMethod", "authentication"),
            ("VerifiableCredential", "Verifiable"),
            ("credentials/v2", "credentials/v1"),
            ("\" g\"", "\"g\""),
            ("\"issuer\"", "\"Issuer\""),
        ] {
            let changed = text.replacen(is, other, 1);
            assert_ne!(changed, text, "{is:?}");
            assert!(
                PaperVc::parse(changed.as_bytes()).is_err(),
                "{is:?} {other:?}"
            );
        }
        for at in 0..text.len() {
            assert!(PaperVc::parse(&text.as_bytes()[..at]).is_err());
        }
        assert!(PaperVc::parse(unsigned("a").text().as_bytes()).is_err());
        let long = signed([
            "a",
            "b",
            "c",
            "d",
            "e",
            "f",
            "g",
            "h",
            &"i".repeat(MAX_BYTES),
        ]);
        assert!(PaperVc::parse(long.text().as_bytes()).is_err());
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_as_it_was(
            members in prop::array::uniform9("(\\PC|[\"\\\\\u{0}-\u{20}\u{7f}\u{2028}]){0,12}"),
        ) {
            let vc = signed(members.each_ref().map(String::as_str));
            let (read, unsigned) = PaperVc::read(vc.text().as_bytes()).unwrap();
            prop_assert_eq!(&read, &vc);
            let proof = None;
            prop_assert_eq!(unsigned, PaperVc { proof, ..read }.text());
        }

        #[test]
        fn whatever_is_read_is_written_as_the_same_bytes(
            at in any::<prop::sample::Index>(),
            byte in any::<u8>(),
        ) {
            let mut bytes = signed(["a\n", "b", "c", "d", "e", "f", "g", "h", "i\""]).text().into_bytes();
            let at = at.index(bytes.len());
            bytes[at] = byte;
            if let Ok(vc) = PaperVc::parse(&bytes) {
                let written = vc.text();
                prop_assert_eq!(written.as_bytes(), bytes.as_slice());
            }
        }

        #[test]
        fn whatever_a_member_holds_is_written_as_json(id in "(\\PC|[\"\\\\\u{0}-\u{20}\u{7f}]){0,40}") {
            let text = unsigned(&id).text();
            let value: Value = serde_json::from_str(&text).unwrap();
            prop_assert_eq!(value["id"].as_str(), Some(id.as_str()));
            let line = format!("\t\"id\":\t{},\n", Value::from(id.as_str()));
            prop_assert!(text.contains(&line));
        }
    }
}
