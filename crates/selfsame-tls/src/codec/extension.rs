//! Extensions (RFC 8446 §4.2): known ones are parsed, others kept as bytes; defines the messages where each may stand.

use std::collections::BTreeSet;

use selfsame_crypto::hash::sha256;

use super::psk::OfferedPsks;
use super::reader::{CodecReader, list, some};
use super::ssi::SsiParameters;
use super::writer::Writer;
use crate::alert::{Alert, Refusal};
use crate::named::{Group, Scheme};
use crate::profile::Profile;

/// Maximum number of extensions in one message. The specification has no limit; this one bounds memory, since an
/// extension takes many times its four bytes on the wire.
const MAX_EXTENSIONS: usize = 1024;

const SERVER_NAME: u16 = 0;
const SUPPORTED_GROUPS: u16 = 10;
const SIGNATURE_ALGORITHMS: u16 = 13;
const ALPN: u16 = 16;
/// The default certificate type (RFC 7250).
pub(crate) const X509: u8 = 0;
/// `client_certificate_type` and `server_certificate_type` (RFC 7250).
const CLIENT_TYPE: u16 = 19;
const SERVER_TYPE: u16 = 20;
const PRE_SHARED_KEY: u16 = 41;
const EARLY_DATA: u16 = 42;
const SUPPORTED_VERSIONS: u16 = 43;
const COOKIE: u16 = 44;
const PSK_MODES: u16 = 45;
const SIGNATURE_ALGORITHMS_CERT: u16 = 50;
const KEY_SHARE: u16 = 51;
/// Our own number, for private use: the stapled revocation list of a certificate's authority.
const CRL: u16 = 0xff54;

/// Resumption with a key exchange: a stolen ticket key does not decrypt recorded data (§4.2.9).
pub(crate) const PSK_DHE_KE: u8 = 1;
/// The extensions that affect which identity a client wants: server_name, client_ and server_certificate_type.
const WISHES: [u16; 3] = [SERVER_NAME, CLIENT_TYPE, SERVER_TYPE];

/// The message that contains an extension.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ExtensionPlace {
    /// ClientHello.
    ClientHello,
    /// ServerHello.
    ServerHello,
    /// HelloRetryRequest.
    HelloRetryRequest,
    /// EncryptedExtensions.
    EncryptedExtensions,
    /// CertificateRequest.
    CertificateRequest,
    /// An entry of Certificate.
    Certificate,
    /// NewSessionTicket.
    NewSessionTicket,
    /// SSIRequest.
    SsiRequest,
}

/// One extension.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Extension {
    /// The host that the client wants; without a name, the server's acknowledgement (RFC 6066 §3).
    ServerName(Option<String>),
    /// The groups a peer supports, the preferred first.
    Groups(Vec<Group>),
    /// The signature schemes a peer can verify, the preferred first.
    Schemes(Vec<Scheme>),
    /// The signature schemes a peer can verify in certificates.
    CertificateSchemes(Vec<Scheme>),
    /// Application protocols (RFC 7301).
    Protocols(Vec<Vec<u8>>),
    /// The versions a client supports.
    Versions(Vec<u16>),
    /// The version the server chose.
    Version(u16),
    /// A client's key shares.
    KeyShares(Vec<KeyShare>),
    /// The server's key share.
    KeyShare(KeyShare),
    /// The group of which the server wants a share.
    RetryGroup(Group),
    /// Bytes that the client has to send back.
    Cookie(Vec<u8>),
    /// How a client can resume.
    PskModes(Vec<u8>),
    /// The tickets a client offers.
    PreSharedKeys(OfferedPsks),
    /// The index of the ticket that the server accepted.
    PreSharedKey(u16),
    /// Early data is sent, or accepted.
    EarlyData,
    /// Maximum bytes of early data with a ticket.
    MaxEarlyData(u32),
    /// How identities are proved.
    Ssi(SsiParameters),
    /// The certificate types a client accepts from the server (RFC 7250), the preferred first.
    ServerTypes(Vec<u8>),
    /// The certificate type the server shows.
    ServerType(u8),
    /// The types of certificate a client can show.
    ClientTypes(Vec<u8>),
    /// The certificate type the server wants.
    ClientType(u8),
    /// The codes of the DID methods that can be resolved (profile `draft`).
    DidMethods(Vec<u16>),
    /// The sender reads revocation lists stapled to certificates.
    ReadsCrls,
    /// The revocation list (DER) of a certificate's authority.
    Crl(Vec<u8>),
    /// An extension that is not interpreted.
    Other {
        /// Its number.
        number: u16,
        /// Its content.
        body: Vec<u8>,
    },
}

