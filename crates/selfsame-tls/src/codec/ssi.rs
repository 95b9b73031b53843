//! The paper's additions: `ssi_parameters`, VC and DID; in profile `selfsame` with formats and staples.

use selfsame_did::Did;

use super::reader::{CodecReader, list};
use super::writer::Writer;
use crate::alert::Refusal;
use crate::named::VcFormat;
use crate::profile::Profile;

/// Maximum number of staples in one message.
const MAX_STAPLES: usize = 8;

/// How the server has to authenticate; the paper's AuthenticationMode.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Mode {
    /// By a certificate; the client may still have a DID or credential to show.
    #[default]
    Certificate,
    /// By a DID.
    Did,
    /// By a verifiable credential.
    Vc,
}

/// The extension `ssi_parameters`.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct SsiParameters {
    /// The requested mode.
    pub mode: Mode,
    /// The codes of the DID methods that can be resolved; empty if and only if the mode is [`Mode::Certificate`].
    pub methods: Vec<u8>,
    /// The credential formats that can be read: in profile `selfsame`, not empty if and only if the mode is
    /// [`Mode::Vc`]; otherwise empty.
    pub formats: Vec<VcFormat>,
    /// The kinds of staples that can be read; empty except in profile `selfsame`.
    pub staples: Vec<u8>,
}

impl SsiParameters {
    pub(super) fn parse(body: &[u8], profile: &Profile) -> Result<Self, Refusal> {
        let mut reader = CodecReader::new(body);
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
        let (mut formats, mut staples) = (Vec::new(), Vec::new());
        if profile.is_extended() {
            formats.extend(reader.vector8()?.iter().copied().map(VcFormat));
            staples.extend_from_slice(reader.vector8()?);
        }
        reader.finish()?;
        let has_formats = profile.is_extended() && mode == Mode::Vc;
        match (mode, methods.is_empty()) {
            (Mode::Certificate, false) => Err(Refusal::illegal("DID methods without a mode")),
            (Mode::Did | Mode::Vc, true) => Err(Refusal::decode("a mode without DID methods")),
            _ if has_formats && formats.is_empty() => {
                Err(Refusal::decode("credentials are requested without formats"))
            }
            _ if !has_formats && !formats.is_empty() => Err(Refusal::illegal(
                "credential formats without a request for credentials",
            )),
            (Mode::Certificate, true) if !staples.is_empty() => {
                Err(Refusal::illegal("staples without a mode"))
            }
            _ => Ok(Self {
                mode,
                methods,
                formats,
                staples,
            }),
        }
    }

    pub(super) fn write(&self, writer: &mut Writer, profile: &Profile) {
        writer.u8(match self.mode {
            Mode::Certificate => 0,
            Mode::Did => 1,
            Mode::Vc => 2,
        });
        writer.vector8(|writer| writer.raw(&self.methods));
        if profile.is_extended() {
            writer.vector8(|writer| self.formats.iter().for_each(|format| writer.u8(format.0)));
            writer.vector8(|writer| writer.raw(&self.staples));
        }
    }

    /// Whether the sender can read credentials of this format.
    pub(crate) fn reads(&self, format: VcFormat, profile: &Profile) -> bool {
        match profile.format {
            None => self.formats.contains(&format),
            Some(only) => format == only,
        }
    }
}

/// Evidence that a peer sends along with its identity, so that it need not be fetched.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Staple {
    /// Its kind (docs/tls.md).
    pub kind: u8,
    /// Its content.
    pub body: Vec<u8>,
}

/// The staples at the end of VC and DID, only in profile `selfsame`.
fn read_staples(reader: &mut CodecReader<'_>, profile: &Profile) -> Result<Vec<Staple>, Refusal> {
    if !profile.is_extended() {
        return Ok(Vec::new());
    }
    let mut left = MAX_STAPLES;
    list(reader.vector16()?, |staple| {
        left = left
            .checked_sub(1)
            .ok_or(Refusal::decode("too many staples"))?;
        Ok(Staple {
            kind: staple.u8()?,
            body: staple.vector16()?.to_vec(),
        })
    })
}

fn write_staples(staples: &[Staple], writer: &mut Writer, profile: &Profile) {
    if profile.is_extended() {
        writer.vector16(|writer| {
            for staple in staples {
                writer.u8(staple.kind);
                writer.vector16(|writer| writer.raw(&staple.body));
            }
        });
    } else if !staples.is_empty() {
        writer.refuse();
    }
}

