//! Protocols without records of their own, on a connection: pings, texts, and notifications of revocation.

use selfsame_aries::advance::Footing;
use selfsame_aries::basic_message::{self, BasicInput, BasicMessage, TextMessage};
use selfsame_aries::notification::{self, ProblemReport};
use selfsame_aries::revocation_notification::{
    self, RevocationInput, RevocationMessage, RevokedCredential,
};
use selfsame_aries::trust_ping::{self, Ping, PingInput, TrustPingMessage};
use selfsame_aries::wire::{Incoming, Vocabulary, is_report};
use selfsame_core::machine::At;
use selfsame_crypto::encoding::hex_encode;
use selfsame_crypto::hash;
use selfsame_didcomm::Message;
use selfsame_didcomm::message::{MessageType, Semver};
use selfsame_driver::{Error, ErrorKind, Result};
use selfsame_mediation::error::refused;
use selfsame_mediation::texts::{KeptText, Texts};
use selfsame_mediation::wishes::RevocationNotification;
use selfsame_store::{Batch, Expect, Page, Put, TenantId};
use serde_json::json;

use super::Agents;
use super::inbound::{FoundConnection, Inbound, incoming, outset};
use crate::connections::{Aside, ConnectionWhat};
use crate::exchanges::issuing::{IssueWhat, IssuingProtocol, place_tag};
use crate::exchanges::{ExchangeGiven, Ground, record_id};
use crate::machine::AgentProtocol as _;
use selfsame_mediation::notice::Told;

/// The kind of the records of messages that came, for protocols without records of their own.
const SEEN: &str = "aries_seen";
/// Seconds for which such a message is recognised. Peers deliver a message again for hours at most.
const SEEN_SECONDS: u64 = 24 * 3600;
/// How many exchanges of one place in a registry are looked at.
const PLACES_MAX: usize = 4;

impl Agents {
    /// Sends a trust ping on a connection. Returns the identifier of its thread.
    ///
    /// # Errors
    /// `NotFound` if there is no such connection; `Conflict` if it is not ready.
    pub async fn ping(
        &self,
        tenant: &TenantId,
        id: &str,
        comment: Option<String>,
    ) -> Result<String> {
        let ping = Ping {
            comment,
            ..Ping::default()
        };
        let kind = MessageType::new(TrustPingMessage::PROTOCOL, Semver::new(1, 0), "ping");
        let outset = outset(&kind, None);
        let ctx = self.parts.shared.clock.ctx();
        let step = trust_ping::step(Footing::New(&outset), &PingInput::Send(ping), &ctx);
        let advance = step.map_err(|problem| refused(&problem))?;
        let thread = advance.record.dialogue.thread_id;
        let sent = advance.send.into_iter().map(|sent| sent.message);
        self.say(tenant, id, sent.collect()).await?;
        Ok(thread)
    }

    /// Sends a text for people on a connection.
    ///
    /// # Errors
    /// `NotFound` if there is no such connection; `Conflict` if it is not ready.
    pub async fn send_text(&self, tenant: &TenantId, id: &str, content: String) -> Result<()> {
        let kind = MessageType::new(BasicMessage::PROTOCOL, Semver::new(1, 0), "message");
        let ctx = self.parts.shared.clock.ctx();
        let text = KeptText::now(&content, true, &ctx);
        let input = BasicInput::Send {
            content,
            locale: Some("en".to_owned()),
        };
        let advance = basic_message::step(&outset(&kind, None), &input, &ctx);
        let sent = advance.send.into_iter().map(|sent| sent.message);
        let said = Aside {
            answers: sent.collect(),
            writes: Some(self.texts(tenant, id).kept(&text, &ctx).await?),
            ..Aside::default()
        };
        self.give_connection(tenant, id, ConnectionWhat::Say(said))
            .await
    }

