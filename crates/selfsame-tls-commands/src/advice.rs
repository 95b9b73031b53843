//! Hints for a refused handshake, for the person at the command line.

use selfsame_tls::{Alert, Error};

/// The hint if there was no room for a handshake.
pub const CROWDED: &str = "too many handshakes are in progress, so the peer must try again; a proxy limits them with \
--handshakes, and the connections of one address with --per-address";

/// The end of the connection that this process is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum End {
    /// The end that connects.
    Client,
    /// The end that accepts connections.
    Server,
}

/// What the person can do if this end refused the peer, or the peer refused this end; `None` if that is not clear.
pub fn of(error: &Error, end: End) -> Option<&'static str> {
    match error {
        Error::Refused(refusal) => {
            by_reason(refusal.reason).or_else(|| ours(refusal.alert, refusal.reason, end))
        }
        Error::Alerted(alert) => theirs(*alert, end),
        Error::Truncated => Some(match end {
            End::Client => "no alert came: does the server speak TLS 1.3 on that port?",
            End::Server => "the client left the handshake: its log may say why",
        }),
        Error::Misused(_) => None,
    }
}

/// The hint for a reason, whatever the alert: one alert stands for several reasons.
fn by_reason(reason: &str) -> Option<&'static str> {
    let mut hints = HINTS.into_iter();
    hints.find_map(|(words, hint)| reason.contains(words).then_some(hint))
}

const HINTS: [(&str, &str); 17] = [
    (
        "no trust anchor",
        "does --trust-certificates name its authority? the peer must send the intermediate certificates",
    ),
    (
        "a certificate has expired",
        "the peer must renew its certificate, or an authority its own; is the clock of this machine right?",
    ),
    (
        "not valid yet",
        "are the clocks of this machine and of the authority right?",
    ),
    (
        "not for the expected name",
        "compare --server-name with the names in the certificate",
    ),
    (
        "extended key usage",
        "the certificate needs the extended key usage serverAuth for a server, clientAuth for a client",
    ),
    (
        "(key usage)",
        "the certificate needs the key usage digitalSignature, or no key usage extension",
    ),
    (
        "is not an authority's",
        "the certificate that signed it must be an authority's (basicConstraints CA:TRUE)",
    ),
    (
        "certificate is an authority's",
        "the peer must present its own certificate, not its authority's",
    ),
    (
        "whether the certificates were revoked",
        "does --revocation-list name a list for each authority of the chain, and is each reachable and current?",
    ),
    (
        "CertificateVerify",
        "the peer's certificate and its key do not belong together",
    ),
    (
        "the client supports no identity",
        "the client supports only X.509: name the authority of its certificate with --trust-certificates, or accept \
             clients without authentication with --anonymous-clients",
    ),
    (
        "no own identity that the server accepts",
        "the server requires client authentication: name this node's identity with --identity; if it requires a \
             credential: selfsame tls identity fetch",
    ),
    (
        "no cipher suite in common",
        "the other side must enable a TLS 1.3 cipher suite with AES-GCM or ChaCha20-Poly1305",
    ),
    (
        "no group in common",
        "--groups sets the key exchanges allowed here; the other side may allow others",
    ),
    (
        "the Finished message is invalid",
        "the two sides saw different messages: something between them changes the data",
    ),
    (
        "a binder is invalid",
        "the client presented a ticket without its secret; with --no-resumption it makes a full handshake",
    ),
    (
        "reached its maximum duration",
        "the peer may connect again; --longest limits how long a connection lasts",
    ),
];