/// A public key for one group.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct KeyShare {
    /// The group.
    pub group: Group,
    /// The public key, or the ciphertext that answers it.
    pub key: Vec<u8>,
}

impl Extension {
    /// Its number on the wire.
    pub fn number(&self, profile: &Profile) -> u16 {
        match self {
            Self::ServerName(_) => SERVER_NAME,
            Self::Groups(_) => SUPPORTED_GROUPS,
            Self::Schemes(_) => SIGNATURE_ALGORITHMS,
            Self::CertificateSchemes(_) => SIGNATURE_ALGORITHMS_CERT,
            Self::Protocols(_) => ALPN,
            Self::Versions(_) | Self::Version(_) => SUPPORTED_VERSIONS,
            Self::KeyShares(_) | Self::KeyShare(_) | Self::RetryGroup(_) => KEY_SHARE,
            Self::Cookie(_) => COOKIE,
            Self::PskModes(_) => PSK_MODES,
            Self::PreSharedKeys(_) | Self::PreSharedKey(_) => PRE_SHARED_KEY,
            Self::EarlyData | Self::MaxEarlyData(_) => EARLY_DATA,
            Self::Ssi(_) | Self::DidMethods(_) => profile.extension(),
            Self::ServerTypes(_) | Self::ServerType(_) => SERVER_TYPE,
            Self::ClientTypes(_) | Self::ClientType(_) => CLIENT_TYPE,
            Self::ReadsCrls | Self::Crl(_) => CRL,
            Self::Other { number, .. } => *number,
        }
    }

    fn parse(
        number: u16,
        body: &[u8],
        place: ExtensionPlace,
        profile: &Profile,
    ) -> Result<Self, Refusal> {
        let by_type = profile.certificate_type().is_some();
        if number == profile.extension() && !by_type {
            return SsiParameters::parse(body, profile).map(Self::Ssi);
        }
        let mut reader = CodecReader::new(body);
        let extension = match (number, place) {
            (SERVER_NAME, ExtensionPlace::ClientHello) => {
                Self::ServerName(Some(host_name(&mut reader)?))
            }
            (SERVER_NAME, _) => Self::ServerName(None),
            (SUPPORTED_GROUPS, _) => Self::Groups(numbers(reader.vector16()?, Group)?),
            (SIGNATURE_ALGORITHMS, _) => Self::Schemes(numbers(reader.vector16()?, Scheme)?),
            (SIGNATURE_ALGORITHMS_CERT, _) => {
                Self::CertificateSchemes(numbers(reader.vector16()?, Scheme)?)
            }
            (ALPN, _) => {
                let name = |name: &mut CodecReader<'_>| some(name.vector8()?.to_vec());
                Self::Protocols(some(list(reader.vector16()?, name)?)?)
            }
            (SUPPORTED_VERSIONS, ExtensionPlace::ClientHello) => {
                Self::Versions(numbers(reader.vector8()?, |version| version)?)
            }
            (SUPPORTED_VERSIONS, _) => Self::Version(reader.u16()?),
            // A client may send an empty list, so that the server names a group (§4.2.8).
            (KEY_SHARE, ExtensionPlace::ClientHello) => {
                Self::KeyShares(list(reader.vector16()?, KeyShare::read)?)
            }
            (KEY_SHARE, ExtensionPlace::HelloRetryRequest) => {
                Self::RetryGroup(Group(reader.u16()?))
            }
            (KEY_SHARE, _) => Self::KeyShare(KeyShare::read(&mut reader)?),
            (COOKIE, _) => Self::Cookie(some(reader.vector16()?.to_vec())?),
            (number, _) if by_type && number == profile.extension() => {
                Self::DidMethods(numbers(reader.vector16()?, |code| code)?)
            }
            (SERVER_TYPE, ExtensionPlace::ClientHello) if by_type => {
                Self::ServerTypes(some(reader.vector8()?.to_vec())?)
            }
            (SERVER_TYPE, _) if by_type => Self::ServerType(reader.u8()?),
            (CLIENT_TYPE, ExtensionPlace::ClientHello) if by_type => {
                Self::ClientTypes(some(reader.vector8()?.to_vec())?)
            }
            (CLIENT_TYPE, _) if by_type => Self::ClientType(reader.u8()?),
            (PSK_MODES, _) => Self::PskModes(some(reader.vector8()?.to_vec())?),
            (PRE_SHARED_KEY, ExtensionPlace::ClientHello) => {
                Self::PreSharedKeys(OfferedPsks::parse(&mut reader)?)
            }
            (PRE_SHARED_KEY, _) => Self::PreSharedKey(reader.u16()?),
            (EARLY_DATA, ExtensionPlace::NewSessionTicket) => Self::MaxEarlyData(reader.u32()?),
            (EARLY_DATA, _) => Self::EarlyData,
            (CRL, ExtensionPlace::Certificate) => return Ok(Self::Crl(body.to_vec())),
            (CRL, _) => Self::ReadsCrls,
            _ => {
                let body = body.to_vec();
                return Ok(Self::Other { number, body });
            }
        };
        reader.finish()?;
        Ok(extension)
    }

