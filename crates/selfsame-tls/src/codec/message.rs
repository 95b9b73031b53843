//! Handshake messages (RFC 8446 §4): one type for all, with their numbers.

use super::certificate::{CertificateChain, CertificateRequest, CertificateVerify, Ticket};
use super::extension::{ExtensionPlace, Extensions};
use super::hello::{ClientHello, ServerHello};
use super::reader::CodecReader;
use super::ssi::{self, DidMessage, VcMessage};
use super::writer::Writer;
use crate::alert::Refusal;
use crate::profile::Profile;

/// Bytes of a message's header: type and length.
pub(crate) const HEADER: usize = 4;
const CLIENT_HELLO: u8 = 1;
const SERVER_HELLO: u8 = 2;
const NEW_SESSION_TICKET: u8 = 4;
const END_OF_EARLY_DATA: u8 = 5;
const ENCRYPTED_EXTENSIONS: u8 = 8;
const CERTIFICATE: u8 = 11;
const CERTIFICATE_REQUEST: u8 = 13;
const CERTIFICATE_VERIFY: u8 = 15;
const FINISHED: u8 = 20;
const KEY_UPDATE: u8 = 24;
/// The message that replaces the first hello after a HelloRetryRequest (§4.4.1); never sent.
pub(crate) const MESSAGE_HASH: u8 = 254;

/// The usual length of a message.
const USUAL_BYTES: usize = 512;

/// A handshake message.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Message {
    /// ClientHello.
    ClientHello(ClientHello),
    /// ServerHello or HelloRetryRequest.
    ServerHello(ServerHello),
    /// NewSessionTicket.
    NewSessionTicket(Ticket),
    /// EndOfEarlyData.
    EndOfEarlyData,
    /// EncryptedExtensions.
    EncryptedExtensions(Extensions),
    /// Certificate.
    Certificate(CertificateChain),
    /// CertificateRequest.
    CertificateRequest(CertificateRequest),
    /// CertificateVerify.
    CertificateVerify(CertificateVerify),
    /// Finished: the MAC over the handshake.
    Finished(Vec<u8>),
    /// KeyUpdate, and whether the peer should answer with one.
    KeyUpdate(bool),
    /// SSIRequest: the server's request for a DID or credential of the client.
    SsiRequest(Extensions),
    /// VC.
    Vc(VcMessage),
    /// DID.
    Did(DidMessage),
    /// DIDVerify.
    DidVerify(CertificateVerify),
}

impl Message {
    /// Reads exactly one message, including its header.
    pub fn parse(bytes: &[u8], profile: &Profile) -> Result<Self, Refusal> {
        let mut reader = CodecReader::new(bytes);
        let kind = reader.u8()?;
        let body = reader.vector24()?;
        reader.finish()?;
        match kind {
            CLIENT_HELLO => ClientHello::parse(body, profile).map(Self::ClientHello),
            SERVER_HELLO => ServerHello::parse(body, profile).map(Self::ServerHello),
            NEW_SESSION_TICKET => Ticket::parse(body, profile).map(Self::NewSessionTicket),
            END_OF_EARLY_DATA => CodecReader::new(body)
                .finish()
                .map(|()| Self::EndOfEarlyData),
            ENCRYPTED_EXTENSIONS => extensions(body, ExtensionPlace::EncryptedExtensions, profile)
                .map(Self::EncryptedExtensions),
            CERTIFICATE => CertificateChain::parse(body, profile).map(Self::Certificate),
            CERTIFICATE_REQUEST => {
                CertificateRequest::parse(body, profile).map(Self::CertificateRequest)
            }
            CERTIFICATE_VERIFY => CertificateVerify::parse(body).map(Self::CertificateVerify),
            FINISHED => Ok(Self::Finished(body.to_vec())),
            KEY_UPDATE => key_update(body).map(Self::KeyUpdate),
            _ => Self::parse_identity(kind, body, profile),
        }
    }