fn ours(alert: Alert, reason: &str, end: End) -> Option<&'static str> {
    Some(match (alert, end) {
        (Alert::UnexpectedMessage | Alert::ProtocolVersion, End::Client) => {
            "the server may not speak TLS 1.3: is it the right port?"
        }
        (Alert::UnexpectedMessage | Alert::ProtocolVersion, End::Server) => {
            "the client does not speak TLS 1.3, or no TLS at all; TLS 1.2 is not supported here"
        }
        (Alert::AccessDenied, _) => {
            "the peer is authentic, but not the expected one: compare --expect-claim, --expect-did and --trust-did"
        }
        (Alert::UnknownCa, _) => "to trust its issuer, name it with --trust-issuer",
        (Alert::CertificateExpired, _) => {
            "the peer must fetch a new credential: selfsame tls identity fetch"
        }
        (Alert::CertificateRevoked, _) if reason.contains("DID") => {
            "the owner of this DID deactivated it: the peer needs another DID"
        }
        (Alert::CertificateRevoked, _) => "the peer is revoked; its issuer can say why",
        (Alert::CertificateUnknown, _) => {
            "the peer's DID or status can't be looked up: is --registry named and reachable? a private or local host needs \
             --trust-origin"
        }
        (Alert::InsufficientSecurity, _) => {
            "to accept certificates as well, use --trust-certificates"
        }
        (Alert::DecryptError, _) => {
            "the peer may have a new key: try again when the cached data have expired (--reuse)"
        }
        (Alert::HandshakeFailure, _) => NOTHING_IN_COMMON,
        (Alert::NoApplicationProtocol, _) => "--alpn sets the protocols that are supported here",
        (Alert::CertificateRequired, _) => {
            "the client did not authenticate: it needs --identity or --certificate; or accept clients without \
             authentication with --anonymous-clients"
        }
        _ => return None,
    })
}

fn theirs(alert: Alert, end: End) -> Option<&'static str> {
    Some(match (alert, end) {
        (Alert::HandshakeFailure, _) => NOTHING_IN_COMMON_THERE,
        (Alert::ProtocolVersion, End::Client) => {
            "the server does not speak TLS 1.3: can it be enabled there?"
        }
        (Alert::ProtocolVersion, End::Server) => {
            "the client does not speak TLS 1.3: can it be enabled there?"
        }
        (Alert::AccessDenied, _) => {
            "the other side does not expect this node or a credential of this type; an open connection may have reached \
             the maximum duration there (--longest)"
        }
        (Alert::UnknownCa, _) => {
            "the other side does not trust the issuer of this node's credential, or the authority of its certificate"
        }
        (Alert::BadCertificate, End::Server) => {
            "the client does not accept this node's certificate or credential: a certificate must be for the name that \
             the client connects to, with the extended key usage serverAuth; a credential must be unchanged since \
             its issuer signed it: selfsame tls identity fetch gets a new one"
        }
        (Alert::BadCertificate, End::Client) => {
            "the server does not accept this node's certificate or credential: a certificate needs the extended key usage \
             clientAuth; a credential must be as its issuer signed it; selfsame tls identity fetch gets a new one"
        }
        (Alert::CertificateRevoked, _) => {
            "this node's credential or certificate was revoked, or its DID is deactivated: create or fetch another"
        }
        (Alert::CertificateExpired, _) => {
            "this node's credential has expired: selfsame tls identity fetch; or renew its expired certificate"
        }
        (Alert::CertificateUnknown, _) => {
            "the other side could not look up this node: is --registry named there, and reachable?"
        }
        (Alert::DecryptError, _) => {
            "the other side knows another key of this DID: after `identity update`, restart this process or send it SIGHUP"
        }
        (Alert::CertificateRequired, _) => {
            "the other side requires client authentication: use --identity or --certificate"
        }
        (Alert::NoApplicationProtocol, _) => {
            "the other side supports none of the protocols that --alpn names here"
        }
        _ => return None,
    })
}

const NOTHING_IN_COMMON: &str = "the two sides share no way to authenticate: both need --trust-issuer and credentials, \
                                 or both need --trust-did, and the same --profile; or the client needs \
                                 --trust-certificates and the server --certificate";

const NOTHING_IN_COMMON_THERE: &str = "the two sides share no way to authenticate: both need --trust-issuer and \
                                       credentials, or both need --trust-did, and the same --profile; or the client \
                                       needs --trust-certificates and the server --certificate; or they share no key \
                                       exchange: see --groups";

#[cfg(test)]
mod tests {
    use selfsame_tls::Refusal;

    use super::*;