    fn write(&self, writer: &mut Writer, profile: &Profile) {
        match self {
            Self::ServerName(None) => {}
            Self::ServerName(Some(name)) => writer.vector16(|writer| {
                writer.u8(0);
                writer.vector16(|writer| writer.raw(name.as_bytes()));
            }),
            Self::Groups(groups) => {
                writer.vector16(|writer| groups.iter().for_each(|group| writer.u16(group.0)));
            }
            Self::Schemes(schemes) | Self::CertificateSchemes(schemes) => {
                writer.vector16(|writer| schemes.iter().for_each(|scheme| writer.u16(scheme.0)));
            }
            Self::Protocols(names) => writer.vector16(|writer| {
                for name in names {
                    writer.vector8(|writer| writer.raw(name));
                }
            }),
            Self::Versions(versions) => {
                writer.vector8(|writer| versions.iter().for_each(|version| writer.u16(*version)));
            }
            Self::Version(version) => writer.u16(*version),
            Self::KeyShares(shares) => {
                writer.vector16(|writer| shares.iter().for_each(|share| share.write(writer)));
            }
            Self::KeyShare(share) => share.write(writer),
            Self::RetryGroup(group) => writer.u16(group.0),
            Self::Cookie(cookie) => writer.vector16(|writer| writer.raw(cookie)),
            Self::PskModes(modes) => writer.vector8(|writer| writer.raw(modes)),
            Self::PreSharedKeys(offered) => offered.write(writer),
            Self::PreSharedKey(chosen) => writer.u16(*chosen),
            Self::MaxEarlyData(most) => writer.u32(*most),
            Self::Ssi(parameters) => parameters.write(writer, profile),
            Self::ServerTypes(types) | Self::ClientTypes(types) => {
                writer.vector8(|writer| writer.raw(types));
            }
            Self::ServerType(one) | Self::ClientType(one) => writer.u8(*one),
            Self::DidMethods(codes) => {
                writer.vector16(|writer| codes.iter().for_each(|code| writer.u16(*code)));
            }
            Self::EarlyData | Self::ReadsCrls => {}
            Self::Crl(body) | Self::Other { body, .. } => writer.raw(body),
        }
    }
}

impl KeyShare {
    fn read(reader: &mut CodecReader<'_>) -> Result<Self, Refusal> {
        let group = Group(reader.u16()?);
        let key = some(reader.vector16()?.to_vec())?;
        Ok(Self { group, key })
    }

    fn write(&self, writer: &mut Writer) {
        writer.u16(self.group.0);
        writer.vector16(|writer| writer.raw(&self.key));
    }
}

/// The extensions of a message, in order, without duplicates.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Extensions(pub Vec<Extension>);

