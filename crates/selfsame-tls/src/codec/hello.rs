//! ClientHello, ServerHello and HelloRetryRequest (RFC 8446 §4.1).

use super::extension::{ExtensionPlace, Extensions};
use super::reader::{CodecReader, list, some};
use super::writer::Writer;
use crate::alert::{Alert, Refusal};
use crate::named::Suite;
use crate::profile::Profile;

/// The version in the hello's legacy field.
const LEGACY_VERSION: u16 = 0x0303;
/// The random value that marks a ServerHello as a HelloRetryRequest: the SHA-256 of "HelloRetryRequest" (§4.1.3).
const RETRY_RANDOM: [u8; 32] = [
    0xcf, 0x21, 0xad, 0x74, 0xe5, 0x9a, 0x61, 0x11, 0xbe, 0x1d, 0x8c, 0x02, 0x1e, 0x65, 0xb8, 0x91,
    0xc2, 0xa2, 0x11, 0x16, 0x7a, 0xbb, 0x8c, 0x5e, 0x07, 0x9e, 0x09, 0xe2, 0xc8, 0xa8, 0x33, 0x9c,
];

/// The first message: what the client supports.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ClientHello {
    /// `legacy_version`; the actual version is in an extension.
    pub legacy_version: u16,
    /// 32 random bytes.
    pub random: [u8; 32],
    /// `legacy_session_id`, at most 32 bytes, which the server echoes.
    pub session_id: Vec<u8>,
    /// The cipher suites, the preferred first.
    pub suites: Vec<Suite>,
    /// `legacy_compression_methods`; TLS 1.3 only has "null" (0).
    pub compression: Vec<u8>,
    /// The extensions, in order.
    pub extensions: Extensions,
}

impl ClientHello {
    /// A TLS 1.3 hello.
    pub fn new(random: [u8; 32], suites: Vec<Suite>, extensions: Extensions) -> Self {
        Self {
            legacy_version: LEGACY_VERSION,
            random,
            session_id: Vec::new(),
            suites,
            compression: vec![0],
            extensions,
        }
    }

    pub(super) fn parse(body: &[u8], profile: &Profile) -> Result<Self, Refusal> {
        let mut reader = CodecReader::new(body);
        let legacy_version = reader.u16()?;
        let random = reader.array()?;
        let session_id = session_id(&mut reader)?;
        let suites = list(reader.vector16()?, |suite| suite.u16().map(Suite))?;
        let suites = some(suites)?;
        let compression = some(reader.vector8()?.to_vec())?;
        if reader.is_empty() {
            let reason = "a hello without extensions, as of an older version";
            return Err(Refusal::new(Alert::ProtocolVersion, reason));
        }
        let extensions = Extensions::read(&mut reader, ExtensionPlace::ClientHello, profile)?;
        reader.finish()?;
        Ok(Self {
            legacy_version,
            random,
            session_id,
            suites,
            compression,
            extensions,
        })
    }

    pub(super) fn write(&self, writer: &mut Writer, profile: &Profile) {
        writer.u16(self.legacy_version);
        writer.raw(&self.random);
        writer.vector8(|writer| writer.raw(&self.session_id));
        writer.vector16(|writer| self.suites.iter().for_each(|suite| writer.u16(suite.0)));
        writer.vector8(|writer| writer.raw(&self.compression));
        self.extensions.write(writer, profile);
    }
}

/// The server's choice, or its request for a second hello (HelloRetryRequest).
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ServerHello {
    /// `legacy_version`, always 0x0303.
    pub legacy_version: u16,
    /// 32 random bytes; a constant in a HelloRetryRequest.
    pub random: [u8; 32],
    /// The client's session id.
    pub session_id: Vec<u8>,
    /// The cipher suite.
    pub suite: Suite,
    /// The extensions, in order.
    pub extensions: Extensions,
}

impl ServerHello {
    /// A ServerHello; without `random`, a HelloRetryRequest.
    pub fn new(random: Option<[u8; 32]>, suite: Suite, extensions: Extensions) -> Self {
        Self {
            legacy_version: LEGACY_VERSION,
            random: random.unwrap_or(RETRY_RANDOM),
            session_id: Vec::new(),
            suite,
            extensions,
        }
    }

    /// Whether it is a HelloRetryRequest.
    pub fn is_retry(&self) -> bool {
        self.random == RETRY_RANDOM
    }

    /// Whether the legacy version is that of TLS 1.3; the extensions are not checked.
    pub(crate) fn has_legacy_version(&self) -> bool {
        self.legacy_version == LEGACY_VERSION
    }

    pub(super) fn parse(body: &[u8], profile: &Profile) -> Result<Self, Refusal> {
        let mut reader = CodecReader::new(body);
        let legacy_version = reader.u16()?;
        let random = reader.array()?;
        let session_id = session_id(&mut reader)?;
        let suite = Suite(reader.u16()?);
        if reader.u8()? != 0 {
            return Err(Refusal::illegal("the server chose a compression method"));
        }
        if reader.is_empty() {
            let reason = "the server speaks an older version";
            return Err(Refusal::new(Alert::ProtocolVersion, reason));
        }
        let place = match random == RETRY_RANDOM {
            true => ExtensionPlace::HelloRetryRequest,
            false => ExtensionPlace::ServerHello,
        };
        let extensions = Extensions::read(&mut reader, place, profile)?;
        reader.finish()?;
        Ok(Self {
            legacy_version,
            random,
            session_id,
            suite,
            extensions,
        })
    }

    pub(super) fn write(&self, writer: &mut Writer, profile: &Profile) {
        writer.u16(self.legacy_version);
        writer.raw(&self.random);
        writer.vector8(|writer| writer.raw(&self.session_id));
        writer.u16(self.suite.0);
        writer.u8(0);
        self.extensions.write(writer, profile);
    }
}

fn session_id(reader: &mut CodecReader<'_>) -> Result<Vec<u8>, Refusal> {
    let id = reader.vector8()?;
    match id.len() {
        0..=32 => Ok(id.to_vec()),
        _ => Err(Refusal::decode("a session id of more than 32 bytes")),
    }
}