    fn told(error: Error, end: End) -> &'static str {
        of(&error, end).unwrap_or_default()
    }

    #[test]
    fn who_is_refused_is_told_what_to_do() {
        let alerted = |alert| told(Error::Alerted(alert), End::Client);
        assert!(alerted(Alert::CertificateExpired).contains("identity fetch"));
        assert!(alerted(Alert::HandshakeFailure).contains("--profile"));
        assert_eq!(alerted(Alert::DecodeError), "");
        assert!(of(&Error::Truncated, End::Client).is_some());
        assert_eq!(of(&Error::Misused("x"), End::Client), None);
    }

    #[test]
    fn a_hint_is_for_the_end_that_reads_it_and_for_what_was_shown() {
        let old = Error::Refused(Refusal::new(Alert::ProtocolVersion, "no TLS 1.3"));
        assert!(told(old, End::Client).contains("right port"));
        assert!(told(old, End::Server).contains("the client does not speak TLS 1.3"));
        let alerted = Error::Alerted(Alert::ProtocolVersion);
        assert!(told(alerted, End::Client).contains("the server does not speak TLS 1.3"));
        let refused =
            |alert, reason| told(Error::Refused(Refusal::new(alert, reason)), End::Client);
        let name = refused(
            Alert::BadCertificate,
            "the certificate is not for the expected name",
        );
        assert!(name.contains("--server-name"), "{name}");
        let chain = refused(Alert::UnknownCa, "the chain leads to no trust anchor");
        assert!(chain.contains("--trust-certificates"), "{chain}");
        let issuer = refused(Alert::UnknownCa, "the issuer is not trusted");
        assert!(issuer.contains("--trust-issuer"), "{issuer}");
        let proof = refused(
            Alert::DecryptError,
            "the CertificateVerify signature is invalid",
        );
        assert!(!proof.contains("--reuse"), "{proof}");
        let ended = refused(Alert::CertificateRevoked, "the DID is deactivated");
        assert!(!ended.contains("issuer"), "{ended}");
    }

    const CANNOT: &str = "the client supports no identity that is accepted here";
    const LASTED: &str = "the connection has reached its maximum duration";
    /// Refusals by this end, each with a part of its hint.
    const OURS: [(Alert, &str, End, &str); 10] = [
        (
            Alert::HandshakeFailure,
            CANNOT,
            End::Server,
            "--trust-certificates",
        ),
        (
            Alert::HandshakeFailure,
            CANNOT,
            End::Server,
            "--anonymous-clients",
        ),
        (
            Alert::HandshakeFailure,
            "no cipher suite in common",
            End::Server,
            "AES-GCM",
        ),
        (
            Alert::HandshakeFailure,
            "no group in common",
            End::Server,
            "--groups",
        ),
        (
            Alert::HandshakeFailure,
            "no own identity that the client accepts",
            End::Server,
            "--profile",
        ),
        (
            Alert::DecryptError,
            "the Finished message is invalid",
            End::Client,
            "between them",
        ),
        (
            Alert::DecryptError,
            "a binder is invalid",
            End::Server,
            "--no-resumption",
        ),
        (
            Alert::DecryptError,
            "the DIDVerify signature is invalid",
            End::Client,
            "--reuse",
        ),
        (
            Alert::CertificateRequired,
            "a client without a certificate",
            End::Server,
            "--identity",
        ),
        (Alert::AccessDenied, LASTED, End::Client, "--longest"),
    ];
    /// Refusals by the other end, each with a part of the hint.
    const THEIRS: [(Alert, End, &str); 6] = [
        (Alert::AccessDenied, End::Client, "--longest"),
        (Alert::AccessDenied, End::Client, "does not expect"),
        (Alert::BadCertificate, End::Client, "identity fetch"),
        (Alert::BadCertificate, End::Server, "extended key usage"),
        (Alert::HandshakeFailure, End::Client, "--groups"),
        (Alert::NoApplicationProtocol, End::Client, "--alpn"),
    ];

    /// The hints for refusals by this end and by the other end; an empty text means no hint.
    #[test]
    fn each_refusal_has_the_hint_for_its_reason_and_its_end() {
        for (alert, reason, end, words) in OURS {
            let hint = told(Error::Refused(Refusal::new(alert, reason)), end);
            assert!(hint.contains(words), "{alert:?}, {reason}: {hint}");
        }
        for (alert, end, words) in THEIRS {
            let hint = told(Error::Alerted(alert), end);
            assert!(hint.contains(words), "{alert:?}: {hint}");
        }
        let finished = Refusal::new(Alert::DecryptError, "the Finished message is invalid");
        assert!(!told(Error::Refused(finished), End::Client).contains("--reuse"));
    }
}
