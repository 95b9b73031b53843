//! What happened on the wire of OpenID: the switch, the flows of a kind, and one flow drawn message by message.

use askama::Template;
use selfsame_wire::{
    FLOWS_MAX, FlowKind, KEPT_SECONDS, ON_SECONDS, RecordedFlow, RecordedMessage, RecordedSummary,
    WireParty, WireSwitch,
};

use crate::{PageBase, picture, words};

/// The page with the switch.
#[derive(Template)]
#[template(path = "wire_switch.html")]
pub struct SwitchContent {
    /// What all pages have.
    pub base: PageBase,
    /// Whether flows are recorded.
    pub switch: WireSwitch,
    /// Whether the organisation issues.
    pub has_issuer: bool,
    /// Whether it asks for presentations.
    pub has_verifier: bool,
}

/// The recorded flows of a kind.
#[derive(Template)]
#[template(path = "wire_flows.html")]
pub struct FlowsContent {
    /// What all pages have.
    pub base: PageBase,
    /// The kind.
    pub kind: FlowKind,
    /// Whether the flow of one offer or request was asked for, and was not recorded.
    pub lacks_wanted: bool,
    /// Whether flows are recorded.
    pub is_on: bool,
    /// The flows.
    pub flows: Vec<RecordedSummary>,
    /// Where older ones begin.
    pub next: Option<String>,
}

/// One flow.
#[derive(Template)]
#[template(path = "wire_flow.html")]
pub struct FlowContent {
    /// What all pages have.
    pub base: PageBase,
    /// The flow.
    pub flow: RecordedFlow,
}

impl SwitchContent {
    fn days_on(&self) -> u64 {
        ON_SECONDS / 86_400
    }

    fn hours_kept(&self) -> u64 {
        KEPT_SECONDS / 3_600
    }

    fn flows_max(&self) -> u64 {
        FLOWS_MAX
    }
}

impl FlowsContent {
    /// The title of the page.
    #[must_use]
    pub fn title(&self) -> &'static str {
        list_title(self.kind)
    }

    fn home(&self) -> &'static str {
        home(self.kind)
    }

    fn is_own(&self) -> bool {
        self.kind == FlowKind::Wallet
    }
}

impl FlowContent {
    /// The title of the page.
    #[must_use]
    pub fn title(&self) -> &'static str {
        match self.flow.kind {
            FlowKind::Issuance => "Issuance on the wire",
            FlowKind::Presentation => "Presentation on the wire",
            FlowKind::SignIn => "Sign-in on the wire",
            FlowKind::Wallet => "Your wallet on the wire",
        }
    }

    fn list_title(&self) -> &'static str {
        list_title(self.flow.kind)
    }

    fn home(&self) -> &'static str {
        home(self.flow.kind)
    }

    /// Who stands on the left.
    fn here(&self) -> &'static str {
        match self.flow.kind {
            FlowKind::Issuance => "Issuer",
            FlowKind::Presentation => "Verifier",
            FlowKind::SignIn => "OpenID provider",
            FlowKind::Wallet => "Wallet",
        }
    }

    /// Who stands on the right.
    fn there(&self) -> &'static str {
        match self.flow.kind {
            FlowKind::Issuance | FlowKind::Presentation => "Wallet",
            FlowKind::SignIn => "Application, browser",
            FlowKind::Wallet => "Issuer, verifier",
        }
    }

    /// Whether the party on the left sent a message.
    fn is_ours(&self, message: &RecordedMessage) -> bool {
        match self.flow.kind {
            FlowKind::Wallet => message.from == WireParty::Wallet,
            _ => matches!(
                message.from,
                WireParty::Issuer | WireParty::Verifier | WireParty::Provider
            ),
        }
    }

    fn arrow(&self, message: &RecordedMessage) -> &'static str {
        picture::line(self.is_ours(message))
    }

    fn classes(&self, message: &RecordedMessage) -> &'static str {
        match (self.is_ours(message), message.name == "Refusal") {
            (true, true) => "is-out is-report",
            (true, false) => "is-out",
            (false, true) => "is-in is-report",
            (false, false) => "is-in",
        }
    }
}

/// The path of the list of a kind's flows, below the organisation's own.
#[must_use]
pub fn home(kind: FlowKind) -> &'static str {
    match kind {
        FlowKind::Issuance => "/issuer/wire",
        FlowKind::Presentation => "/verifier/wire",
        FlowKind::SignIn => "/wire/sign-ins",
        FlowKind::Wallet => "/wallet/wire",
    }
}

fn list_title(kind: FlowKind) -> &'static str {
    match kind {
        FlowKind::Issuance => "Recorded issuances",
        FlowKind::Presentation => "Recorded presentations",
        FlowKind::SignIn => "Recorded sign-ins",
        FlowKind::Wallet => "What your wallet did",
    }
}

