//! Certificates, by their names and times.

use selfsame_crypto::encoding::base64url_encode;
use selfsame_crypto::x509;
use serde_json::{Value, json};

/// The names and times of a certificate, or the certificate itself if it can't be read.
pub fn certificate_of(der: &[u8]) -> Value {
    match x509::named(der) {
        Some(names) => json!({
            "subject": names.subject,
            "names": names.alternatives,
            "not_before": x509::not_before(der).map(|time| time.rfc3339()),
            "not_after": x509::not_after(der).map(|time| time.rfc3339()),
        }),
        None => base64url_encode(der).into(),
    }
}
