//! Hints for a refused handshake, for the person at the command line.

use selfsame_tls::{Alert, Error};

/// The hint if there was no room for a handshake.
pub const CROWDED: &str = "others are in the middle of theirs, and it may come again; of a proxy, --handshakes says how many \
                           there may be, and --per-address how many connections of one address";

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
            End::Client => "it ended without a word: does TLS 1.3 answer at that port?",
            End::Server => "it went away in the middle: its own log may say why",
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
        "does --trust-certificates name its authority? the peer has to send the authorities between",
    ),
    (
        "a certificate has expired",
        "the peer has to renew its certificate, or an authority its own; is the clock of this machine right?",
    ),
    (
        "not valid yet",
        "is the clock of this machine right, and that of the authority?",
    ),
    (
        "for another name",
        "compare --server-name with the names in the certificate",
    ),
    (
        "extended key usage",
        "its authority has to issue it for this end: serverAuth to servers, clientAuth to clients",
    ),
    (
        "(key usage)",
        "its authority has to issue it with the key usage digitalSignature, or without any",
    ),
    (
        "is no authority's",
        "what signed it is no authority's certificate (basicConstraints CA:TRUE)",
    ),
    (
        "certificate is an authority's",
        "the peer has to show a certificate of its own, and not its authority's",
    ),
    (
        "whether the certificates were revoked",
        "is there a list at --revocation-list for each authority of the chain, reached and in its time?",
    ),
    (
        "CertificateVerify",
        "the peer's certificate and its key do not belong together",
    ),
    (
        "the client cannot be asked for an identity",
        "the client takes part by X.509 alone: name the authority of its certificate with --trust-certificates, or \
             let in whoever comes with --anonymous-clients",
    ),
    (
        "no identity of ours that the server asks for",
        "the server wants to know who comes: name this node's identity with --identity; if it asks for a \
             credential: selfsame tls identity fetch",
    ),
    (
        "no cipher suite in common",
        "the other side has none of TLS 1.3's suites with AES-GCM or ChaCha20-Poly1305: they have to be switched on \
             there",
    ),
    (
        "no group in common",
        "--groups says which key exchanges are taken; the other side may take others",
    ),
    (
        "Finished does not hold",
        "the two sides did not hear the same: something between them changes what they say",
    ),
    (
        "a binder does not hold",
        "the client shows a ticket without its secret; with --no-resumption it makes a full handshake",
    ),
    (
        "has lasted as long as one may",
        "it may come again; --longest says how long a connection lasts",
    ),
];

fn ours(alert: Alert, reason: &str, end: End) -> Option<&'static str> {
    Some(match (alert, end) {
        (Alert::UnexpectedMessage | Alert::ProtocolVersion, End::Client) => {
            "what answers there may speak no TLS 1.3: is it the right port?"
        }
        (Alert::UnexpectedMessage | Alert::ProtocolVersion, End::Server) => {
            "the client speaks no TLS 1.3, or no TLS at all; TLS 1.2 is not taken here"
        }
        (Alert::AccessDenied, _) => {
            "it is genuine, and somebody else: compare --expect-claim, --expect-did and --trust-did"
        }
        (Alert::UnknownCa, _) => "if its issuer is to be trusted, name it with --trust-issuer",
        (Alert::CertificateExpired, _) => {
            "the peer has to fetch a new credential: selfsame tls identity fetch"
        }
        (Alert::CertificateRevoked, _) if reason.contains("DID") => {
            "whoever has this DID has ended it: the peer has to be known by another"
        }
        (Alert::CertificateRevoked, _) => "it is not to be let in any more; its issuer knows why",
        (Alert::CertificateUnknown, _) => {
            "what there is to know of it can't be looked up: is --registry named, and reached? a host that is private \
             or on this machine takes --trust-origin"
        }
        (Alert::InsufficientSecurity, _) => {
            "to take certificates as well, say --trust-certificates"
        }
        (Alert::DecryptError, _) => {
            "it may have a new key: try again when what is kept of it is over (--reuse)"
        }
        (Alert::HandshakeFailure, _) => NOTHING_IN_COMMON,
        (Alert::NoApplicationProtocol, _) => "--alpn names the protocols that are spoken here",
        (Alert::CertificateRequired, _) => {
            "the client showed nothing: it has to name --identity or --certificate there; or let in whoever comes with \
             --anonymous-clients"
        }
        _ => return None,
    })
}

