//! The wire format of TLS 1.3 (RFC 8446 §4, §5) and of the identity messages: strict, without panics, without state.

mod certificate;
mod extension;
mod hello;
mod message;
mod psk;
mod reader;
mod record;
mod ssi;
mod writer;

pub use certificate::{
    CertificateChain, CertificateEntry, CertificateRequest, CertificateVerify, Ticket,
};
pub use extension::{Extension, ExtensionPlace, Extensions, KeyShare};
pub use hello::{ClientHello, ServerHello};
pub use message::Message;
pub use psk::{OfferedPsks, PskIdentity};
pub use record::{ContentType, MAX_CIPHERTEXT, MAX_PLAINTEXT, RecordHeader};
pub use ssi::{DidMessage, Mode, SsiParameters, Staple, Vc, VcMessage};

pub(crate) use extension::{PSK_DHE_KE, X509};
pub(crate) use message::{HEADER as MESSAGE_HEADER, MESSAGE_HASH};
pub(crate) use record::HEADER as RECORD_HEADER;

pub(crate) use reader::CodecReader;
pub(crate) use writer::Writer;

#[cfg(test)]
mod tests;