/// The message DID.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct DidMessage {
    /// The method's code.
    pub method: u8,
    /// The DID: ASCII text, or binary in profile `selfsame`.
    pub did: Vec<u8>,
    /// The staples.
    pub staples: Vec<Staple>,
}

impl DidMessage {
    /// The message for this DID; `None` if the profile cannot encode it.
    pub(crate) fn new(did: &Did, staples: Vec<Staple>, profile: &Profile) -> Option<Self> {
        let (method, bytes) = match profile.is_extended() {
            true => did.to_binary()?,
            false => (
                profile.method_code(did.method())?,
                did.as_str().as_bytes().to_vec(),
            ),
        };
        Some(Self {
            method,
            did: bytes,
            staples,
        })
    }

    /// The DID, which must have the method of the code.
    pub(crate) fn did(&self, profile: &Profile) -> Result<Did, Refusal> {
        if profile.is_extended() {
            return Did::from_binary(self.method, &self.did)
                .map_err(|_| Refusal::illegal("a binary DID is malformed"));
        }
        let text =
            std::str::from_utf8(&self.did).map_err(|_| Refusal::illegal("a DID is not text"))?;
        let did = Did::parse(text).map_err(|_| Refusal::illegal("a DID is malformed"))?;
        Ok(did)
    }

    pub(super) fn parse(body: &[u8], profile: &Profile) -> Result<Self, Refusal> {
        let mut reader = CodecReader::new(body);
        context(&mut reader, profile)?;
        let method = reader.u8()?;
        let did = reader.vector16()?.to_vec();
        let staples = read_staples(&mut reader, profile)?;
        reader.finish()?;
        Ok(Self {
            method,
            did,
            staples,
        })
    }

    pub(super) fn write(&self, writer: &mut Writer, profile: &Profile) {
        write_context(writer, profile);
        writer.u8(self.method);
        writer.vector16(|writer| writer.raw(&self.did));
        write_staples(&self.staples, writer, profile);
    }
}

/// A credential as presented: its format and its bytes.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Vc {
    /// The format.
    pub format: VcFormat,
    /// The signed content and its signature, as the format defines.
    pub bytes: Vec<u8>,
}

impl Vc {
    /// A credential in the form of the paper's authors.
    pub fn paper(bytes: Vec<u8>) -> Self {
        let format = VcFormat::PAPER;
        Self { format, bytes }
    }
}

/// The message VC.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct VcMessage {
    /// The credential.
    pub vc: Vc,
    /// The staples.
    pub staples: Vec<Staple>,
}

impl From<Vc> for VcMessage {
    /// The credential without staples.
    fn from(vc: Vc) -> Self {
        let staples = Vec::new();
        Self { vc, staples }
    }
}

impl VcMessage {
    pub(super) fn parse(body: &[u8], profile: &Profile) -> Result<Self, Refusal> {
        let mut reader = CodecReader::new(body);
        context(&mut reader, profile)?;
        let format = match profile.format {
            None => VcFormat(reader.u8()?),
            Some(only) => only,
        };
        let bytes = reader.vector16()?.to_vec();
        let staples = read_staples(&mut reader, profile)?;
        reader.finish()?;
        let vc = Vc { format, bytes };
        Ok(Self { vc, staples })
    }

    pub(super) fn write(&self, writer: &mut Writer, profile: &Profile) {
        write_context(writer, profile);
        match profile.format {
            None => writer.u8(self.vc.format.0),
            Some(only) if only == self.vc.format => {}
            Some(_) => writer.refuse(),
        }
        writer.vector16(|writer| writer.raw(&self.vc.bytes));
        write_staples(&self.staples, writer, profile);
    }
}

/// The empty request context, which the authors' code has and their paper does not.
pub(super) fn context(reader: &mut CodecReader<'_>, profile: &Profile) -> Result<(), Refusal> {
    if profile.has_context() && !reader.vector8()?.is_empty() {
        return Err(Refusal::illegal("a request context in a handshake"));
    }
    Ok(())
}

pub(super) fn write_context(writer: &mut Writer, profile: &Profile) {
    if profile.has_context() {
        writer.vector8(|_| {});
    }
}
