//! What to do about a refusal, for who reads of it on the command line.

use selfsame_tls::{Alert, Error};

/// What the person could do where we refused the peer, or it refused us; nothing where that is not plain.
pub fn of(error: &Error) -> Option<&'static str> {
    match error {
        Error::Refused(refusal) => ours(refusal.alert, refusal.reason),
        Error::Alerted(alert) => theirs(*alert),
        Error::Truncated => Some("it ended without a word: does TLS 1.3 answer at that port?"),
        Error::Misused(_) => None,
    }
}

#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "there is no advice on what a peer does wrong"
)]
fn ours(alert: Alert, reason: &str) -> Option<&'static str> {
    Some(match alert {
        Alert::UnexpectedMessage | Alert::ProtocolVersion => {
            "what answers there may speak no TLS 1.3: is it the right port?"
        }
        Alert::AccessDenied => {
            "it is genuine, and somebody else: compare --expect-claim, --expect-did and --trust-did"
        }
        Alert::UnknownCa => "if its issuer is to be trusted, name it with --trust-issuer",
        Alert::CertificateExpired => {
            "the peer has to fetch a new credential: selfsame tls identity fetch"
        }
        Alert::CertificateRevoked => "it is not to be let in any more; its issuer knows why",
        Alert::CertificateUnknown => {
            "what there is to know of it can't be looked up: is --registry named, and reached? a host that is private \
             or on this machine takes --trust-origin"
        }
        Alert::InsufficientSecurity => "to take certificates as well, say --trust-certificates",
        Alert::DecryptError => {
            "it may have a new key: try again when what is kept of it is over (--reuse)"
        }
        Alert::HandshakeFailure if reason.contains("no identity of ours") => {
            "the server wants to know who comes: name this node's identity with --identity; if it asks for a \
             credential: selfsame tls identity fetch"
        }
        Alert::HandshakeFailure => NOTHING_IN_COMMON,
        _ => return None,
    })
}

#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "there is no advice on what a peer finds wrong with a message"
)]
fn theirs(alert: Alert) -> Option<&'static str> {
    Some(match alert {
        Alert::HandshakeFailure => NOTHING_IN_COMMON,
        Alert::AccessDenied => {
            "the other side does not expect this node, or no credential of this type"
        }
        Alert::UnknownCa => "the other side does not trust the issuer of this node's credential",
        Alert::CertificateRevoked => {
            "this node's credential was revoked or its DID has ended: make or fetch another"
        }
        Alert::CertificateExpired => {
            "this node's credential has ended: selfsame tls identity fetch"
        }
        Alert::CertificateUnknown => {
            "the other side could not look this node up: is its registry named and reached there?"
        }
        Alert::DecryptError => {
            "the other side knows another key of this DID: after `identity update` start again, or send it \
             SIGHUP"
        }
        Alert::CertificateRequired => {
            "the other side wants to know who comes: name --identity, or --certificate"
        }
        _ => return None,
    })
}

const NOTHING_IN_COMMON: &str = "the two sides have no way in common to say who they are: both need --trust-issuer and \
                                 credentials, or both --trust-did, and the same --profile";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_refused_is_told_what_to_do() {
        let told = |alert| of(&Error::Alerted(alert)).unwrap_or_default();
        assert!(told(Alert::CertificateExpired).contains("identity fetch"));
        assert!(told(Alert::HandshakeFailure).contains("--profile"));
        assert_eq!(told(Alert::DecodeError), "");
        assert!(of(&Error::Truncated).is_some());
        assert_eq!(of(&Error::Misused("x")), None);
    }
}
