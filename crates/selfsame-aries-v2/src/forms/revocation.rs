//! Revocation notification 2.0 and 1.0 (RFC 0721, RFC 0183), which are the same in both forms.

use selfsame_didcomm::message::Semver;

use super::{NamedVersion, TwoForms};

const NAME: &str = "revocation_notification";

/// Version 2.0 in the table.
pub(super) const FORM: TwoForms = same(Semver::new(2, 0));

/// Version 1.0 in the table.
pub(super) const FIRST: TwoForms = same(Semver::new(1, 0));

const fn same(version: Semver) -> TwoForms {
    let named = NamedVersion::new(NAME, version);
    TwoForms {
        rfc: named,
        v2: named,
        renamed: &[],
        write: |_| Ok(()),
        read: |_| Ok(()),
    }
}
