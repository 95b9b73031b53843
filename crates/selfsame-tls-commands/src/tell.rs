//! The report on a peer: its identity, each rule that was checked, and why it was refused.

use selfsame_credential::verdict::Rule;
use selfsame_crypto::encoding::hex_encode;
use selfsame_crypto::hash::sha256;
use selfsame_crypto::time::UnixTime;
use selfsame_crypto::x509;
use selfsame_proxy::way_of;
use selfsame_tls::identity::{Peer, PeerKind};
use selfsame_tls_io::{Error, tls_error};
use serde::Serialize;

use crate::advice;

/// A connection, or the reason for its refusal.
#[derive(Debug, Default, Serialize)]
pub struct Report {
    /// Whether there is a connection.
    pub accepted: bool,
    /// How the peer authenticated: `nobody`, `certificate`, `did` or `credential`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<&'static str>,
    /// The peer's DID.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub did: Option<String>,
    /// The issuer of its credential.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub issuer: Option<String>,
    /// The claims of its credential.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub claims: Option<serde_json::Value>,
    /// The peer's X.509 certificate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub certificate: Option<Shown>,
    /// Seconds since the peer authenticated, if it did so in an earlier handshake that this connection resumes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resumed: Option<u64>,
    /// Each rule.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<Rule>,
    /// Seconds since the fetched evidence was certainly current.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub age: Option<u64>,
    /// Why there is no connection.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What can be done about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<&'static str>,
}

/// An X.509 certificate.
#[derive(Debug, Default, Serialize)]
pub struct Shown {
    /// The subject's attributes.
    pub subject: String,
    /// The alternative names, each with its kind.
    pub names: Vec<String>,
    /// The certificate's SHA-256 digest, which identifies it whatever it states.
    pub sha256: String,
}

impl Shown {
    fn of(certificate: &[u8]) -> Self {
        let named = x509::named(certificate).unwrap_or_default();
        Self {
            subject: named.subject,
            names: named.alternatives,
            sha256: hex_encode(&sha256(certificate)),
        }
    }

    fn line(&self) -> String {
        let names = [&self.subject, &self.names.join(" ")];
        let names = names.into_iter().filter(|name| !name.is_empty()).cloned();
        let names: Vec<_> = names.collect();
        let names = names.join("  ");
        format!("certificate {names}  sha256:{}", self.sha256)
    }
}

impl Report {
    /// The report on an admitted peer.
    pub fn of(peer: &Peer, now: UnixTime) -> Self {
        let mut report = Self {
            accepted: true,
            rules: peer.verdict.rules.clone(),
            resumed: peer.resumed.map(|then| now.seconds_since(then)),
            age: peer
                .verdict
                .as_of
                .map(|as_of| now.seconds_since(UnixTime(as_of))),
            ..Self::default()
        };
        report.by = Some(way_of(&peer.kind));
        match &peer.kind {
            PeerKind::Anonymous => {}
            PeerKind::Certificate(chain) => {
                report.certificate = chain.first().map(|own| Shown::of(own));
            }
            PeerKind::Did(did) => {
                report.did = Some(did.to_string());
            }
            PeerKind::Credential(credential) => {
                report.did = Some(credential.subject.to_string());
                report.issuer = Some(credential.issuer.to_string());
                report.claims = Some(serde_json::Value::Object(credential.claims.clone()));
            }
        }
        report
    }

    /// The report on a failed handshake.
    pub fn refused(error: &Error, end: advice::End) -> Self {
        Self {
            reason: Some(error.to_string()),
            hint: match error {
                Error::Tls(error) => advice::of(error, end),
                Error::Crowded => Some(advice::CROWDED),
                Error::Io(_) | Error::TimedOut | Error::Silent => None,
            },
            ..Self::default()
        }
    }

    /// The report as lines for people.
    pub fn lines(&self) -> Vec<String> {
        if let Some(reason) = &self.reason {
            let hint = self.hint.map(|hint| format!("hint: {hint}"));
            let refused = format!("REFUSED  {reason}");
            return std::iter::once(refused).chain(hint).collect();
        }
        let who = match (&self.did, &self.issuer, &self.certificate) {
            (Some(did), Some(issuer), _) => format!("{did}, with a credential from {issuer}"),
            (Some(did), None, _) => did.clone(),
            (_, _, Some(shown)) => shown.line(),
            _ => self.by.unwrap_or_default().to_owned(),
        };
        let resumed = match self.resumed {
            Some(ago) => format!(", authenticated {ago} s ago"),
            None => String::new(),
        };
        let mut lines = vec![format!("ACCEPTED  {who}{resumed}")];
        for rule in &self.rules {
            let mark = match rule.passed {
                Some(true) => "✓",
                Some(false) => "✗",
                None => "–",
            };
            lines.push(format!(
                "  {mark} {}  {}  {}",
                rule.name, rule.detail, rule.paragraph
            ));
        }
        if let Some(claims) = self.claims.as_ref().and_then(serde_json::Value::as_object) {
            lines.extend(
                claims
                    .iter()
                    .map(|(name, value)| format!("  {name}: {value}")),
            );
        }
        lines.extend(
            self.age
                .map(|age| format!("  the looked-up data are {age} s old")),
        );
        lines
    }
}

/// Whether either side refused for a reason of identity or protocol: a negative answer, not a network failure.
pub fn is_refusal(error: &Error) -> bool {
    matches!(
        error,
        Error::Tls(selfsame_tls::Error::Refused(_) | selfsame_tls::Error::Alerted(_))
    )
}

/// As [`is_refusal`], for a stream's error.
pub fn is_refused_stream(error: &std::io::Error) -> bool {
    matches!(
        tls_error(error),
        Some(selfsame_tls::Error::Refused(_) | selfsame_tls::Error::Alerted(_))
    )
}
