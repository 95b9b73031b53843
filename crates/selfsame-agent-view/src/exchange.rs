//! Exchanges as controllers see them.

mod first;

use selfsame_aries::exchange::{Course, Exchange, Payload, Speech};
use selfsame_aries::issue_credential::{CredentialExchange, IssueMessage};
use selfsame_aries::present_proof::{PresentationExchange, ProofMessage};
use selfsame_aries::wire::Vocabulary as _;
use selfsame_didcomm::{Message, Version};
use serde_json::{Map, Value, json};

use crate::attachments::by_format;

/// How much of the messages is shown.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Depth {
    /// What the attachments say.
    Attachments,
    /// The whole messages too.
    Messages,
}

/// The messages of a protocol, with the names of their members.
struct MessageNames<K: 'static>(&'static [(K, &'static str)]);

const OF_ISSUING: MessageNames<IssueMessage> = MessageNames(&[
    (IssueMessage::Proposal, "cred_proposal"),
    (IssueMessage::Offer, "cred_offer"),
    (IssueMessage::Request, "cred_request"),
    (IssueMessage::Credential, "cred_issue"),
]);

const OF_PROVING: MessageNames<ProofMessage> = MessageNames(&[
    (ProofMessage::Proposal, "pres_proposal"),
    (ProofMessage::Request, "pres_request"),
    (ProofMessage::Presentation, "pres"),
]);

/// What came of an issuing.
#[derive(Clone, Copy, Debug, Default)]
pub struct CredentialOutcome<'a> {
    /// The name of the format.
    pub format: Option<&'a str>,
    /// The credential's identifier in the holder's wallet.
    pub credential_id: Option<&'a str>,
    /// The revocation registry of the credential.
    pub rev_reg_id: Option<&'a str>,
    /// The credential's index there.
    pub cred_rev_id: Option<u32>,
}

impl CredentialOutcome<'_> {
    /// The index as a text.
    fn cred_rev_id(&self) -> Option<String> {
        self.cred_rev_id.map(|index| index.to_string())
    }

    /// What the format knows of the exchange, by the format's name; `None` before there is something to know.
    #[must_use]
    pub fn detail(&self, id: &str) -> Option<Value> {
        let known = json!({
            "cred_ex_id": id,
            "cred_id_stored": self.credential_id,
            "rev_reg_id": self.rev_reg_id,
            "cred_rev_id": self.cred_rev_id(),
        });
        let format = self.format?;
        Some(json!({ format: known }))
    }
}

/// Whether version 1 of a protocol drives the exchange.
fn is_first<C: Course>(exchange: &Exchange<C>) -> bool {
    exchange.version().major == 1
}

/// The state's name in the version that drives the issuing.
#[must_use]
pub fn credential_state(exchange: &CredentialExchange) -> &'static str {
    match is_first(exchange) {
        true => first::credential_state(exchange.state),
        false => exchange.state.name(),
    }
}

/// The state's name in the version that drives the presenting.
#[must_use]
pub fn presentation_state(exchange: &PresentationExchange) -> &'static str {
    match is_first(exchange) {
        true => first::presentation_state(exchange),
        false => exchange.state.name(),
    }
}

/// An issuing (`V20CredExRecord`). With its messages it has a member `detail`, which is no member of the record.
#[must_use]
pub fn credential(
    id: &str,
    exchange: &CredentialExchange,
    outcome: &CredentialOutcome<'_>,
    depth: Depth,
) -> Value {
    if is_first(exchange) {
        return first::credential(id, exchange, outcome, depth);
    }
    let mut shown = common(exchange);
    if let Some(detail) = outcome.detail(id).filter(|_| depth == Depth::Messages) {
        shown.insert("detail".into(), detail);
    }
    let extra = &exchange.extra;
    shown.insert("cred_ex_id".into(), json!(id));
    shown.insert("state".into(), json!(exchange.state.name()));
    shown.insert("auto_offer".into(), json!(extra.auto_offer));
    shown.insert("auto_issue".into(), json!(extra.auto_issue));
    shown.insert("auto_remove".into(), json!(extra.auto_remove));
    let offered = exchange.message(IssueMessage::Offer);
    let proposed = exchange.message(IssueMessage::Proposal);
    let previews = [offered, proposed].into_iter().flatten();
    if let Some(preview) = previews.filter_map(|one| one.preview.as_ref()).next() {
        let kind = exchange.dialogue.kind.sibling("credential-preview");
        let preview = json!({"@type": kind.to_string(), "attributes": preview.attributes});
        shown.insert("cred_preview".into(), preview);
    }
    OF_ISSUING.show(exchange, depth, &mut shown);
    Value::Object(shown)
}