fn theirs(alert: Alert, end: End) -> Option<&'static str> {
    Some(match (alert, end) {
        (Alert::HandshakeFailure, _) => NOTHING_IN_COMMON_THERE,
        (Alert::ProtocolVersion, End::Client) => {
            "the server speaks no TLS 1.3: can that be switched on there?"
        }
        (Alert::ProtocolVersion, End::Server) => {
            "the client speaks no TLS 1.3: can that be switched on there?"
        }
        (Alert::AccessDenied, _) => {
            "the other side does not expect this node, or no credential of this type; where the connection was open \
             already, it may have lasted as long as one may there (--longest)"
        }
        (Alert::UnknownCa, _) => {
            "the other side does not trust the issuer of this node's credential, or the authority of its certificate"
        }
        (Alert::BadCertificate, End::Server) => {
            "the client does not accept what this node showed: a certificate has to be for the name that the client \
             asks for, and for servers (extended key usage); a credential has to be as its issuer signed it, which \
             selfsame tls identity fetch gets again"
        }
        (Alert::BadCertificate, End::Client) => {
            "the server does not accept what this node showed: a certificate has to be for clients (extended key \
             usage); a credential has to be as its issuer signed it, which selfsame tls identity fetch gets again"
        }
        (Alert::CertificateRevoked, _) => {
            "this node's credential or certificate was revoked, or its DID has ended: make or fetch another"
        }
        (Alert::CertificateExpired, _) => {
            "this node's credential has ended: selfsame tls identity fetch; or its certificate, which is to be renewed"
        }
        (Alert::CertificateUnknown, _) => {
            "the other side could not look this node up: is its registry named and reached there?"
        }
        (Alert::DecryptError, _) => {
            "the other side knows another key of this DID: after `identity update` start again, or send it \
             SIGHUP"
        }
        (Alert::CertificateRequired, _) => {
            "the other side wants to know who comes: name --identity, or --certificate"
        }
        (Alert::NoApplicationProtocol, _) => {
            "the other side speaks none of the protocols that --alpn names here"
        }
        _ => return None,
    })
}

const NOTHING_IN_COMMON: &str = "the two sides have no way in common to say who they are: both need --trust-issuer and \
                                 credentials, or both --trust-did, and the same --profile; or the client \
                                 --trust-certificates and the server --certificate";

const NOTHING_IN_COMMON_THERE: &str = "the two sides have no way in common to say who they are: both need --trust-issuer \
                                       and credentials, or both --trust-did, and the same --profile; or the client \
                                       --trust-certificates and the server --certificate; or no key exchange in \
                                       common: see --groups";

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
        assert!(told(old, End::Server).contains("the client speaks"));
        let alerted = Error::Alerted(Alert::ProtocolVersion);
        assert!(told(alerted, End::Client).contains("the server speaks no TLS 1.3"));
        let refused =
            |alert, reason| told(Error::Refused(Refusal::new(alert, reason)), End::Client);
        let name = refused(Alert::BadCertificate, "the certificate is for another name");
        assert!(name.contains("--server-name"), "{name}");
        let chain = refused(Alert::UnknownCa, "the chain leads to no trust anchor");
        assert!(chain.contains("--trust-certificates"), "{chain}");
        let issuer = refused(Alert::UnknownCa, "the issuer is not trusted");
        assert!(issuer.contains("--trust-issuer"), "{issuer}");
        let proof = refused(Alert::DecryptError, "CertificateVerify does not hold");
        assert!(!proof.contains("--reuse"), "{proof}");
        let ended = refused(Alert::CertificateRevoked, "the DID is deactivated");
        assert!(!ended.contains("issuer"), "{ended}");
    }

    const CANNOT: &str = "the client cannot be asked for an identity we accept";
    const LASTED: &str = "the connection has lasted as long as one may";
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
            "no identity of ours that the client accepts",
            End::Server,
            "--profile",
        ),
        (
            Alert::DecryptError,
            "Finished does not hold",
            End::Client,
            "between them",
        ),
        (
            Alert::DecryptError,
            "a binder does not hold",
            End::Server,
            "--no-resumption",
        ),
        (
            Alert::DecryptError,
            "DIDVerify does not hold",
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
        let finished = Refusal::new(Alert::DecryptError, "Finished does not hold");
        assert!(!told(Error::Refused(finished), End::Client).contains("--reuse"));
    }
}
