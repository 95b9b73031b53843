//! What the paper adds: `ssi_parameters`, and the bodies of the messages VC and DID.

use super::reader::Reader;
use super::writer::Writer;
use crate::alert::Refusal;
use crate::profile::Profile;

/// How a server shall prove who it is; the paper's AuthenticationMode.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Mode {
    /// By a certificate; the client may still have an identity of its own to show.
    Certificate,
    /// By a DID.
    Did,
    /// By a verifiable credential.
    Vc,
}

/// The extension `ssi_parameters`.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct SsiParameters {
    /// The mode that is asked for.
    pub mode: Mode,
    /// The codes of the DID methods that can be resolved; empty exactly with [`Mode::Certificate`].
    pub methods: Vec<u8>,
}

impl SsiParameters {
    pub(super) fn parse(body: &[u8]) -> Result<Self, Refusal> {
        let mut reader = Reader::new(body);
        let mode = match reader.u8()? {
            0 => Mode::Certificate,
            1 => Mode::Did,
            2 => Mode::Vc,
            _ => {
                return Err(Refusal::illegal(
                    "an authentication mode that does not exist",
                ));
            }
        };
        let methods = reader.vector8()?.to_vec();
        reader.finish()?;
        match (mode, methods.is_empty()) {
            (Mode::Certificate, false) => Err(Refusal::illegal("DID methods without a mode")),
            (Mode::Did | Mode::Vc, true) => Err(Refusal::decode("a mode without DID methods")),
            _ => Ok(Self { mode, methods }),
        }
    }

    pub(super) fn write(&self, writer: &mut Writer) {
        writer.u8(match self.mode {
            Mode::Certificate => 0,
            Mode::Did => 1,
            Mode::Vc => 2,
        });
        writer.vector8(|writer| writer.raw(&self.methods));
    }
}

/// The message DID.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct DidMessage {
    /// The method's code.
    pub method: u8,
    /// The DID, as text in ASCII.
    pub did: Vec<u8>,
}

impl DidMessage {
    pub(super) fn parse(body: &[u8], profile: &Profile) -> Result<Self, Refusal> {
        let mut reader = Reader::new(body);
        context(&mut reader, profile)?;
        let method = reader.u8()?;
        let did = reader.vector16()?.to_vec();
        reader.finish()?;
        Ok(Self { method, did })
    }

    pub(super) fn write(&self, writer: &mut Writer, profile: &Profile) {
        write_context(writer, profile);
        writer.u8(self.method);
        writer.vector16(|writer| writer.raw(&self.did));
    }
}

/// Reads the message VC: the credential's bytes.
pub(super) fn parse_vc(body: &[u8], profile: &Profile) -> Result<Vec<u8>, Refusal> {
    let mut reader = Reader::new(body);
    context(&mut reader, profile)?;
    let vc = reader.vector16()?.to_vec();
    reader.finish()?;
    Ok(vc)
}

/// Writes the message VC.
pub(super) fn write_vc(vc: &[u8], writer: &mut Writer, profile: &Profile) {
    write_context(writer, profile);
    writer.vector16(|writer| writer.raw(vc));
}

/// The empty request context that the authors' code has and their paper has not.
pub(super) fn context(reader: &mut Reader<'_>, profile: &Profile) -> Result<(), Refusal> {
    if profile.has_context && !reader.vector8()?.is_empty() {
        return Err(Refusal::illegal("a request context in a handshake"));
    }
    Ok(())
}

pub(super) fn write_context(writer: &mut Writer, profile: &Profile) {
    if profile.has_context {
        writer.vector8(|_| {});
    }
}
