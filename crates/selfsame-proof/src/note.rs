//! Signed notes: text with signature lines (C2SP signed-note), and the keys that verify them.

use std::fmt;
use std::str::FromStr;

use selfsame_crypto::encoding::{base64_decode, base64_encode, hex_decode, hex_encode};
use selfsame_crypto::hash::sha256_parts;
use selfsame_crypto::time::UnixTime;
use selfsame_crypto::{Algorithm, KeyType, PublicKey};

use crate::ProofError;

/// Maximum length of a note, in bytes.
pub const MAX_NOTE_BYTES: usize = 256 * 1024;
/// Maximum number of signatures of a note: enough for all validators of a network, and witnesses. The specification
/// requires that at least 16 are accepted.
pub const MAX_SIGNATURES: usize = 128;

const ED25519: u8 = 0x01;
const COSIGNATURE: u8 = 0x04;
const ED25519_MULTICODEC: [u8; 2] = [0xed, 0x01];
const SIGNATURE_LINE: &str = "\u{2014} ";

/// A text and its signatures. Do not use the text before [`SignedNote::verify`] has succeeded.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct SignedNote {
    text: String,
    signatures: Vec<Signature>,
}

/// A signature line of a note as read, not verified.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Signature {
    name: String,
    key_id: [u8; 4],
    bytes: Vec<u8>,
}

/// A public Ed25519 key and the name it signs notes under. `Display` and `FromStr` convert to and from its text form,
/// the vkey. Signatures of a witness key also contain a time (C2SP tlog-cosignature).
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct VerifierKey {
    name: String,
    kind: NoteKind,
    key_id: [u8; 4],
    key: PublicKey,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum NoteKind {
    Ed25519,
    Cosignature,
}

/// A valid signature.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct NoteSigner<'k> {
    /// The key that signed.
    pub key: &'k VerifierKey,
    /// When it was made, if it states a time: only signatures of witnesses do.
    pub time: Option<UnixTime>,
}

impl SignedNote {
    /// A note without signatures.
    pub fn new(text: String) -> Result<Self, ProofError> {
        check_text(&text)?;
        Ok(Self {
            text,
            signatures: Vec::new(),
        })
    }

    /// The bytes that each signature covers.
    pub fn signing_bytes(&self) -> &[u8] {
        self.text.as_bytes()
    }

    /// Adds a signature. It is verified first, so that a note never leaves with an invalid one.
    pub fn sign(&mut self, key: &VerifierKey, signature: Vec<u8>) -> Result<(), ProofError> {
        if self.signatures.len() >= MAX_SIGNATURES {
            return Err(ProofError::Note("too many signatures"));
        }
        key.check(&self.text, &signature)?;
        self.signatures.push(Signature {
            name: key.name.clone(),
            key_id: key.key_id,
            bytes: signature,
        });
        Ok(())
    }

    /// Parses a note strictly. Does not verify its signatures.
    pub fn parse(note: &str) -> Result<Self, ProofError> {
        if note.len() > MAX_NOTE_BYTES {
            return Err(ProofError::Note("it is too long"));
        }
        // The last empty line separates the text from the signatures.
        let (text, signatures) = note
            .rsplit_once("\n\n")
            .ok_or(ProofError::Note("it has no signatures"))?;
        let text = format!("{text}\n");
        check_text(&text)?;
        let lines = signatures
            .strip_suffix('\n')
            .ok_or(ProofError::Note("its last line does not end"))?;
        if lines.split('\n').count() > MAX_SIGNATURES {
            return Err(ProofError::Note("too many signatures"));
        }
        let signatures = lines
            .split('\n')
            .map(Signature::parse)
            .collect::<Result<_, _>>()?;
        Ok(Self { text, signatures })
    }

    /// The text, if at least one of the keys signed it and every signature that names one of the keys is valid.
    /// Signatures of unknown keys are ignored.
    pub fn verify(&self, keys: &[VerifierKey]) -> Result<&str, ProofError> {
        match self.signers(keys)?.is_empty() {
            true => Err(ProofError::Untrusted),
            false => Ok(&self.text),
        }
    }