impl Extensions {
    pub(super) fn read(
        reader: &mut CodecReader<'_>,
        place: ExtensionPlace,
        profile: &Profile,
    ) -> Result<Self, Refusal> {
        let mut body = CodecReader::new(reader.vector16()?);
        let (mut seen, mut last) = (BTreeSet::new(), None);
        let mut extensions = Vec::new();
        while !body.is_empty() {
            let number = body.u16()?;
            let content = body.vector16()?;
            if !seen.insert(number) {
                return Err(Refusal::illegal("an extension is repeated"));
            }
            if seen.len() > MAX_EXTENSIONS {
                return Err(Refusal::decode("too many extensions"));
            }
            // Binders cover everything before them (§4.2.11).
            if place == ExtensionPlace::ClientHello && last.replace(number) == Some(PRE_SHARED_KEY)
            {
                return Err(Refusal::illegal("pre_shared_key is not the last extension"));
            }
            check_place(number, place, profile)?;
            extensions.push(Extension::parse(number, content, place, profile)?);
        }
        Ok(Self(extensions))
    }

    pub(super) fn write(&self, writer: &mut Writer, profile: &Profile) {
        writer.vector16(|writer| {
            for extension in &self.0 {
                writer.u16(extension.number(profile));
                writer.vector16(|writer| extension.write(writer, profile));
            }
        });
    }

    /// The first value that `pick` returns for one of the extensions.
    pub fn find<'a, T>(&'a self, pick: impl FnMut(&'a Extension) -> Option<T>) -> Option<T> {
        self.0.iter().find_map(pick)
    }

    /// The groups a peer supports; empty if the extension is missing.
    pub fn groups(&self) -> &[Group] {
        let found = self.find(|extension| match extension {
            Extension::Groups(groups) => Some(groups.as_slice()),
            _ => None,
        });
        found.unwrap_or_default()
    }

    /// The signature schemes a peer can verify.
    pub fn schemes(&self) -> Option<&[Scheme]> {
        self.find(|extension| match extension {
            Extension::Schemes(schemes) => Some(schemes.as_slice()),
            _ => None,
        })
    }

    /// A client's key shares.
    pub fn key_shares(&self) -> Option<&[KeyShare]> {
        self.find(|extension| match extension {
            Extension::KeyShares(shares) => Some(shares.as_slice()),
            _ => None,
        })
    }

    /// The application protocols; empty if the extension is missing.
    pub fn protocols(&self) -> &[Vec<u8>] {
        let found = self.find(|extension| match extension {
            Extension::Protocols(names) => Some(names.as_slice()),
            _ => None,
        });
        found.unwrap_or_default()
    }

    /// `ssi_parameters`.
    pub fn ssi(&self) -> Option<&SsiParameters> {
        self.find(|extension| match extension {
            Extension::Ssi(parameters) => Some(parameters),
            _ => None,
        })
    }

    /// The tickets a client offers.
    pub fn pre_shared_keys(&self) -> Option<&OfferedPsks> {
        self.find(|extension| match extension {
            Extension::PreSharedKeys(offered) => Some(offered),
            _ => None,
        })
    }

    /// The host that a client wants.
    pub fn server_name(&self) -> Option<&str> {
        self.find(|extension| match extension {
            Extension::ServerName(name) => name.as_deref(),
            _ => None,
        })
    }

    /// Whether a client can resume with a key exchange (psk_dhe_ke, §4.2.9); `None` if the extension is missing.
    pub(crate) fn resumes_with_exchange(&self) -> Option<bool> {
        self.find(|extension| match extension {
            Extension::PskModes(modes) => Some(modes.contains(&PSK_DHE_KE)),
            _ => None,
        })
    }

    /// A hash over the extensions that affect which identity a client wants: server name and kinds of identity.
    pub(crate) fn wishes(&self, profile: &Profile) -> Result<[u8; 32], Refusal> {
        let is_wish = |extension: &&Extension| {
            let number = extension.number(profile);
            WISHES.contains(&number) || number == profile.extension()
        };
        let wishes = Self(self.0.iter().filter(is_wish).cloned().collect());
        let mut writer = Writer::default();
        wishes.write(&mut writer, profile);
        writer.finish().map(|written| sha256(&written))
    }

