//! Exchanges as pages show them: where each stands, what it is about, and its messages one after another, without
//! secrets.

use selfsame_aries::dialogue::Initiator;
use selfsame_aries::exchange::{Course, Exchange, Payload, Speech, Utterance};
use selfsame_aries::issue_credential::{IssueCredential, IssueState};
use selfsame_aries::present_proof::{PresentProof, ProofExtra};
use selfsame_didcomm::{Message, Version};
use serde::Serialize;
use serde_json::{Value, json};

use crate::attachments::known;
use crate::exchange::{credential_state, presentation_state, spoken};
use crate::masked::{HANDLE, masked};

/// The length of a message's identifier, which is not kept.
const ID_LENGTH: usize = 36;
/// The longest attachment that is decoded.
const ATTACHMENT_MAX: usize = 1024 * 1024;

/// Where an exchange stands.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ExchangeSight {
    /// Its identifier.
    pub id: String,
    /// The protocol with its version, such as `issue-credential/2.0`.
    pub protocol: String,
    /// Who this agent is, by the role's name in the RFC.
    pub role: String,
    /// Its state, by the name in version 2.0.
    pub state: &'static str,
    /// Whether this agent began it.
    pub is_ours: bool,
    /// The connection; `None` without one.
    pub connection_id: Option<String>,
    /// Its thread.
    pub thread_id: String,
    /// The thread or invitation that it comes from.
    pub parent_thread_id: Option<String>,
    /// What went wrong: in one line, the code of a problem report and its text, or why it did not go on by itself.
    pub error: Option<String>,
    /// When it began, in UTC.
    pub created_at: String,
    /// When it changed last, in UTC.
    pub updated_at: String,
}

/// An exchange with its messages.
#[derive(Clone, Debug, PartialEq)]
pub struct SeenExchange {
    /// Where it stands.
    pub sight: ExchangeSight,
    /// The messages of both sides that are remembered, the oldest first.
    pub wire: Vec<WireMessage>,
    /// The attributes that both sides agree on, in order.
    pub attributes: Vec<SeenAttribute>,
    /// The credential definition that it names.
    pub cred_def_id: Option<String>,
    /// What the verification of a presentation found; `None` before it, and of an issuing.
    pub verdict: Option<ProofFindings>,
}

/// An attribute and its value.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct SeenAttribute {
    /// Its name.
    pub name: String,
    /// Its value; `None` if it is not for everybody.
    pub value: Option<String>,
}

/// What the verification of a presentation found.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ProofFindings {
    /// Whether the presentation is valid.
    pub is_valid: bool,
    /// The findings, with the codes of ACA-Py's admin API.
    pub messages: Vec<String>,
}

/// A message that was sent or received.
#[derive(Clone, Debug, PartialEq)]
pub struct WireMessage {
    /// Its name in the protocol, such as `offer-credential`.
    pub name: &'static str,
    /// Whether this agent sent it.
    pub is_ours: bool,
    /// When, in UTC.
    pub at: String,
    /// What is kept of it: nothing of a problem report, and of a message that a later one replaced.
    pub kept: Option<KeptMessage>,
}

/// What is kept of a message.
#[derive(Clone, Debug, PartialEq)]
pub struct KeptMessage {
    /// Its length before it was encrypted.
    pub bytes: usize,
    /// What it says. Attachments are decoded, and secrets are hidden.
    pub content: Value,
}

/// How an issuing stands, for who waits for its end.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct IssuingStanding {
    /// Its state.
    pub state: IssueState,
    /// Why it did not go on by itself, or came to nothing.
    pub error: Option<String>,
    /// The revocation registry of the credential.
    pub rev_reg_id: Option<String>,
    /// The credential's index there.
    pub cred_rev_id: Option<u32>,
}

/// A protocol whose exchanges pages show.
pub trait SeenCourse: Course {
    /// The state's name in the version that drives the exchange.
    fn state(exchange: &Exchange<Self>) -> &'static str;

    /// What the verification of a presentation found.
    fn findings(extra: &Self::Extra) -> Option<ProofFindings>;
}

impl SeenCourse for IssueCredential {
    fn state(exchange: &Exchange<Self>) -> &'static str {
        credential_state(exchange)
    }

    fn findings(_extra: &Self::Extra) -> Option<ProofFindings> {
        None
    }
}