    /// The texts that came and went on a connection.
    #[must_use]
    pub fn texts<'a>(&'a self, tenant: &'a TenantId, connection: &'a str) -> Texts<'a> {
        Texts {
            store: &self.parts.shared.store,
            tenant,
            connection,
        }
    }

    /// Tells the holder on this connection that a credential is revoked, in this major version of the protocol.
    ///
    /// # Errors
    /// `BadRequest` for version 2 without the credential's place in a registry; `NotFound` if there is no such
    /// connection; `Conflict` if it is not ready.
    pub async fn notify_revoked(
        &self,
        tenant: &TenantId,
        id: &str,
        notification: RevocationNotification,
    ) -> Result<()> {
        let RevocationNotification {
            major,
            credential,
            comment,
        } = notification;
        if major > 1 && matches!(credential, RevokedCredential::Thread(_)) {
            return Err(Error::bad_request("aries-revocation-unplaced"));
        }
        let version = Semver::new(major, 0);
        let kind = MessageType::new(RevocationMessage::PROTOCOL, version, "revoke");
        let ctx = self.parts.shared.clock.ctx();
        let input = RevocationInput::Send {
            credential,
            comment,
        };
        let advance = revocation_notification::step(&outset(&kind, None), &input, &ctx);
        let sent = advance.send.into_iter().map(|sent| sent.message);
        self.say(tenant, id, sent.collect()).await
    }

    pub(super) async fn say(
        &self,
        tenant: &TenantId,
        id: &str,
        messages: Vec<Message>,
    ) -> Result<()> {
        let said = Aside {
            answers: messages,
            ..Aside::default()
        };
        self.give_connection(tenant, id, ConnectionWhat::Say(said))
            .await
    }

    pub(super) async fn take_ping(&self, inbound: &Inbound) -> Result<()> {
        let found = self.connection_of(inbound).await?;
        let ping: Incoming<TrustPingMessage> = incoming(&inbound.message)?;
        let (ctx, terms) = (
            self.parts.shared.clock.ctx(),
            self.parts.terms(&inbound.tenant),
        );
        let mut heard = Aside::default();
        if let TrustPingMessage::Ping(asked) = &ping.content {
            if terms.settings.monitor_ping {
                let payload = json!({
                    "connection_id": found.id,
                    "comment": asked.comment,
                    "responded": asked.response_requested,
                    "state": "received",
                    "thread_id": ping.thread_id,
                });
                heard.tell.push(Told::new("ping", &payload));
            }
            let outset = outset(&ping.kind, Some(&found.id));
            let step = trust_ping::step(Footing::New(&outset), &PingInput::Received(ping), &ctx);
            let advance = step.map_err(|problem| refused(&problem))?;
            let sent = advance.send.into_iter();
            heard.answers = sent.map(|sent| sent.message).collect();
        }
        self.hear(&inbound.tenant, found, heard).await
    }

    pub(super) async fn take_text(&self, inbound: &Inbound) -> Result<()> {
        let found = self.connection_of(inbound).await?;
        let message: Incoming<BasicMessage> = incoming(&inbound.message)?;
        let Some(seen) = self.unseen(&inbound.tenant, &found, &message.id).await? else {
            return Ok(());
        };
        let terms = self.parts.terms(&inbound.tenant);
        let BasicMessage::Text(TextMessage {
            content, sent_time, ..
        }) = &message.content;
        let payload = json!({
            "connection_id": found.id,
            "message_id": message.id,
            "content": content,
            "state": "received",
            "sent_time": sent_time,
        });
        let ctx = self.parts.shared.clock.ctx();
        let text = KeptText::now(content, false, &ctx);
        let texts = self.texts(&inbound.tenant, &found.id);
        let mut heard = Aside {
            writes: Some(seen.and(texts.kept(&text, &ctx).await?)),
            tell: vec![Told::new("basicmessages", &payload)],
            ..Aside::default()
        };
        if terms.settings.auto_respond_messages {
            let input = BasicInput::Send {
                content: format!("{} received your message", terms.label),
                locale: Some("en".to_owned()),
            };
            let outset = outset(&message.kind, Some(&found.id));
            let answer = basic_message::step(&outset, &input, &ctx).send.into_iter();
            heard.answers = answer.map(|sent| sent.message).collect();
        }
        self.hear(&inbound.tenant, found, heard).await
    }

    /// A notification of revocation. It is told to the controller, and marks the exchange in which the credential was
    /// issued on this connection. The registry alone proves it.
    pub(super) async fn take_revocation(&self, inbound: &Inbound) -> Result<()> {
        let found = self.connection_of(inbound).await?;
        let message: Incoming<RevocationMessage> = incoming(&inbound.message)?;
        let Some(seen) = self.unseen(&inbound.tenant, &found, &message.id).await? else {
            return Ok(());
        };
        let RevocationMessage::Revoke {
            credential,
            comment,
        } = &message.content;
        let tell = match credential {
            RevokedCredential::Thread(thread) => Told::new(
                "revocation-notification",
                &json!({ "thread_id": thread, "comment": comment }),
            ),
            RevokedCredential::Registry {
                format,
                rev_reg_id,
                cred_rev_id,
            } => Told::new(
                "revocation-notification-v2",
                &json!({
                    "revocation_format": format,
                    "rev_reg_id": rev_reg_id,
                    "cred_rev_id": cred_rev_id,
                    "comment": comment,
                }),
            ),
        };
        self.mark_revoked(&inbound.tenant, &found.id, credential)
            .await?;
        let heard = Aside {
            writes: Some(seen),
            tell: vec![tell],
            ..Aside::default()
        };
        self.hear(&inbound.tenant, found, heard).await
    }

    /// Marks the exchange in which a credential was issued on this connection, if its record is kept.
    async fn mark_revoked(
        &self,
        tenant: &TenantId,
        connection: &str,
        credential: &RevokedCredential,
    ) -> Result<()> {
        let ids = match credential {
            RevokedCredential::Thread(thread) => vec![record_id(Some(connection), thread)],
            RevokedCredential::Registry {
                rev_reg_id,
                cred_rev_id,
                ..
            } => {
                let store = &self.parts.shared.store;
                let (tag, page) = (place_tag(rev_reg_id, cred_rev_id), Page::newest(PLACES_MAX));
                let found = store
                    .find(tenant, IssuingProtocol::KIND, &tag, &page)
                    .await?;
                found.into_iter().map(|record| record.id).collect()
            }
        };
        for id in ids {
            let issuing = self.issuing();
            let is_its_own = match issuing.connection_of(tenant, &id).await? {
                Some(of) => of == connection,
                None => false,
            };
            if !is_its_own {
                continue;
            }
            let given = ExchangeGiven::told(IssueWhat::Revoke, Ground::default());
            match self.issuing.give(At { tenant, id: &id }, given).await {
                Ok(_) => {}
                // An exchange that is not done yet has no credential to revoke.
                Err(error) if error.kind == ErrorKind::Conflict => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Tells a peer on a connection that its message can't be read, unless the message is a problem report itself.
    pub(super) async fn answer_unreadable(&self, inbound: &Inbound) -> Result<()> {
        let message = &inbound.message;
        let unread = inbound.unread.clone();
        let why = match self.protocol_of(&message.kind) {
            _ if unread.is_some() => unread.unwrap_or(selfsame_aries::wire::Unreadable::Protocol),
            Some(protocol) => match (protocol.reread)(message) {
                Ok(_) => return Ok(()),
                Err(why) => why,
            },
            None => selfsame_aries::wire::Unreadable::Protocol,
        };
        let ctx = self.parts.shared.clock.ctx();
        let Some(answer) = notification::answer_unreadable(&why, message, &ctx) else {
            return Ok(());
        };
        let found = self.connection_of(inbound).await?;
        let heard = Aside {
            answers: vec![answer],
            ..Aside::default()
        };
        self.hear(&inbound.tenant, found, heard).await
    }

    /// A problem report that belongs to no record: the controller is told.
    pub(super) async fn take_problem(&self, inbound: &Inbound) -> Result<()> {
        if !is_report(&inbound.message.kind) {
            return Err(Error::not_found("exchange-absent"));
        }
        let found = self.connection_of(inbound).await?;
        let Some(seen) = self
            .unseen(&inbound.tenant, &found, &inbound.message.id)
            .await?
        else {
            return Ok(());
        };
        let report = ProblemReport::read(&inbound.message);
        let payload = json!({
            "connection_id": found.id,
            "thread_id": inbound.message.thread_id(),
            "description": { "code": report.code, "en": report.explain },
        });
        let heard = Aside {
            writes: Some(seen),
            tell: vec![Told::new("problem_report", &payload)],
            ..Aside::default()
        };
        self.hear(&inbound.tenant, found, heard).await
    }

    pub(super) async fn hear(
        &self,
        tenant: &TenantId,
        found: FoundConnection,
        heard: Aside,
    ) -> Result<()> {
        let what = ConnectionWhat::Heard(heard);
        self.give_found(tenant, found, what).await
    }

    /// The note that a message came, to be written with its effect; `None` if it came before.
    pub(super) async fn unseen(
        &self,
        tenant: &TenantId,
        found: &FoundConnection,
        message_id: &str,
    ) -> Result<Option<Batch>> {
        let shared = &self.parts.shared;
        let named = format!("{}\0{message_id}", found.id);
        let id = hex_encode(&hash::sha256(named.as_bytes()));
        if shared.store.version(tenant, SEEN, &id).await?.is_some() {
            return Ok(None);
        }
        let until = shared.clock.now().plus(SEEN_SECONDS);
        let put = Put::new(SEEN, &id, b"{}".to_vec()).expires(until);
        let batch = Batch::new(tenant.clone()).expect(SEEN, &id, Expect::Absent);
        Ok(Some(batch.put(put)))
    }
}
