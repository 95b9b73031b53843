//! Certificate types (RFC 7250) in profile `draft`: which are offered, and which the server chose.

use super::RequestedCertificate;
use crate::alert::{Alert, Refusal};
use crate::codec::{CertificateRequest, Extension, Extensions, Message, Mode, SsiParameters, X509};
use crate::config::ClientConfig;
use crate::handshake::credential_in;
use crate::profile::Profile;

/// The extensions for certificate types and DID methods in the hello.
pub(super) fn offer(config: &ClientConfig) -> Vec<Extension> {
    let mut extensions = Vec::new();
    if let Some(types) = server_types(config) {
        let methods = config.ssi.iter().flat_map(|ssi| &ssi.methods);
        let methods = methods.map(|code| u16::from(*code)).collect();
        extensions.push(Extension::ServerTypes(types));
        extensions.push(Extension::DidMethods(methods));
    }
    extensions.extend(client_types(config).map(Extension::ClientTypes));
    extensions
}

/// The types we accept from a server.
fn server_types(config: &ClientConfig) -> Option<Vec<u8>> {
    let vc = config.common.profile.certificate_type()?;
    config.server.identities.as_ref()?;
    let x509 = config.server.certificates.iter().map(|_| X509);
    Some([vc].into_iter().chain(x509).collect())
}

/// The types we can show.
fn client_types(config: &ClientConfig) -> Option<Vec<u8>> {
    let vc = config.common.profile.certificate_type()?;
    let own = &config.common.identities;
    own.ssi.as_ref()?;
    let x509 = own.certificate.iter().map(|_| X509);
    Some([vc].into_iter().chain(x509).collect())
}

/// The server's choice; X.509 if the server names no type or none was offered.
#[derive(Debug)]
pub(super) struct Chosen {
    is_server_vc: bool,
    is_client_vc: bool,
}

impl Chosen {
    /// Reads the choice from EncryptedExtensions.
    pub(super) fn read(extensions: &Extensions, config: &ClientConfig) -> Result<Self, Refusal> {
        let vc = config.common.profile.certificate_type();
        let is_vc = |chosen: u8, offered: Option<Vec<u8>>| {
            let offered = offered.ok_or(Refusal::new(
                Alert::UnsupportedExtension,
                "an extension that was not offered",
            ))?;
            match offered.contains(&chosen) {
                true => Ok(vc == Some(chosen)),
                false => Err(Refusal::illegal("a certificate type that was not offered")),
            }
        };
        let mut chosen = Self {
            is_server_vc: false,
            is_client_vc: false,
        };
        for extension in &extensions.0 {
            match extension {
                Extension::ServerType(one) => {
                    chosen.is_server_vc = is_vc(*one, server_types(config))?;
                }
                Extension::ClientType(one) => {
                    chosen.is_client_vc = is_vc(*one, client_types(config))?;
                }
                _ => {}
            }
        }
        Ok(chosen)
    }

    /// A request for a certificate of the chosen type.
    pub(super) fn request(
        &self,
        kind: RequestedCertificate,
        request: &CertificateRequest,
        config: &ClientConfig,
    ) -> Result<RequestedCertificate, Refusal> {
        let schemes = match kind {
            RequestedCertificate::Certificate { schemes, .. } if self.is_client_vc => schemes,
            other => return Ok(other),
        };
        let methods = request.extensions.did_methods().ok_or(Refusal::new(
            Alert::MissingExtension,
            "a credential is requested without did_methods",
        ))?;
        let ours = config.ssi.as_ref().filter(|ssi| ssi.mode == Mode::Vc);
        let mut all = methods.iter();
        if !ours.is_none_or(|ours| all.all(|code| ours.methods.contains(code))) {
            return Err(Refusal::illegal("DID methods that were not offered"));
        }
        let asked = SsiParameters {
            mode: Mode::Vc,
            methods,
            ..SsiParameters::default()
        };
        Ok(RequestedCertificate::Ssi { asked, schemes })
    }

    /// The server's identity, read according to the chosen type.
    pub(super) fn shown(&self, message: Message, profile: &Profile) -> Result<Message, Refusal> {
        match message {
            Message::Certificate(certificate) if self.is_server_vc => {
                credential_in(certificate, profile)
            }
            other => Ok(other),
        }
    }
}