    /// Reads one of the paper's messages.
    fn parse_identity(kind: u8, body: &[u8], profile: &Profile) -> Result<Self, Refusal> {
        let unknown = Refusal::unexpected("a handshake message of an unknown type");
        let numbers = profile.messages().ok_or(unknown)?;
        match kind {
            kind if kind == numbers.ssi_request => {
                let mut reader = CodecReader::new(body);
                ssi::context(&mut reader, profile)?;
                extensions(reader.rest(), ExtensionPlace::SsiRequest, profile).map(Self::SsiRequest)
            }
            kind if kind == numbers.vc => VcMessage::parse(body, profile).map(Self::Vc),
            kind if kind == numbers.did => DidMessage::parse(body, profile).map(Self::Did),
            kind if kind == numbers.did_verify => {
                CertificateVerify::parse(body).map(Self::DidVerify)
            }
            _ => Err(unknown),
        }
    }

    /// Writes the message with its header.
    pub fn write(&self, profile: &Profile) -> Result<Vec<u8>, Refusal> {
        self.write_after(Vec::new(), profile)
    }

    /// Writes the message after these bytes.
    pub(crate) fn write_after(
        &self,
        mut bytes: Vec<u8>,
        profile: &Profile,
    ) -> Result<Vec<u8>, Refusal> {
        bytes.reserve(USUAL_BYTES);
        let mut writer = Writer::after(bytes);
        match self.kind(profile) {
            Some(kind) => writer.u8(kind),
            None => writer.refuse(),
        }
        writer.vector24(|writer| self.write_body(writer, profile));
        writer.finish()
    }

    /// The handshake type; `None` if the profile does not have the message.
    pub fn kind(&self, profile: &Profile) -> Option<u8> {
        let numbers = profile.messages();
        Some(match self {
            Self::ClientHello(_) => CLIENT_HELLO,
            Self::ServerHello(_) => SERVER_HELLO,
            Self::NewSessionTicket(_) => NEW_SESSION_TICKET,
            Self::EndOfEarlyData => END_OF_EARLY_DATA,
            Self::EncryptedExtensions(_) => ENCRYPTED_EXTENSIONS,
            Self::Certificate(_) => CERTIFICATE,
            Self::CertificateRequest(_) => CERTIFICATE_REQUEST,
            Self::CertificateVerify(_) => CERTIFICATE_VERIFY,
            Self::Finished(_) => FINISHED,
            Self::KeyUpdate(_) => KEY_UPDATE,
            Self::SsiRequest(_) => numbers?.ssi_request,
            Self::Vc(_) => numbers?.vc,
            Self::Did(_) => numbers?.did,
            Self::DidVerify(_) => numbers?.did_verify,
        })
    }

    fn write_body(&self, writer: &mut Writer, profile: &Profile) {
        match self {
            Self::ClientHello(hello) => hello.write(writer, profile),
            Self::ServerHello(hello) => hello.write(writer, profile),
            Self::NewSessionTicket(ticket) => ticket.write(writer, profile),
            Self::EndOfEarlyData => {}
            Self::EncryptedExtensions(extensions) => extensions.write(writer, profile),
            Self::Certificate(certificate) => certificate.write(writer, profile),
            Self::CertificateRequest(request) => request.write(writer, profile),
            Self::CertificateVerify(proof) | Self::DidVerify(proof) => proof.write(writer),
            Self::Finished(mac) => writer.raw(mac),
            Self::KeyUpdate(is_requested) => writer.u8(u8::from(*is_requested)),
            Self::SsiRequest(extensions) => {
                ssi::write_context(writer, profile);
                extensions.write(writer, profile);
            }
            Self::Vc(vc) => vc.write(writer, profile),
            Self::Did(did) => did.write(writer, profile),
        }
    }
}

fn extensions(
    body: &[u8],
    place: ExtensionPlace,
    profile: &Profile,
) -> Result<Extensions, Refusal> {
    let mut reader = CodecReader::new(body);
    let extensions = Extensions::read(&mut reader, place, profile)?;
    reader.finish()?;
    Ok(extensions)
}

fn key_update(body: &[u8]) -> Result<bool, Refusal> {
    match body {
        [0] => Ok(false),
        [1] => Ok(true),
        [_] => Err(Refusal::illegal(
            "a KeyUpdate with an invalid request_update",
        )),
        _ => Err(Refusal::decode("a KeyUpdate of the wrong length")),
    }
}
