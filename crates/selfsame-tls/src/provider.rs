//! The only module that uses rustls: suites, groups, key derivation and record protection of its aws-lc provider.

mod signing;
mod verifying;

use std::fmt;

use rustls::crypto::aws_lc_rs::{cipher_suite, kx_group};
use rustls::crypto::cipher::{
    InboundOpaqueMessage, MessageDecrypter, MessageEncrypter, OutboundChunks, OutboundPlainMessage,
};
use rustls::crypto::tls13::{HkdfExpander, OkmBlock};
use rustls::crypto::{ActiveKeyExchange, SharedSecret, SupportedKxGroup, hash};
use rustls::{ContentType as RustlsType, Error as RustlsError, ProtocolVersion, Tls13CipherSuite};

use crate::alert::{Alert, Refusal};
use crate::codec::{ContentType, MAX_CIPHERTEXT};
use crate::named::{Group, Suite};

pub use signing::SigningKey;
pub(crate) use verifying::{CERTIFICATE_SCHEMES, SCHEMES, algorithm, certificate_algorithms};

const FAILED: Refusal = Refusal::internal("the cryptographic library failed");

/// A supported cipher suite.
#[derive(Clone, Copy)]
pub(crate) struct Cipher(&'static Tls13CipherSuite);

impl fmt::Debug for Cipher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.suite(), f)
    }
}

impl Cipher {
    pub(crate) fn new(suite: Suite) -> Option<Self> {
        let supported = match suite {
            Suite::AES_128_GCM_SHA256 => &cipher_suite::TLS13_AES_128_GCM_SHA256,
            Suite::AES_256_GCM_SHA384 => &cipher_suite::TLS13_AES_256_GCM_SHA384,
            Suite::CHACHA20_POLY1305_SHA256 => &cipher_suite::TLS13_CHACHA20_POLY1305_SHA256,
            _ => return None,
        };
        supported.tls13().map(Self)
    }

    pub(crate) fn suite(self) -> Suite {
        Suite(u16::from(self.0.common.suite))
    }

    /// Maximum number of records that one key may protect (RFC 8446 §5.5).
    pub(crate) fn limit(self) -> u64 {
        self.0.common.confidentiality_limit
    }

    pub(crate) fn hash(self, data: &[u8]) -> hash::Output {
        self.0.common.hash_provider.hash(data)
    }

    pub(crate) fn hash_len(self) -> usize {
        self.0.common.hash_provider.output_len()
    }

    pub(crate) fn start_hash(self) -> Box<dyn hash::Context> {
        self.0.common.hash_provider.start()
    }

    /// HKDF-Extract with `salt`, of zeros if there is no secret. It is HMAC (RFC 5869 §2.2), computed here: the
    /// library's own would extract again for each output.
    pub(crate) fn extract(self, salt: Option<&OkmBlock>, secret: Option<&[u8]>) -> Expander {
        let zeros = [0; OkmBlock::MAX_LEN];
        let zeros = OkmBlock::new(zeros.get(..self.hash_len()).unwrap_or(&zeros));
        let (salt, secret) = (salt.unwrap_or(&zeros), secret.unwrap_or(zeros.as_ref()));
        let extracted = self.0.hkdf_provider.hmac_sign(salt, secret);
        self.expander(&OkmBlock::new(extracted.as_ref()))
    }

    pub(crate) fn expander(self, secret: &OkmBlock) -> Expander {
        Expander(self.0.hkdf_provider.expander_for_okm(secret))
    }

    pub(crate) fn mac(self, key: &OkmBlock, message: &[u8]) -> Vec<u8> {
        self.0
            .hkdf_provider
            .hmac_sign(key, message)
            .as_ref()
            .to_vec()
    }

    pub(crate) fn sealer(self, secret: &OkmBlock) -> Sealer {
        // rustls' public API only makes keys of 32 bytes; only this hidden function makes those of AES-128.
        let expander = self.expander(secret).0;
        let key = rustls::internal::derive_traffic_key(expander.as_ref(), self.0.aead_alg);
        let iv = rustls::internal::derive_traffic_iv(expander.as_ref());
        Sealer(self.0.aead_alg.encrypter(key, iv))
    }

    pub(crate) fn opener(self, secret: &OkmBlock) -> Opener {
        let expander = self.expander(secret).0;
        let key = rustls::internal::derive_traffic_key(expander.as_ref(), self.0.aead_alg);
        let iv = rustls::internal::derive_traffic_iv(expander.as_ref());
        Opener(self.0.aead_alg.decrypter(key, iv))
    }
}

pub(crate) use rustls::crypto::hash::{Context as HashContext, Output as HashOutput};
/// A secret of the key schedule, as long as the hash; wiped when dropped.
pub(crate) use rustls::crypto::tls13::OkmBlock as Block;

/// Expands secrets from a secret.
pub(crate) struct Expander(Box<dyn HkdfExpander>);

impl Expander {
    pub(crate) fn block(&self, info: &[&[u8]]) -> OkmBlock {
        self.0.expand_block(info)
    }

    pub(crate) fn fill(&self, info: &[&[u8]], output: &mut [u8]) -> Result<(), Refusal> {
        let filled = self.0.expand_slice(info, output);
        filled.map_err(|_| Refusal::internal("more key material is requested than available"))
    }
}

