//! Media types of messages and envelopes (RFC 0044; DIDComm v2.1, "IANA Media Types").

/// An envelope of v1.
pub const V1_ENVELOPE: &str = "application/didcomm-envelope-enc";
/// An envelope of v1, as older agents call it.
pub const V1_ENVELOPE_LEGACY: &str = "application/ssi-agent-wire";
/// An encrypted message of v2.
pub const V2_ENCRYPTED: &str = "application/didcomm-encrypted+json";
/// A signed message of v2.
pub const V2_SIGNED: &str = "application/didcomm-signed+json";
/// A plaintext of v2.
pub const V2_PLAIN: &str = "application/didcomm-plain+json";

/// Whether a `Content-Type` may have an envelope as its body. Parameters do not count, nor does case. Some agents post
/// envelopes as plain JSON.
pub fn may_be_envelope(content_type: &str) -> bool {
    let name = content_type.split(';').next().unwrap_or_default().trim();
    let known = [
        V1_ENVELOPE,
        V1_ENVELOPE_LEGACY,
        V2_ENCRYPTED,
        "application/jwe",
        "application/json",
        "application/octet-stream",
    ];
    known.iter().any(|known| name.eq_ignore_ascii_case(known))
}

/// Whether a `typ` is this media type. `application/` may be left out (RFC 7515 §4.1.9).
pub(crate) fn is(typ: &str, media_type: &str) -> bool {
    let full = match typ.contains('/') {
        true => typ.to_owned(),
        false => format!("application/{typ}"),
    };
    full.eq_ignore_ascii_case(media_type)
}
