//! Which identities a client accepts and can show: by `ssi_parameters`, or by certificate types (RFC 7250) in profile
//! `draft`.

use crate::alert::{Alert, Refusal};
use crate::codec::{ClientHello, Extension, Mode, SsiParameters, X509};
use crate::profile::Profile;

/// The client's offers.
pub(super) struct Wishes {
    /// What it accepts from us besides X.509.
    pub(super) shown: Option<SsiParameters>,
    /// What it can be asked for besides X.509.
    pub(super) asked: Option<SsiParameters>,
    server_types: Option<Vec<u8>>,
    client_types: Option<Vec<u8>>,
}

impl Wishes {
    pub(super) fn read(hello: &ClientHello, profile: &Profile) -> Result<Self, Refusal> {
        let extensions = &hello.extensions;
        let Some(vc) = profile.certificate_type() else {
            let ssi = extensions.ssi();
            return Ok(Self {
                shown: ssi.cloned(),
                asked: ssi.cloned(),
                server_types: None,
                client_types: None,
            });
        };
        let has_vc = |types: Option<&[u8]>| types.is_some_and(|types| types.contains(&vc));
        let methods = extensions.did_methods();
        if has_vc(extensions.server_types()) && methods.is_none() {
            let reason = "credentials are accepted, but no DID method is named";
            return Err(Refusal::new(Alert::MissingExtension, reason));
        }
        let offered = methods.map_or(SsiParameters::default(), |methods| SsiParameters {
            mode: Mode::Vc,
            methods,
            ..SsiParameters::default()
        });
        let of = |types| has_vc(types).then(|| offered.clone());
        Ok(Self {
            shown: of(extensions.server_types()),
            asked: of(extensions.client_types()),
            server_types: extensions.server_types().map(<[u8]>::to_vec),
            client_types: extensions.client_types().map(<[u8]>::to_vec),
        })
    }

    /// Whether it accepts X.509 from us.
    pub(super) fn takes_x509(&self) -> bool {
        has_x509(self.server_types.as_deref())
    }

    /// Whether it can be asked for X.509.
    pub(super) fn shows_x509(&self) -> bool {
        has_x509(self.client_types.as_deref())
    }

    /// The refusal if the client accepts no identity of ours, or has none that we accept.
    pub(super) fn refusal(&self, reason: &'static str) -> Refusal {
        let has_types = self.server_types.is_some() || self.client_types.is_some();
        match has_types {
            // RFC 7250 §4.2.
            true => Refusal::new(Alert::UnsupportedCertificate, reason),
            false => Refusal::new(Alert::HandshakeFailure, reason),
        }
    }

    /// The extensions that name the chosen certificate types, if the client named some: the type we show, and the type
    /// we ask for.
    pub(super) fn answer(
        &self,
        is_ssi: bool,
        asked: Option<Mode>,
        profile: &Profile,
    ) -> Vec<Extension> {
        let vc = profile.certificate_type().unwrap_or(X509);
        let of = |is_vc: bool| if is_vc { vc } else { X509 };
        let server = self.server_types.iter().map(|_| of(is_ssi));
        let client = self.client_types.iter().zip(asked);
        let client = client.map(|(_, mode)| of(mode == Mode::Vc));
        let server = server.map(Extension::ServerType);
        server.chain(client.map(Extension::ClientType)).collect()
    }
}

/// X.509 is the default.
fn has_x509(types: Option<&[u8]>) -> bool {
    types.is_none_or(|types| types.contains(&X509))
}
