//! Trust ping: 1.0 of RFC 0048, 2.0 of DIDComm v2.1 ("Trust Ping Protocol 2.0").

use selfsame_didcomm::message::Semver;

use super::{NamedVersion, RenamedMessage, TwoForms};

/// The protocol in the table.
pub(super) const FORM: TwoForms = TwoForms {
    rfc: NamedVersion::new("trust_ping", Semver::new(1, 0)),
    v2: NamedVersion::new("trust-ping", Semver::new(2, 0)),
    renamed: &[RenamedMessage {
        rfc: "ping_response",
        v2: "ping-response",
    }],
    write: |_| Ok(()),
    read: |_| Ok(()),
};
