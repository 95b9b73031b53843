//! The content of a ticket, which the server seals: the client's identity, when it was proved, the policy, the secret.

use std::fmt;

use selfsame_credential::status::Reference;
use selfsame_credential::validity::Validity;
use selfsame_crypto::time::UnixTime;
use selfsame_did::Did;
use serde_json::{Value, json};
use zeroize::Zeroizing;

use crate::codec::{CodecReader, Vc, Writer};
use crate::identity::{Credential, Peer, PeerKind};
use crate::named::{Suite, VcFormat};
use crate::provider::Block;

/// Maximum bytes of a ticket; a client whose identity does not fit gets none.
const MAX_BYTES: usize = 16 * 1024;

/// A ticket's content.
pub(crate) struct Ticketed {
    pub(crate) suite: Suite,
    pub(crate) secret: Block,
    /// The server's configuration when the ticket was issued, as a digest.
    pub(crate) policy: [u8; 32],
    /// The identity that the client wanted, as a hash.
    pub(crate) wishes: [u8; 32],
    pub(crate) protocol: Option<Vec<u8>>,
    /// The status epoch when the ticket was issued.
    pub(crate) epoch: u64,
    pub(crate) verified_at: UnixTime,
    pub(crate) until: UnixTime,
    /// When the ticket was issued.
    pub(crate) issued_at: UnixTime,
    /// Added by the client to the age it sends.
    pub(crate) age_add: u32,
    /// Maximum bytes of early data with it.
    pub(crate) early: u32,
    /// The client.
    pub(crate) peer: Peer,
}

impl fmt::Debug for Ticketed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Ticketed(secret)")
    }
}

const ANONYMOUS: u8 = 0;
const CERTIFICATE: u8 = 1;
const DID: u8 = 2;
const CREDENTIAL: u8 = 3;

impl Ticketed {
    /// The bytes to be sealed; `None` if they are too long.
    pub(crate) fn write(&self) -> Option<Zeroizing<Vec<u8>>> {
        // Allocated in full at the start, so that growing leaves no copy of the secret in freed memory.
        let mut writer = Writer::with_capacity(MAX_BYTES);
        writer.u16(self.suite.0);
        writer.vector8(|writer| writer.raw(self.secret.as_ref()));
        writer.raw(&self.policy);
        writer.raw(&self.wishes);
        writer.vector8(|writer| writer.raw(self.protocol.as_deref().unwrap_or_default()));
        writer.u64(self.epoch);
        writer.u64(self.verified_at.0);
        writer.u64(self.until.0);
        writer.u64(self.issued_at.0);
        writer.u32(self.age_add);
        writer.u32(self.early);
        write_time(&mut writer, self.peer.verdict.as_of.map(UnixTime));
        write_time(&mut writer, self.peer.until);
        let key = self.peer.key.as_ref().map(<[u8; 32]>::as_slice);
        writer.vector8(|writer| writer.raw(key.unwrap_or_default()));
        write_kind(&mut writer, &self.peer.kind);
        let bytes = Zeroizing::new(writer.finish().ok()?);
        (bytes.len() <= MAX_BYTES).then_some(bytes)
    }

    /// Reads what [`Ticketed::write`] wrote; `None` for another version.
    pub(crate) fn read(bytes: &[u8]) -> Option<Self> {
        let mut reader = CodecReader::new(bytes);
        let suite = Suite(reader.u16().ok()?);
        let secret = match reader.vector8().ok()? {
            secret if [32, 48].contains(&secret.len()) => Block::new(secret),
            _ => return None,
        };
        let (policy, wishes) = (reader.array().ok()?, reader.array().ok()?);
        let protocol = reader.vector8().ok()?;
        let epoch = reader.u64().ok()?;
        let verified_at = UnixTime(reader.u64().ok()?);
        let until = UnixTime(reader.u64().ok()?);
        let issued_at = UnixTime(reader.u64().ok()?);
        let (age_add, early) = (reader.u32().ok()?, reader.u32().ok()?);
        let as_of = read_time(&mut reader)?;
        let end = read_time(&mut reader)?;
        let key = match reader.vector8().ok()? {
            [] => None,
            key => Some(key.try_into().ok()?),
        };
        let kind = read_kind(&mut reader)?;
        reader.finish().ok()?;
        Some(Self {
            suite,
            secret,
            policy,
            wishes,
            protocol: (!protocol.is_empty()).then(|| protocol.to_vec()),
            epoch,
            verified_at,
            until,
            issued_at,
            age_add,
            early,
            peer: Peer {
                key,
                until: end,
                ..Peer::remembered(kind, as_of)
            },
        })
    }
}