impl SeenCourse for PresentProof {
    fn state(exchange: &Exchange<Self>) -> &'static str {
        presentation_state(exchange)
    }

    fn findings(extra: &ProofExtra) -> Option<ProofFindings> {
        Some(ProofFindings {
            is_valid: extra.verified?,
            messages: extra.verified_msgs.clone(),
        })
    }
}

/// A role's name in the RFC, which is how it is stored.
pub fn role_name(role: impl Serialize) -> String {
    let name = serde_json::to_value(role).unwrap_or_default();
    name.as_str().unwrap_or_default().to_owned()
}

impl ExchangeSight {
    /// The exchange with this identifier.
    #[must_use]
    pub fn of<C: Course>(id: &str, exchange: &Exchange<C>) -> Self {
        let dialogue = &exchange.dialogue;
        Self {
            id: id.to_owned(),
            protocol: format!("{}/{}", dialogue.kind.protocol, dialogue.kind.version),
            role: role_name(exchange.role),
            state: C::name(exchange.state),
            is_ours: exchange.initiator == Initiator::Us,
            connection_id: exchange.connection_id.clone(),
            thread_id: dialogue.thread_id.clone(),
            parent_thread_id: dialogue.parent_thread_id.clone(),
            error: dialogue.error_msg.clone(),
            created_at: dialogue.created_at.rfc3339(),
            updated_at: dialogue.updated_at.rfc3339(),
        }
    }
}

impl SeenExchange {
    /// The exchange with this identifier.
    #[must_use]
    pub fn of<C: SeenCourse>(id: &str, exchange: &Exchange<C>) -> Self {
        let payloads = || exchange.messages.values().rev();
        let attached = || payloads().flat_map(json_of);
        let shown = attached().find_map(|one| one.get("requested_proof").cloned());
        let asked = attached().find(|one| one.get("requested_attributes").is_some());
        let attributes = match (shown, asked) {
            (Some(shown), Some(asked)) => Disclosed { shown, asked }.attributes(),
            _ => payloads().find_map(agreed).unwrap_or_default(),
        };
        Self {
            sight: ExchangeSight::of(id, exchange),
            wire: wire(exchange),
            attributes,
            cred_def_id: attached().find_map(|one| text(one.get("cred_def_id"))),
            verdict: C::findings(&exchange.extra),
        }
    }
}

/// The attachments of a message in known formats.
fn json_of(payload: &Payload) -> impl Iterator<Item = Value> {
    known(payload).filter_map(|one| serde_json::from_slice(one.bytes).ok())
}

fn text(value: Option<&Value>) -> Option<String> {
    value?.as_str().map(str::to_owned)
}

/// The attributes of a preview.
fn agreed(payload: &Payload) -> Option<Vec<SeenAttribute>> {
    let preview = payload.preview.as_ref()?;
    let attributes = preview.attributes.iter().map(|one| SeenAttribute {
        name: one.name.clone(),
        value: Some(one.value.clone()).filter(|_| one.name != HANDLE),
    });
    Some(attributes.collect())
}

/// What a presentation shows of what was asked for.
struct Disclosed {
    shown: Value,
    asked: Value,
}

impl Disclosed {
    fn attributes(&self) -> Vec<SeenAttribute> {
        let alone = self.each("revealed_attrs").map(|(referent, answer)| {
            let name = self.name(referent);
            let value = text(answer.get("raw")).filter(|_| name != HANDLE);
            SeenAttribute { name, value }
        });
        let groups = self.each("revealed_attr_groups");
        let groups = groups.filter_map(|(_, answer)| answer.get("values")?.as_object());
        let grouped = groups.flatten().map(|(name, answer)| SeenAttribute {
            name: name.clone(),
            value: text(answer.get("raw")).filter(|_| name != HANDLE),
        });
        let attested = self.each("self_attested_attrs");
        let attested = attested.map(|(referent, value)| SeenAttribute {
            name: self.name(referent),
            value: text(Some(value)),
        });
        let hidden = self.each("unrevealed_attrs");
        let hidden = hidden.map(|(referent, _)| SeenAttribute {
            name: self.name(referent),
            value: None,
        });
        let predicates = self.each("predicates");
        let predicates = predicates.map(|(referent, _)| SeenAttribute {
            name: self.predicate(referent),
            value: None,
        });
        let revealed = alone.chain(grouped).chain(attested);
        revealed.chain(hidden).chain(predicates).collect()
    }

