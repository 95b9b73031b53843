//! `selfsame certificate explain`.

use std::path::PathBuf;

use clap::Args;
use selfsame_crypto::x509::CertificateContents;
use selfsame_driver::clock::Clock;
use selfsame_mdoc::certificate::{
    CertificateRole, DocumentSigner, ProfileRule, authority_rules, end_rules,
};
use selfsame_terminal::exit::{Answer, End, Failure};
use selfsame_terminal::output::{self, RuleLine, rule_lines};
use serde::Serialize;

use crate::files;

/// The paragraphs of the profiles.
const PARAGRAPHS: [(CertificateRole, &str); 3] = [
    (CertificateRole::Authority, "ISO/IEC 18013-5 §B.1.2"),
    (CertificateRole::Signer, "ISO/IEC 18013-5 §B.1.4"),
    (CertificateRole::Reader, "ISO/IEC 18013-5 §B.1.7"),
];

/// Name each rule of its profile, and whether a certificate keeps it. What it is for is read from the certificate itself.
///
/// Exit codes: 0 every rule holds, 1 one is broken, 2 the file can't be read.
#[derive(Args)]
#[command(
    after_help = "Example: selfsame certificate explain signer.pem --authority authority.pem --json"
)]
pub struct ExplainCertificate {
    /// The certificate, PEM or DER.
    file: PathBuf,
    /// The certificate of its authority, PEM or DER. Without it, rules about the authority are not judged.
    #[arg(long, value_name = "FILE")]
    authority: Option<PathBuf>,
    /// Print one JSON object instead of text.
    #[arg(long)]
    json: bool,
}

/// What a certificate is, and the rules of its profile.
#[derive(Serialize)]
struct Explained {
    role: &'static str,
    subject: String,
    issuer: String,
    not_before: String,
    not_after: String,
    rules: Vec<ExplainedRule>,
}

/// A rule, and whether it holds.
#[derive(Serialize)]
struct ExplainedRule {
    name: &'static str,
    passed: bool,
    #[serde(skip_serializing_if = "String::is_empty")]
    detail: String,
    paragraph: &'static str,
}

impl ExplainCertificate {
    /// Reads the certificate, and explains it.
    pub fn run(self) -> End {
        let certificate = files::certificate(&self.file)?;
        let authority = self
            .authority
            .as_deref()
            .map(files::certificate)
            .transpose()?;
        let read = |der| {
            let contents = CertificateContents::parse(der);
            contents.ok_or_else(|| Failure::environment("a certificate is not X.509 in DER"))
        };
        let contents = read(&certificate)?;
        let above = authority.as_deref().map(read).transpose()?;
        let role = CertificateRole::of(&contents);
        let rules = match role {
            CertificateRole::Authority => authority_rules(&contents),
            _ => end_rules(role, &contents, above.as_ref()),
        };
        let mut explained = Explained::of(role, &contents, &rules);
        if let (Some(authority), CertificateRole::Signer) = (authority, role) {
            explained.add_path(&certificate, authority);
        }
        output::either(self.json, &explained, Explained::lines);
        let all = explained.rules.iter().all(|rule| rule.passed);
        Ok(if all { Answer::Yes } else { Answer::No })
    }
}

impl Explained {
    fn of(
        role: CertificateRole,
        contents: &CertificateContents<'_>,
        rules: &[ProfileRule],
    ) -> Self {
        let paragraph = PARAGRAPHS.iter().find(|(known, _)| *known == role);
        let paragraph = paragraph.map_or("", |(_, paragraph)| paragraph);
        let rules = rules.iter().map(|rule| ExplainedRule {
            name: rule.breach.rule(),
            passed: rule.holds,
            detail: match rule.holds {
                true => String::new(),
                false => rule.breach.to_string(),
            },
            paragraph,
        });
        let named = |of: &dyn Fn(&str) -> Option<String>| {
            let parts = ["C", "ST", "O", "CN"].into_iter();
            let parts = parts.filter_map(|name| Some(format!("{name}={}", of(name)?)));
            parts.collect::<Vec<_>>().join(", ")
        };
        Self {
            role: match role {
                CertificateRole::Authority => "authority",
                CertificateRole::Signer => "signer",
                CertificateRole::Reader => "reader",
            },
            subject: named(&|name| contents.subject_attribute(name)),
            issuer: named(&|name| contents.issuer_attribute(name)),
            not_before: contents.not_before.rfc3339(),
            not_after: contents.not_after.rfc3339(),
            rules: rules.collect(),
        }
    }

    /// Adds whether the authority signed the signer's certificate, and both are valid now.
    fn add_path(&mut self, certificate: &[u8], authority: Vec<u8>) {
        let found = DocumentSigner::find(certificate, &[authority], Clock::default().now());
        self.rules.push(ExplainedRule {
            name: "path",
            passed: found.is_ok(),
            detail: found.err().map(|why| why.to_string()).unwrap_or_default(),
            paragraph: "ISO/IEC 18013-5 §9.3.3",
        });
    }

    fn lines(&self) -> Vec<String> {
        let mut lines = vec![
            format!("{}: {}", self.role, self.subject),
            format!("issued by {}", self.issuer),
            format!("valid from {} to {}", self.not_before, self.not_after),
        ];
        lines.extend(rule_lines(self.rules.iter().map(|rule| RuleLine {
            name: rule.name,
            passed: Some(rule.passed),
            detail: &rule.detail,
            paragraph: rule.paragraph,
        })));
        lines
    }
}
