//! Certificate, CertificateRequest, CertificateVerify and NewSessionTicket (RFC 8446 §4.3.2, §4.4, §4.6.1).

use super::extension::{ExtensionPlace, Extensions};
use super::reader::{CodecReader, list, some};
use super::writer::Writer;
use crate::alert::Refusal;
use crate::named::Scheme;
use crate::profile::Profile;

/// Maximum number of certificates in a chain.
const MAX_ENTRIES: usize = 16;

/// A certificate chain; empty if a client has none.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct CertificateChain {
    /// `certificate_request_context`.
    pub context: Vec<u8>,
    /// The certificates, the sender's own first.
    pub entries: Vec<CertificateEntry>,
}

/// A certificate with its extensions.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct CertificateEntry {
    /// The certificate as DER.
    pub data: Vec<u8>,
    /// Its extensions.
    pub extensions: Extensions,
}

impl CertificateChain {
    pub(super) fn parse(body: &[u8], profile: &Profile) -> Result<Self, Refusal> {
        let mut reader = CodecReader::new(body);
        let context = reader.vector8()?.to_vec();
        let mut left = MAX_ENTRIES;
        let entries = list(reader.vector24()?, |entry| {
            left = left
                .checked_sub(1)
                .ok_or(Refusal::decode("too many certificates"))?;
            let data = some(entry.vector24()?.to_vec())?;
            let extensions = Extensions::read(entry, ExtensionPlace::Certificate, profile)?;
            Ok(CertificateEntry { data, extensions })
        })?;
        reader.finish()?;
        Ok(Self { context, entries })
    }

    pub(super) fn write(&self, writer: &mut Writer, profile: &Profile) {
        writer.vector8(|writer| writer.raw(&self.context));
        writer.vector24(|writer| {
            for entry in &self.entries {
                writer.vector24(|writer| writer.raw(&entry.data));
                entry.extensions.write(writer, profile);
            }
        });
    }
}

/// The server's request for a client certificate.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct CertificateRequest {
    /// `certificate_request_context`, empty in a handshake.
    pub context: Vec<u8>,
    /// What the certificate has to fulfil.
    pub extensions: Extensions,
}

impl CertificateRequest {
    pub(super) fn parse(body: &[u8], profile: &Profile) -> Result<Self, Refusal> {
        let mut reader = CodecReader::new(body);
        let context = reader.vector8()?.to_vec();
        let extensions =
            Extensions::read(&mut reader, ExtensionPlace::CertificateRequest, profile)?;
        reader.finish()?;
        Ok(Self {
            context,
            extensions,
        })
    }

    pub(super) fn write(&self, writer: &mut Writer, profile: &Profile) {
        writer.vector8(|writer| writer.raw(&self.context));
        self.extensions.write(writer, profile);
    }
}

/// CertificateVerify, and DIDVerify, which has the same format.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct CertificateVerify {
    /// The signature scheme.
    pub scheme: Scheme,
    /// The signature over the handshake so far.
    pub signature: Vec<u8>,
}

impl CertificateVerify {
    pub(super) fn parse(body: &[u8]) -> Result<Self, Refusal> {
        let mut reader = CodecReader::new(body);
        let scheme = Scheme(reader.u16()?);
        let signature = reader.vector16()?.to_vec();
        reader.finish()?;
        Ok(Self { scheme, signature })
    }

    pub(super) fn write(&self, writer: &mut Writer) {
        writer.u16(self.scheme.0);
        writer.vector16(|writer| writer.raw(&self.signature));
    }
}

/// NewSessionTicket.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Ticket {
    /// Lifetime in seconds.
    pub lifetime: u32,
    /// Added to the ticket's age on the wire.
    pub age_add: u32,
    /// Makes the key of each ticket unique.
    pub nonce: Vec<u8>,
    /// The ticket.
    pub ticket: Vec<u8>,
    /// Its extensions.
    pub extensions: Extensions,
}

impl Ticket {
    pub(super) fn parse(body: &[u8], profile: &Profile) -> Result<Self, Refusal> {
        let mut reader = CodecReader::new(body);
        let (lifetime, age_add) = (reader.u32()?, reader.u32()?);
        let nonce = reader.vector8()?.to_vec();
        let ticket = some(reader.vector16()?.to_vec())?;
        let extensions = Extensions::read(&mut reader, ExtensionPlace::NewSessionTicket, profile)?;
        reader.finish()?;
        Ok(Self {
            lifetime,
            age_add,
            nonce,
            ticket,
            extensions,
        })
    }

    pub(super) fn write(&self, writer: &mut Writer, profile: &Profile) {
        writer.u32(self.lifetime);
        writer.u32(self.age_add);
        writer.vector8(|writer| writer.raw(&self.nonce));
        writer.vector16(|writer| writer.raw(&self.ticket));
        self.extensions.write(writer, profile);
    }
}