    fn each<'a>(&'a self, part: &str) -> impl Iterator<Item = (&'a String, &'a Value)> {
        let members = self.shown.get(part).and_then(Value::as_object);
        members.into_iter().flatten()
    }

    /// The name of the attribute that the request asks for by this referent.
    fn name(&self, referent: &str) -> String {
        let asked = self.asked.get("requested_attributes");
        let asked = asked.and_then(|asked| asked.get(referent));
        text(asked.and_then(|asked| asked.get("name"))).unwrap_or_else(|| referent.to_owned())
    }

    /// The predicate that the request asks for by this referent, such as `age >= 18`.
    fn predicate(&self, referent: &str) -> String {
        let asked = self.asked.get("requested_predicates");
        let asked = asked.and_then(|asked| asked.get(referent));
        let part = |name: &str| asked.and_then(|asked| asked.get(name));
        match (text(part("name")), text(part("p_type")), part("p_value")) {
            (Some(name), Some(kind), Some(value)) => format!("{name} {kind} {value}"),
            _ => referent.to_owned(),
        }
    }
}

/// The messages of an exchange that are remembered. Of several of one kind, the last one is kept.
fn wire<C: Course>(exchange: &Exchange<C>) -> Vec<WireMessage> {
    let said = exchange.spoken.iter().enumerate().map(|(place, said)| {
        let later = exchange.spoken.iter().skip(place).skip(1);
        let is_last = !later.map(Utterance::kind).any(|kind| kind == said.kind());
        let speech = speech(exchange, said.kind());
        let at = exchange.dialogue.created_at.plus(said.after());
        WireMessage {
            name: name::<C>(said.kind()),
            is_ours: said.is_ours(),
            at: at.rfc3339(),
            kept: speech
                .filter(|_| is_last)
                .map(|speech| kept(spoken(exchange, &speech))),
        }
    });
    said.collect()
}

/// The message of this kind, as far as it is kept.
fn speech<C: Course>(exchange: &Exchange<C>, kind: C::Kind) -> Option<Speech<C>> {
    match exchange.message(kind) {
        Some(payload) => Some(Speech::of(kind, payload.clone())),
        None => (kind == C::ACK).then(Speech::ack),
    }
}

fn name<C: Course>(kind: C::Kind) -> &'static str {
    let mut entries = C::MESSAGES.iter();
    match entries.find(|entry| entry.kind == kind) {
        Some(entry) => entry.name,
        None if kind == C::ACK => "ack",
        None => "problem-report",
    }
}

/// The message with its attachments decoded and without secrets.
fn kept(mut message: Message) -> KeptMessage {
    message.id = "0".repeat(ID_LENGTH);
    let bytes = message.write(Version::V1).len();
    let attached = message.attachments.iter().map(|one| {
        let bytes = one.bytes(ATTACHMENT_MAX).unwrap_or_default();
        let content = serde_json::from_slice(&bytes).unwrap_or_default();
        json!({ "@id": one.id, "content": masked(&content) })
    });
    let attached: Vec<Value> = attached.collect();
    message.attachments.clear();
    let mut members = message.to_members(Version::V1);
    members.remove("@id");
    let mut content = masked(&Value::Object(members));
    if let Some(members) = content.as_object_mut().filter(|_| !attached.is_empty()) {
        members.insert("attachments".to_owned(), Value::Array(attached));
    }
    KeptMessage { bytes, content }
}

#[cfg(test)]
mod tests {
    use selfsame_aries::advance::{Footing, Outset};
    use selfsame_aries::exchange::{Formatted, Preview, PreviewAttribute};
    use selfsame_aries::issue_credential::{CredentialExchange, IssueInput, step};
    use selfsame_aries::notification::ProblemReport;
    use selfsame_crypto::ctx::Ctx;
    use selfsame_crypto::time::UnixTime;
    use selfsame_didcomm::message::{MessageType, Semver};

    use super::*;

    fn ctx(seconds: u64) -> Ctx {
        Ctx::new(UnixTime(seconds), [7; 32])
    }