    /// The certificate types a client accepts from the server, if it names any.
    pub fn server_types(&self) -> Option<&[u8]> {
        self.find(|extension| match extension {
            Extension::ServerTypes(types) => Some(types.as_slice()),
            _ => None,
        })
    }

    /// The certificate types a client can show, if it names any.
    pub fn client_types(&self) -> Option<&[u8]> {
        self.find(|extension| match extension {
            Extension::ClientTypes(types) => Some(types.as_slice()),
            _ => None,
        })
    }

    /// `did_methods`, without the codes that no profile names.
    pub fn did_methods(&self) -> Option<Vec<u8>> {
        let known = |code: &u16| u8::try_from(*code).ok();
        self.find(|extension| match extension {
            Extension::DidMethods(codes) => Some(codes.iter().filter_map(known).collect()),
            _ => None,
        })
    }

    /// Whether a peer reads revocation lists stapled to certificates.
    pub fn reads_crls(&self) -> bool {
        self.0.contains(&Extension::ReadsCrls)
    }

    /// Whether a client sends early data, or a server accepts it.
    pub fn has_early_data(&self) -> bool {
        self.0.contains(&Extension::EarlyData)
    }

    /// Maximum bytes of early data with a ticket.
    pub fn max_early_data(&self) -> Option<u32> {
        self.find(|extension| match extension {
            Extension::MaxEarlyData(most) => Some(*most),
            _ => None,
        })
    }
}

/// Checks that a known extension may stand in this message (the table of RFC 8446 §4.2).
fn check_place(number: u16, place: ExtensionPlace, profile: &Profile) -> Result<(), Refusal> {
    use ExtensionPlace::{Certificate, CertificateRequest, ClientHello, EncryptedExtensions};
    use ExtensionPlace::{HelloRetryRequest, NewSessionTicket, ServerHello, SsiRequest};
    if number == profile.extension() {
        let request = match profile.certificate_type() {
            Some(_) => CertificateRequest,
            None => SsiRequest,
        };
        return match place == ClientHello || place == request {
            true => Ok(()),
            false => Err(Refusal::new(
                Alert::UnsupportedExtension,
                "an identity request in a message that must not contain it",
            )),
        };
    }
    let places: &[ExtensionPlace] = match number {
        SERVER_NAME | SUPPORTED_GROUPS | ALPN | CLIENT_TYPE | SERVER_TYPE | 1 | 14 | 15 => {
            &[ClientHello, EncryptedExtensions]
        }
        SIGNATURE_ALGORITHMS => &[ClientHello, CertificateRequest, SsiRequest],
        SIGNATURE_ALGORITHMS_CERT | 47 => &[ClientHello, CertificateRequest],
        5 | 18 | CRL => &[ClientHello, CertificateRequest, Certificate],
        PSK_MODES | 21 | 49 => &[ClientHello],
        PRE_SHARED_KEY => &[ClientHello, ServerHello],
        EARLY_DATA => &[ClientHello, EncryptedExtensions, NewSessionTicket],
        SUPPORTED_VERSIONS | KEY_SHARE => &[ClientHello, ServerHello, HelloRetryRequest],
        COOKIE => &[ClientHello, HelloRetryRequest],
        48 => &[CertificateRequest],
        _ => return Ok(()),
    };
    match places.contains(&place) {
        true => Ok(()),
        false => Err(Refusal::illegal(
            "an extension in a message that must not contain it",
        )),
    }
}

fn host_name(reader: &mut CodecReader<'_>) -> Result<String, Refusal> {
    let mut names = CodecReader::new(reader.vector16()?);
    if names.u8()? != 0 {
        return Err(Refusal::decode("a server name that is not a host name"));
    }
    let name = names.vector16()?;
    names.finish()?;
    let is_host = |byte: &u8| byte.is_ascii_graphic();
    if name.is_empty() || name.len() > 255 || !name.iter().all(is_host) {
        return Err(Refusal::illegal(
            "a server name that is not a valid host name",
        ));
    }
    String::from_utf8(name.to_vec()).map_err(|_| Refusal::illegal("a server name is not ASCII"))
}

fn numbers<T>(bytes: &[u8], name: impl Fn(u16) -> T) -> Result<Vec<T>, Refusal> {
    some(list(bytes, |number| number.u16().map(&name))?)
}
