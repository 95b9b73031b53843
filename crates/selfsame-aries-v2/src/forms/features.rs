//! Discover features 2.0: RFC 0557, and DIDComm v2.1 ("Discover Features Protocol 2.0"), which names the answer
//! differently.

use selfsame_didcomm::message::Semver;

use super::{NamedVersion, RenamedMessage, TwoForms};

const NAMED: NamedVersion = NamedVersion::new("discover-features", Semver::new(2, 0));

/// The protocol in the table.
pub(super) const FORM: TwoForms = TwoForms {
    rfc: NAMED,
    v2: NAMED,
    renamed: &[RenamedMessage {
        rfc: "disclosures",
        v2: "disclose",
    }],
    write: |_| Ok(()),
    read: |_| Ok(()),
};