    fn offer(drug: &str) -> Payload {
        let attribute = |name: &str, value: &str| PreviewAttribute {
            name: name.to_owned(),
            mime_type: None,
            value: value.to_owned(),
        };
        let content =
            json!({"cred_def_id": "did:example:1/definition", "nonce": "12345678901234567890"});
        Payload {
            preview: Some(Preview {
                attributes: vec![attribute("drug", drug), attribute(HANDLE, "h4ndle")],
            }),
            attachments: vec![Formatted {
                attach_id: "0".to_owned(),
                format: "hlindy/cred-abstract@v2.0".to_owned(),
                bytes: Some(content.to_string().into_bytes()),
            }],
            ..Payload::default()
        }
    }

    fn offered() -> CredentialExchange {
        let kind = MessageType::new(IssueCredential::PROTOCOL, Semver::new(2, 0), "first");
        let outset = Outset {
            kind,
            connection_id: Some("c1".to_owned()),
            parent_thread_id: None,
        };
        let offer = IssueInput::Offer(offer("Amoxicillin"));
        step(Footing::New(&outset), &offer, &ctx(1_000))
            .unwrap()
            .record
    }

    #[test]
    fn a_message_is_shown_with_its_time_its_length_and_without_secrets() {
        let seen = SeenExchange::of("x1", &offered());
        let [message] = &seen.wire[..] else {
            panic!("{:?}", seen.wire);
        };
        assert_eq!((message.name, message.is_ours), ("offer-credential", true));
        assert_eq!(message.at, "1970-01-01T00:16:40Z");
        let kept = message.kept.as_ref().unwrap();
        let text = kept.content.to_string();
        assert!(
            kept.bytes > text.len() / 2 && kept.bytes < 2_000,
            "{}",
            kept.bytes
        );
        assert!(text.contains("Amoxicillin") && text.contains("did:example:1/definition"));
        assert!(
            !text.contains("h4ndle") && !text.contains("12345678901234567890"),
            "{text}"
        );
        assert_eq!(
            seen.cred_def_id.as_deref(),
            Some("did:example:1/definition")
        );
        let attributes = seen
            .attributes
            .iter()
            .map(|one| (one.name.as_str(), one.value.as_deref()));
        let attributes: Vec<_> = attributes.collect();
        assert_eq!(attributes, [("drug", Some("Amoxicillin")), (HANDLE, None)]);
        assert_eq!(
            (seen.sight.role.as_str(), seen.sight.state),
            ("issuer", "offer-sent")
        );
    }

    #[test]
    fn of_two_messages_of_a_kind_the_last_one_is_kept_and_of_a_report_nothing() {
        let mut exchange = offered();
        let earlier = exchange.spoken[0];
        exchange.spoken.insert(0, earlier);
        let report = ProblemReport::new("issuance-abandoned", "we are closed");
        let ended = step(
            Footing::Known(&exchange),
            &IssueInput::Abandon(report),
            &ctx(1_007),
        );
        let seen = SeenExchange::of("x1", &ended.unwrap().record);
        let kept: Vec<_> = seen
            .wire
            .iter()
            .map(|one| (one.name, one.kept.is_some()))
            .collect();
        let expected = [
            ("offer-credential", false),
            ("offer-credential", true),
            ("problem-report", false),
        ];
        assert_eq!(kept, expected);
        assert_eq!(seen.wire[2].at, "1970-01-01T00:16:47Z");
        assert_eq!(
            seen.sight.error.as_deref(),
            Some("issuance-abandoned: we are closed")
        );
    }

    #[test]
    fn what_a_presentation_shows_has_the_names_of_the_request() {
        let disclosed = Disclosed {
            asked: json!({
                "requested_attributes": {"a1": {"name": "vaccine"}, "a2": {"name": "lot"}, "a3": {"names": ["x"]}},
                "requested_predicates": {"p1": {"name": "age", "p_type": ">=", "p_value": 18}},
            }),
            shown: json!({
                "revealed_attrs": {"a1": {"raw": "Pfizer"}},
                "revealed_attr_groups": {"a3": {"values": {"x": {"raw": "1"}}}},
                "unrevealed_attrs": {"a2": {"sub_proof_index": 0}},
                "predicates": {"p1": {"sub_proof_index": 0}},
            }),
        };
        let shown: Vec<_> = disclosed
            .attributes()
            .into_iter()
            .map(|one| (one.name, one.value.unwrap_or_default()))
            .collect();
        let expected = [
            ("vaccine", "Pfizer"),
            ("x", "1"),
            ("lot", ""),
            ("age >= 18", ""),
        ];
        let expected = expected.map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(shown, expected);
    }
}