fn party(party: &WireParty) -> &'static str {
    match party {
        WireParty::Issuer => "issuer",
        WireParty::Verifier => "verifier",
        WireParty::Wallet => "wallet",
        WireParty::Provider => "provider",
        WireParty::Application => "application",
        WireParty::Browser => "browser",
    }
}

fn size(message: &RecordedMessage) -> String {
    words::size(message.bytes)
}

fn moment(message: &RecordedMessage) -> String {
    words::moment(&message.at)
}

fn took(message: &RecordedMessage) -> String {
    message
        .took_ms
        .map_or_else(String::new, |ms| format!("after {ms} ms"))
}

/// The content of a message, indented.
fn pretty(message: &RecordedMessage) -> String {
    serde_json::to_string_pretty(&message.content).unwrap_or_default()
}

fn is_empty(message: &RecordedMessage) -> bool {
    message
        .content
        .as_object()
        .is_some_and(serde_json::Map::is_empty)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn flow() -> RecordedFlow {
        let message = |name: &str, from, to, content| RecordedMessage {
            name: name.to_owned(),
            from,
            to,
            by: "OpenID4VCI 1.0 §6.1".to_owned(),
            head: "POST /issuer/token".to_owned(),
            at: "2026-11-30T10:00:00Z".to_owned(),
            took_ms: Some(12),
            bytes: 1_234,
            content,
        };
        let (wallet, issuer) = (WireParty::Wallet, WireParty::Issuer);
        RecordedFlow {
            id: "abc".to_owned(),
            kind: FlowKind::Issuance,
            began: "2026-11-30T10:00:00Z".to_owned(),
            messages: vec![
                message(
                    "Token request",
                    wallet,
                    issuer,
                    json!({"body": {"x": "<b>"}}),
                ),
                message("Refusal", issuer, wallet, json!({})),
            ],
            left_out: 3,
        }
    }

    fn summary() -> RecordedSummary {
        RecordedSummary {
            id: "abc".to_owned(),
            kind: FlowKind::Presentation,
            began: "2026-11-30T10:00:00Z".to_owned(),
            last: "Authorization response".to_owned(),
            messages: 2,
        }
    }

    #[test]
    fn each_message_has_its_name_parties_paragraph_time_size_and_content() {
        let content = FlowContent {
            base: PageBase {
                here: "/o/acme".to_owned(),
                form: "token".to_owned(),
                ..PageBase::default()
            },
            flow: flow(),
        };
        let page = content.render().unwrap();
        for part in [
            "Token request",
            "POST /issuer/token",
            "OpenID4VCI 1.0 §6.1",
            "1.2 kB",
            "after 12 ms",
            "is-in",
            "is-out is-report",
            "3 further messages",
            "/o/acme/issuer/wire/abc/erase",
            "From the wallet to the issuer",
        ] {
            assert!(page.contains(part), "{part}: {page}");
        }
        assert!(
            !page.contains("\"<b>\"") && !page.contains(" style=") && !page.contains("<script")
        );
    }

    #[test]
    fn a_list_says_that_nothing_is_recorded_and_where_to_switch_it_on() {
        let list = |is_on, flows: Vec<RecordedSummary>| {
            let content = FlowsContent {
                base: PageBase::default(),
                kind: FlowKind::Presentation,
                lacks_wanted: false,
                is_on,
                flows,
                next: None,
            };
            content.render().unwrap()
        };
        let off = list(false, Vec::new());
        assert!(
            off.contains("Nothing is recorded") && off.contains("href=\"/wire\""),
            "{off}"
        );
        let on = list(true, vec![summary()]);
        assert!(
            on.contains("/verifier/wire/abc") && on.contains("2 messages"),
            "{on}"
        );
        assert!(!on.contains("Nothing is recorded"), "{on}");
        let content = FlowsContent {
            base: PageBase::default(),
            kind: FlowKind::Wallet,
            lacks_wanted: true,
            is_on: false,
            flows: Vec::new(),
            next: None,
        };
        let own = content.render().unwrap();
        assert!(
            own.contains("the operator") && !own.contains("href=\"/wire\""),
            "{own}"
        );
        let missing = "This flow was not recorded";
        assert!(own.contains(missing) && !on.contains(missing), "{own}");
    }

    #[test]
    fn the_switch_says_what_is_kept_and_for_how_long() {
        let page = |is_on: bool| {
            let content = SwitchContent {
                base: PageBase::default(),
                switch: WireSwitch {
                    is_on,
                    until: is_on.then(|| "2026-12-07T10:00:00Z".to_owned()),
                },
                has_issuer: true,
                has_verifier: false,
            };
            content.render().unwrap()
        };
        assert!(page(false).contains("Switch on") && page(false).contains("7 days"));
        assert!(page(true).contains("Switch off") && page(true).contains("2026-12-07T10:00:00Z"));
        assert!(page(true).contains("/issuer/wire") && !page(true).contains("/verifier/wire"));
    }
}
