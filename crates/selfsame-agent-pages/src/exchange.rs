//! One exchange: where it stands, what it is about, and the wire drawn message by message.

use askama::Template;
use selfsame_agent_view::seen::{KeptMessage, SeenExchange, WireMessage};

use crate::exchanges::ExchangeKind;
use crate::words::Trouble;
use crate::{PageBase, words};

/// One exchange.
#[derive(Template)]
#[template(path = "exchange.html")]
pub struct ExchangeContent {
    /// What all pages have.
    pub base: PageBase,
    /// Which kind it is of.
    pub kind: ExchangeKind,
    /// The exchange.
    pub seen: SeenExchange,
    /// The peer's name, if it is known.
    pub peer: Option<String>,
    /// The place of the credential in a revocation registry.
    pub place: Option<IssuedAt>,
}

/// The place of a credential in a revocation registry.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct IssuedAt {
    /// The registry.
    pub registry: String,
    /// The place there.
    pub place: u32,
    /// Whether this agent keeps the registry.
    pub is_own: bool,
}

impl ExchangeContent {
    fn title(&self) -> &'static str {
        match self.kind {
            ExchangeKind::Issuing => "Issuing of a credential",
            ExchangeKind::Proofs => "Proof",
        }
    }

    fn peer_name(&self) -> &str {
        self.peer.as_deref().unwrap_or("Peer")
    }

    fn trouble(&self) -> Option<Trouble> {
        words::trouble(&self.seen)
    }

    fn next(&self) -> Option<&'static str> {
        words::next(&self.seen.sight)
    }

    /// The heading of the attributes.
    fn attributes_of(&self) -> &'static str {
        match self.kind {
            ExchangeKind::Issuing => "Attributes",
            ExchangeKind::Proofs => "What was shown",
        }
    }

    /// What stands in place of a value that is not shown.
    fn hidden(&self) -> &'static str {
        match self.kind {
            ExchangeKind::Issuing => "hidden: who knows it can use the credential up",
            ExchangeKind::Proofs => "proven or kept back, not shown",
        }
    }
}

/// The content of a message, indented.
fn pretty(kept: &KeptMessage) -> String {
    serde_json::to_string_pretty(&kept.content).unwrap_or_default()
}

fn size(kept: &KeptMessage) -> String {
    words::size(kept.bytes)
}

/// The classes of a message in the picture.
fn classes(message: &WireMessage) -> &'static str {
    match (message.is_ours, message.name) {
        (true, "problem-report") => "is-out is-report",
        (false, "problem-report") => "is-in is-report",
        (true, _) => "is-out",
        (false, _) => "is-in",
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use selfsame_agent_view::seen::{ExchangeSight, ProofFindings, SeenAttribute};
    use serde_json::json;

    use super::*;
    use crate::PageRights;

    /// An issuing in this state.
    pub fn sight(state: &'static str) -> ExchangeSight {
        ExchangeSight {
            id: "x1".to_owned(),
            protocol: "issue-credential/2.0".to_owned(),
            role: "issuer".to_owned(),
            state,
            is_ours: true,
            connection_id: Some("c1".to_owned()),
            thread_id: "thread-1".to_owned(),
            parent_thread_id: None,
            error: None,
            created_at: "2026-11-21T09:30:00Z".to_owned(),
            updated_at: "2026-11-21T09:31:00Z".to_owned(),
        }
    }

    fn message(name: &'static str, is_ours: bool, kept: Option<KeptMessage>) -> WireMessage {
        WireMessage {
            name,
            is_ours,
            at: "2026-11-21T09:30:05Z".to_owned(),
            kept,
        }
    }

    fn content(kind: ExchangeKind, seen: SeenExchange) -> String {
        let content = ExchangeContent {
            base: PageBase {
                form: "token".to_owned(),
                rights: PageRights::ALL,
                ..PageBase::default()
            },
            kind,
            seen,
            peer: Some("Lake".to_owned()),
            place: Some(IssuedAt {
                registry: "did:example:1/registry".to_owned(),
                place: 7,
                is_own: true,
            }),
        };
        content.render().unwrap()
    }

    fn seen(sight: ExchangeSight, wire: Vec<WireMessage>) -> SeenExchange {
        SeenExchange {
            sight,
            wire,
            attributes: Vec::new(),
            cred_def_id: None,
            verdict: None,
        }
    }

    #[test]
    fn each_message_is_drawn_with_its_name_time_size_and_content() {
        let kept = KeptMessage {
            bytes: 5_249,
            content: json!({"comment": "<for you>"}),
        };
        let wire = vec![
            message("offer-credential", true, Some(kept)),
            message("request-credential", false, None),
        ];
        let page = content(ExchangeKind::Issuing, seen(sight("request-received"), wire));
        for part in [
            "offer-credential",
            "5.2 kB",
            "21 Nov 2026, 09:30:05 UTC",
            "thread-1",
            "is-out",
            "is-in",
        ] {
            assert!(page.contains(part), "{part}: {page}");
        }
        assert!(
            !page.contains("<for you>") && page.contains("not kept"),
            "{page}"
        );
        assert!(page.contains("auto_respond_credential_request"), "{page}");
        assert!(page.contains("place 7"), "{page}");
        assert!(
            !page.contains(" style=") && !page.contains("<script"),
            "{page}"
        );
    }

    #[test]
    fn a_verdict_is_said_with_its_findings() {
        let verdict = ProofFindings {
            is_valid: false,
            messages: vec!["VERIFY_ERROR::non_revocation: the credential is revoked".to_owned()],
        };
        let shown = SeenExchange {
            attributes: vec![SeenAttribute {
                name: "age >= 18".to_owned(),
                value: None,
            }],
            verdict: Some(verdict),
            ..seen(sight("done"), Vec::new())
        };
        let page = content(ExchangeKind::Proofs, shown);
        assert!(page.contains("Not accepted") && page.contains("the credential is revoked"));
        assert!(
            page.contains("age &#62;= 18") && page.contains("not shown"),
            "{page}"
        );
        assert!(page.contains("No messages are remembered"), "{page}");
    }

    #[test]
    fn who_ended_an_exchange_and_why_is_said_in_words() {
        let ended = ExchangeSight {
            error: Some("issuance-abandoned: we are closed".to_owned()),
            ..sight("abandoned")
        };
        let wire = vec![message("problem-report", false, None)];
        let page = content(ExchangeKind::Issuing, seen(ended.clone(), wire));
        assert!(page.contains("The peer gave up the issuing.") && page.contains("we are closed"));
        assert!(!page.contains("issuance-abandoned:"), "{page}");
        let wire = vec![message("problem-report", true, None)];
        let page = content(ExchangeKind::Issuing, seen(ended, wire));
        assert!(page.contains("This agent ended the exchange."), "{page}");
        let stuck = ExchangeSight {
            error: Some("the ledger is away".to_owned()),
            ..sight("request-received")
        };
        let page = content(ExchangeKind::Issuing, seen(stuck, Vec::new()));
        assert!(page.contains("does not go on by itself") && page.contains("the ledger is away"));
    }
}