    /// The keys among `keys` that signed, each once, with the latest time stated. Signatures of unknown keys are
    /// ignored; an invalid signature that names one of the keys is an error.
    pub fn signers<'k>(&self, keys: &'k [VerifierKey]) -> Result<Vec<NoteSigner<'k>>, ProofError> {
        let mut signers: Vec<NoteSigner<'k>> = Vec::new();
        for signature in &self.signatures {
            let Some(key) = keys.iter().find(|key| signature.names(key)) else {
                continue;
            };
            let time = key.check(&self.text, &signature.bytes)?;
            match signers.iter_mut().find(|signer| signer.key == key) {
                Some(signer) => signer.time = signer.time.max(time),
                None => signers.push(NoteSigner { key, time }),
            }
        }
        Ok(signers)
    }

    /// The witnesses that cosigned, each with the time. Cosignatures with a time after `latest` do not count.
    ///
    /// # Errors
    /// As [`SignedNote::signers`].
    pub fn cosigners<'k>(
        &self,
        witnesses: &'k [VerifierKey],
        latest: UnixTime,
    ) -> Result<Vec<(&'k VerifierKey, UnixTime)>, ProofError> {
        let signers = self.signers(witnesses)?.into_iter();
        let timely =
            |NoteSigner { key, time }| time.filter(|time| *time <= latest).map(|time| (key, time));
        Ok(signers.filter_map(timely).collect())
    }

    /// The text. It is untrusted until its signers are known.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }
}

impl fmt::Display for SignedNote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.text)?;
        for Signature {
            name,
            key_id,
            bytes,
        } in &self.signatures
        {
            let encoded = base64_encode(&[key_id.as_slice(), bytes].concat());
            writeln!(f, "{SIGNATURE_LINE}{name} {encoded}")?;
        }
        Ok(())
    }
}

impl Signature {
    /// Whether the signature line names this key.
    pub(crate) fn names(&self, key: &VerifierKey) -> bool {
        key.name == self.name && key.key_id == self.key_id
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub(crate) fn parse(line: &str) -> Result<Self, ProofError> {
        const BAD: ProofError = ProofError::Note("a signature line is malformed");
        let (name, encoded) = line
            .strip_prefix(SIGNATURE_LINE)
            .and_then(|l| l.split_once(' '))
            .ok_or(BAD)?;
        if !is_key_name(name) {
            return Err(BAD);
        }
        let decoded = base64_decode(encoded).map_err(|_| BAD)?;
        match decoded.split_first_chunk::<4>() {
            Some((key_id, bytes)) if !bytes.is_empty() => Ok(Self {
                name: name.to_owned(),
                key_id: *key_id,
                bytes: bytes.to_vec(),
            }),
            _ => Err(BAD),
        }
    }
}

impl VerifierKey {
    /// An Ed25519 key with its name.
    pub fn new(name: &str, key: &PublicKey) -> Result<Self, ProofError> {
        Self::of_kind(NoteKind::Ed25519, name, key)
    }

    /// The Ed25519 key of a witness with its name.
    pub fn witness(name: &str, key: &PublicKey) -> Result<Self, ProofError> {
        Self::of_kind(NoteKind::Cosignature, name, key)
    }

    /// Whether this is the key of a witness.
    pub fn is_witness(&self) -> bool {
        self.kind == NoteKind::Cosignature
    }

    fn of_kind(kind: NoteKind, name: &str, key: &PublicKey) -> Result<Self, ProofError> {
        if !is_key_name(name) {
            return Err(ProofError::VerifierKey(
                "its name is empty or has a space or a plus",
            ));
        }
        let raw = raw_ed25519(key)?;
        Ok(Self {
            name: name.to_owned(),
            kind,
            key_id: key_id(name, kind, &raw),
            key: key.clone(),
        })
    }

    /// The name the key signs under.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The public key.
    pub fn public_key(&self) -> &PublicKey {
        &self.key
    }

    /// Verifies a signature. Returns when it was made, if it states a time.
    pub(crate) fn check(
        &self,
        text: &str,
        signature: &[u8],
    ) -> Result<Option<UnixTime>, ProofError> {
        let verified = |message: &[u8], signature: &[u8]| {
            self.key
                .verify(Algorithm::EdDsa, message, signature)
                .map_err(|_| ProofError::BadSignature)
        };
        if self.kind == NoteKind::Ed25519 {
            return verified(text.as_bytes(), signature).map(|()| None);
        }
        let (time, signature) = signature
            .split_first_chunk::<8>()
            .ok_or(ProofError::BadSignature)?;
        let time = UnixTime(u64::from_be_bytes(*time));
        let message = cosigned(text, time).map_err(|_| ProofError::BadSignature)?;
        verified(&message, signature)?;
        Ok(Some(time))
    }
}

/// The bytes that a witness signs at a time (C2SP tlog-cosignature, Ed25519 signed message). Its signature consists of
/// the time (8 bytes, big endian) and the signature over these bytes.
pub fn cosigned(text: &str, time: UnixTime) -> Result<Vec<u8>, ProofError> {
    if i64::try_from(time.0).is_err() {
        return Err(ProofError::Note("the time of a cosignature is too late"));
    }
    Ok(format!("cosignature/v1\ntime {}\n{text}", time.0).into_bytes())
}

impl FromStr for VerifierKey {
    type Err = ProofError;