/// Protects records.
pub(crate) struct Sealer(Box<dyn MessageEncrypter>);

impl Sealer {
    /// A complete record, including its header, with `padding` zeros after its content and type.
    pub(crate) fn seal(
        &mut self,
        content: ContentType,
        padding: usize,
        bytes: &[u8],
        sequence: u64,
    ) -> Result<Vec<u8>, Refusal> {
        // rustls does not pad, but appends the type to the content. So a padded record has content that ends with its
        // type and all zeros but the last, and the last zero as its type.
        let (code, zeros) = ([content.code()], vec![0; padding]);
        let (typ, parts) = match zeros.split_last() {
            None => (content.code(), [bytes, &[], &[]]),
            Some((last, zeros)) => (*last, [bytes, &code, zeros]),
        };
        let plain = OutboundPlainMessage {
            typ: RustlsType::from(typ),
            version: ProtocolVersion::TLSv1_3,
            payload: match padding {
                0 => OutboundChunks::Single(bytes),
                _ => OutboundChunks::new(&parts),
            },
        };
        let sealed = self.0.encrypt(plain, sequence).map_err(|_| FAILED)?;
        Ok(sealed.encode())
    }
}

/// Opens protected records.
pub(crate) struct Opener(Box<dyn MessageDecrypter>);

impl Opener {
    /// The content of the record's ciphertext, without padding.
    pub(crate) fn open(
        &mut self,
        ciphertext: &mut [u8],
        sequence: u64,
    ) -> Result<(ContentType, Vec<u8>), Refusal> {
        if ciphertext.len() > MAX_CIPHERTEXT {
            return Err(Refusal::new(Alert::RecordOverflow, "a record is too long"));
        }
        let (outer, version) = (RustlsType::ApplicationData, ProtocolVersion::TLSv1_2);
        let sealed = InboundOpaqueMessage::new(outer, version, ciphertext);
        let plain = self
            .0
            .decrypt(sealed, sequence)
            .map_err(|error| match error {
                RustlsError::DecryptError => {
                    Refusal::new(Alert::BadRecordMac, "a record can't be decrypted")
                }
                RustlsError::PeerSentOversizedRecord => {
                    Refusal::new(Alert::RecordOverflow, "a record is too long")
                }
                _ => Refusal::unexpected("a protected record is malformed"),
            })?;
        let content = ContentType::from_code(u8::from(plain.typ))
            .ok_or(Refusal::unexpected("a protected record of an unknown type"))?;
        Ok((content, plain.payload.to_vec()))
    }
}

/// A key exchange that awaits the peer's share.
pub(crate) struct KeyExchange(Box<dyn ActiveKeyExchange>);

impl fmt::Debug for KeyExchange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("KeyExchange")
    }
}

/// The shared secret, wiped on drop.
pub(crate) struct AgreedSecret(SharedSecret);

impl AgreedSecret {
    pub(crate) fn bytes(&self) -> &[u8] {
        self.0.secret_bytes()
    }
}

fn group(named: Group) -> Option<&'static dyn SupportedKxGroup> {
    match named {
        Group::X25519 => Some(kx_group::X25519),
        Group::SECP256R1 => Some(kx_group::SECP256R1),
        Group::SECP384R1 => Some(kx_group::SECP384R1),
        Group::X25519_MLKEM768 => Some(kx_group::X25519MLKEM768),
        _ => None,
    }
}

pub(crate) fn has_group(named: Group) -> bool {
    group(named).is_some()
}

impl KeyExchange {
    /// Begins an exchange with a new key, from the library's own randomness.
    pub(crate) fn start(named: Group) -> Result<Self, Refusal> {
        let group = group(named).ok_or(FAILED)?;
        group.start().map(Self).map_err(|_| FAILED)
    }

    /// Our share and its group.
    pub(crate) fn share(&self) -> (Group, &[u8]) {
        (Group(u16::from(self.0.group())), self.0.pub_key())
    }

    /// The share of a hybrid's classical component.
    pub(crate) fn share_within(&self) -> Option<(Group, &[u8])> {
        let (group, share) = self.0.hybrid_component()?;
        Some((Group(u16::from(group)), share))
    }

    /// Completes the exchange with a peer's share, for the group or its classical component.
    pub(crate) fn complete(self, named: Group, peer: &[u8]) -> Result<AgreedSecret, Refusal> {
        let secret = match self.share().0 == named {
            true => self.0.complete(peer),
            false => self.0.complete_hybrid_component(peer),
        };
        secret.map(AgreedSecret).map_err(|_| BAD_SHARE)
    }

    /// Answers a peer's share: returns our share and the secret.
    pub(crate) fn answer(named: Group, peer: &[u8]) -> Result<(Vec<u8>, AgreedSecret), Refusal> {
        let group = group(named).ok_or(FAILED)?;
        let done = group.start_and_complete(peer).map_err(|_| BAD_SHARE)?;
        Ok((done.pub_key, AgreedSecret(done.secret)))
    }
}

const BAD_SHARE: Refusal = Refusal::illegal("a key share is not a public key of its group");
