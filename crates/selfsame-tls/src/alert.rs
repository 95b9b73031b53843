//! Alerts (RFC 8446 §6), and refusals: an alert for the peer, with its reason.

use std::fmt;

macro_rules! alerts {
    ($($(#[$doc:meta])* $name:ident = $code:literal, $text:literal;)*) => {
        /// An alert's description (RFC 8446 §6.2).
        #[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
        pub enum Alert {
            $($(#[$doc])* $name,)*
            /// A description without a name here.
            Other(u8),
        }

        impl Alert {
            /// The description's number on the wire.
            pub const fn code(self) -> u8 {
                match self {
                    $(Self::$name => $code,)*
                    Self::Other(code) => code,
                }
            }

            /// The description with this number.
            pub const fn from_code(code: u8) -> Self {
                match code {
                    $($code => Self::$name,)*
                    other => Self::Other(other),
                }
            }

            /// The description's name in the specification.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$name => $text,)*
                    Self::Other(_) => "unknown alert",
                }
            }
        }
    };
}

alerts! {
    /// The peer sends no more.
    CloseNotify = 0, "close_notify";
    /// A message that is not allowed here.
    UnexpectedMessage = 10, "unexpected_message";
    /// A record that fails to decrypt.
    BadRecordMac = 20, "bad_record_mac";
    /// A record that is too long.
    RecordOverflow = 22, "record_overflow";
    /// No parameters that both sides support.
    HandshakeFailure = 40, "handshake_failure";
    /// A certificate or credential that is corrupt.
    BadCertificate = 42, "bad_certificate";
    /// A certificate or credential of an unsupported type.
    UnsupportedCertificate = 43, "unsupported_certificate";
    /// A certificate, credential or DID that was revoked.
    CertificateRevoked = 44, "certificate_revoked";
    /// A certificate or credential that has expired or is not valid yet.
    CertificateExpired = 45, "certificate_expired";
    /// A certificate or credential that is refused for another reason.
    CertificateUnknown = 46, "certificate_unknown";
    /// A value that is invalid or contradicts others.
    IllegalParameter = 47, "illegal_parameter";
    /// No trust anchor, or an issuer that is not trusted.
    UnknownCa = 48, "unknown_ca";
    /// Genuine, but not authorised.
    AccessDenied = 49, "access_denied";
    /// A message that cannot be decoded.
    DecodeError = 50, "decode_error";
    /// A signature or Finished that does not verify.
    DecryptError = 51, "decrypt_error";
    /// A protocol version that is not supported.
    ProtocolVersion = 70, "protocol_version";
    /// Less security than required.
    InsufficientSecurity = 71, "insufficient_security";
    /// A fault that the peer did not cause.
    InternalError = 80, "internal_error";
    /// The user cancelled.
    UserCanceled = 90, "user_canceled";
    /// A required extension is missing.
    MissingExtension = 109, "missing_extension";
    /// An extension that was not offered.
    UnsupportedExtension = 110, "unsupported_extension";
    /// No server with that name.
    UnrecognizedName = 112, "unrecognized_name";
    /// A certificate's, credential's or DID's status response that is not acceptable.
    BadCertificateStatusResponse = 113, "bad_certificate_status_response";
    /// The server requires an identity and got none.
    CertificateRequired = 116, "certificate_required";
    /// No application protocol in common.
    NoApplicationProtocol = 120, "no_application_protocol";
}

impl fmt::Display for Alert {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.as_str(), self.code())
    }
}

/// Why a peer is refused: the alert for the peer, and the reason for our log. Contains nothing that a peer sent.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("{alert}: {reason}")]
pub struct Refusal {
    /// The alert for the peer.
    pub alert: Alert,
    /// The reason, for our log.
    pub reason: &'static str,
}

impl Refusal {
    /// A refusal with this alert.
    pub const fn new(alert: Alert, reason: &'static str) -> Self {
        Self { alert, reason }
    }

    pub(crate) const fn decode(reason: &'static str) -> Self {
        Self::new(Alert::DecodeError, reason)
    }

    pub(crate) const fn illegal(reason: &'static str) -> Self {
        Self::new(Alert::IllegalParameter, reason)
    }

    pub(crate) const fn unexpected(reason: &'static str) -> Self {
        Self::new(Alert::UnexpectedMessage, reason)
    }

    pub(crate) const fn internal(reason: &'static str) -> Self {
        Self::new(Alert::InternalError, reason)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_reads_back() {
        for code in 0..=u8::MAX {
            assert_eq!(Alert::from_code(code).code(), code);
        }
        assert_eq!(Alert::DecryptError.to_string(), "decrypt_error (51)");
    }
}