/// A presenting (`V20PresExRecord`).
#[must_use]
pub fn presentation(id: &str, exchange: &PresentationExchange, depth: Depth) -> Value {
    if is_first(exchange) {
        return first::presentation(id, exchange, depth);
    }
    let mut shown = common(exchange);
    let extra = &exchange.extra;
    shown.insert("pres_ex_id".into(), json!(id));
    shown.insert("state".into(), json!(exchange.state.name()));
    shown.insert("auto_present".into(), json!(extra.auto_present));
    shown.insert("auto_verify".into(), json!(extra.auto_verify));
    shown.insert("auto_remove".into(), json!(extra.auto_remove));
    if let Some(verified) = extra.verified {
        shown.insert("verified".into(), json!(verified.to_string()));
        shown.insert("verified_msgs".into(), json!(extra.verified_msgs));
    }
    OF_PROVING.show(exchange, depth, &mut shown);
    Value::Object(shown)
}

/// What both have.
fn common<C: Course>(exchange: &Exchange<C>) -> Map<String, Value> {
    let dialogue = &exchange.dialogue;
    let mut shown = Map::new();
    let mut add = |name: &str, value: Value| {
        if !value.is_null() {
            shown.insert(name.to_owned(), value);
        }
    };
    add("connection_id", json!(exchange.connection_id));
    add("thread_id", json!(dialogue.thread_id));
    add("parent_thread_id", json!(dialogue.parent_thread_id));
    add("initiator", json!(exchange.initiator));
    add("role", json!(exchange.role));
    add("error_msg", json!(dialogue.error_msg));
    add("trace", json!(false));
    add("created_at", json!(dialogue.created_at.rfc3339()));
    add("updated_at", json!(dialogue.updated_at.rfc3339()));
    shown
}

impl<K: Copy + Ord + 'static> MessageNames<K> {
    fn show<C: Course<Kind = K>>(
        &self,
        exchange: &Exchange<C>,
        depth: Depth,
        shown: &mut Map<String, Value>,
    ) {
        let mut formats = Map::new();
        for (kind, name) in self.0 {
            let Some(payload) = exchange.message(*kind) else {
                continue;
            };
            formats.insert((*name).to_owned(), by_format(payload));
            if depth == Depth::Messages {
                shown.insert((*name).to_owned(), message(exchange, *kind, payload));
            }
        }
        shown.insert("by_format".to_owned(), Value::Object(formats));
    }
}

/// A message of the exchange. Its identifier is kept only if it began the thread.
fn message<C: Course>(exchange: &Exchange<C>, kind: C::Kind, payload: &Payload) -> Value {
    let message = spoken(exchange, &Speech::of(kind, payload.clone()));
    let mut members = message.to_members(Version::V1);
    members.remove("@id");
    Value::Object(members)
}

/// A message of the exchange, without its identifier.
pub(crate) fn spoken<C: Course>(exchange: &Exchange<C>, speech: &Speech<C>) -> Message {
    let dialogue = &exchange.dialogue;
    let mut message = Message::new(dialogue.kind.sibling(speech.name()), "");
    message.thread.thid = Some(dialogue.thread_id.clone());
    message.thread.pthid.clone_from(&dialogue.parent_thread_id);
    speech.write(&mut message);
    message
}