    fn from_str(vkey: &str) -> Result<Self, ProofError> {
        let bad = ProofError::VerifierKey;
        // Names cannot contain a plus sign, base64 can.
        let mut parts = vkey.splitn(3, '+');
        let (Some(name), Some(id), Some(key)) = (parts.next(), parts.next(), parts.next()) else {
            return Err(bad("it has not three parts"));
        };
        let typed = base64_decode(key).map_err(|_| bad("its key is not base64"))?;
        let (kind, raw) = match typed.split_first() {
            Some((&ED25519, raw)) => (NoteKind::Ed25519, raw),
            Some((&COSIGNATURE, raw)) => (NoteKind::Cosignature, raw),
            _ => return Err(bad("it is not an Ed25519 key")),
        };
        let key = PublicKey::from_multicodec(&[ED25519_MULTICODEC.as_slice(), raw].concat())
            .map_err(|_| bad("it is not an Ed25519 key"))?;
        let key = Self::of_kind(kind, name, &key)?;
        match hex_decode(id) {
            Ok(id) if id == key.key_id => Ok(key),
            _ => Err(bad("its id does not belong to its name and key")),
        }
    }
}

impl fmt::Display for VerifierKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let raw = raw_ed25519(&self.key).map_err(|_| fmt::Error)?;
        let key = base64_encode(&[&[self.kind.byte()], raw.as_slice()].concat());
        write!(f, "{}+{}+{key}", self.name, hex_encode(&self.key_id))
    }
}

impl NoteKind {
    /// The signature type (C2SP signed-note).
    fn byte(self) -> u8 {
        match self {
            Self::Ed25519 => ED25519,
            Self::Cosignature => COSIGNATURE,
        }
    }
}

fn raw_ed25519(key: &PublicKey) -> Result<Vec<u8>, ProofError> {
    const BAD: ProofError = ProofError::VerifierKey("it is not an Ed25519 key");
    if key.key_type() != KeyType::Ed25519 {
        return Err(BAD);
    }
    let multicodec = key.to_multicodec();
    multicodec
        .strip_prefix(&ED25519_MULTICODEC)
        .map(<[u8]>::to_vec)
        .ok_or(BAD)
}

/// The first four bytes of SHA-256(name || 0x0A || signature type || public key).
fn key_id(name: &str, kind: NoteKind, raw: &[u8]) -> [u8; 4] {
    let [a, b, c, d, ..] = sha256_parts(&[name.as_bytes(), &[0x0a, kind.byte()], raw]);
    [a, b, c, d]
}

fn is_key_name(name: &str) -> bool {
    !name.is_empty() && !name.contains(|c: char| is_space(c) || c.is_control() || c == '+')
}

/// White_Space of Unicode 17. It is fixed here because the permitted names of validators must not change with the
/// compiler.
fn is_space(c: char) -> bool {
    matches!(c, '\t'..='\r' | ' ' | '\u{85}' | '\u{a0}' | '\u{1680}' | '\u{2000}'..='\u{200a}')
        || matches!(
            c,
            '\u{2028}' | '\u{2029}' | '\u{202f}' | '\u{205f}' | '\u{3000}'
        )
}

/// The text must end in a newline and have no other control characters. A text of a newline alone would be taken for
/// the empty line.
fn check_text(text: &str) -> Result<(), ProofError> {
    if text.len() > MAX_NOTE_BYTES {
        return Err(ProofError::Note("it is too long"));
    }
    if text.len() < 2 || !text.ends_with('\n') {
        return Err(ProofError::Note(
            "its text is empty or does not end in a newline",
        ));
    }
    if text.contains(|c: char| c < ' ' && c != '\n') {
        return Err(ProofError::Note("its text has control characters"));
    }
    Ok(())
}

#[cfg(test)]
mod tests;