fn write_kind(writer: &mut Writer, kind: &PeerKind) {
    match kind {
        PeerKind::Anonymous => writer.u8(ANONYMOUS),
        PeerKind::Certificate(chain) => {
            writer.u8(CERTIFICATE);
            writer.vector24(|writer| {
                for certificate in chain {
                    writer.vector24(|writer| writer.raw(certificate));
                }
            });
        }
        PeerKind::Did(did) => {
            writer.u8(DID);
            write_did(writer, did);
        }
        PeerKind::Credential(credential) => {
            writer.u8(CREDENTIAL);
            write_credential(writer, credential);
        }
    }
}

fn read_kind(reader: &mut CodecReader<'_>) -> Option<PeerKind> {
    Some(match reader.u8().ok()? {
        ANONYMOUS => PeerKind::Anonymous,
        CERTIFICATE => {
            let mut chain = CodecReader::new(reader.vector24().ok()?);
            let mut certificates = Vec::new();
            while !chain.is_empty() {
                certificates.push(chain.vector24().ok()?.to_vec());
            }
            PeerKind::Certificate(certificates)
        }
        DID => PeerKind::Did(read_did(reader)?),
        CREDENTIAL => PeerKind::Credential(Box::new(read_credential(reader)?)),
        _ => return None,
    })
}

fn write_credential(writer: &mut Writer, credential: &Credential) {
    let Credential {
        vc,
        issuer,
        key_id,
        subject,
        validity,
        types,
        claims,
        statuses,
    } = credential;
    writer.u8(vc.format.0);
    writer.vector24(|writer| writer.raw(&vc.bytes));
    write_did(writer, issuer);
    writer.vector16(|writer| writer.raw(key_id.as_bytes()));
    write_did(writer, subject);
    write_time(writer, validity.not_before);
    write_time(writer, validity.expires);
    // The parsed content, as JSON: the credential itself is not parsed again.
    let statuses: Vec<Value> = statuses.iter().map(Reference::to_value).collect();
    let read = json!([types, claims, statuses]);
    writer.vector24(|writer| writer.raw(read.to_string().as_bytes()));
}

fn read_credential(reader: &mut CodecReader<'_>) -> Option<Credential> {
    let format = VcFormat(reader.u8().ok()?);
    let bytes = reader.vector24().ok()?.to_vec();
    let issuer = read_did(reader)?;
    let key_id = String::from_utf8(reader.vector16().ok()?.to_vec()).ok()?;
    let subject = read_did(reader)?;
    let validity = Validity {
        not_before: read_time(reader)?,
        expires: read_time(reader)?,
    };
    let read = serde_json::from_slice(reader.vector24().ok()?).ok()?;
    let (types, claims, statuses): (_, _, Vec<Value>) = read;
    Some(Credential {
        vc: Vc { format, bytes },
        issuer,
        key_id,
        subject,
        validity,
        types,
        claims,
        statuses: statuses.iter().map(read_status).collect::<Option<_>>()?,
    })
}

fn read_status(status: &Value) -> Option<Reference> {
    match status.get("status_list") {
        Some(_) => Reference::in_jwt_claims(&json!({ "status": status })).ok()?,
        None => {
            let carried = json!({ "credentialStatus": status });
            Reference::in_credential(&carried).ok()?.pop()
        }
    }
}

fn write_did(writer: &mut Writer, did: &Did) {
    writer.vector16(|writer| writer.raw(did.as_str().as_bytes()));
}

fn read_did(reader: &mut CodecReader<'_>) -> Option<Did> {
    let text = std::str::from_utf8(reader.vector16().ok()?).ok()?;
    Did::parse(text).ok()
}

/// A time that may be missing, written as 0.
fn write_time(writer: &mut Writer, time: Option<UnixTime>) {
    writer.u64(time.map_or(0, |time| time.0));
}

fn read_time(reader: &mut CodecReader<'_>) -> Option<Option<UnixTime>> {
    let time = reader.u64().ok()?;
    Some((time != 0).then_some(UnixTime(time)))
}
