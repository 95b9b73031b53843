//! Mails the offers of a list. A server that is away is tried again later; an address that it refuses is noted.

use selfsame_crypto::encoding::base64url_encode;
use selfsame_crypto::hash::sha256_parts;
use selfsame_driver::record::{decode, encode};
use selfsame_driver::{Error, Reason, Result};
use selfsame_net::mail::{MailError, MailMessage};

use super::{ListWork, Onward};
use crate::mail::{ListMail, OfferLetter};
use crate::record::{
    CHUNK, ListRecord, ListRow, MailState, RowChunk, RowOffer, RowResult, StoredList, chunk_id,
};
use crate::view::ListState;

/// The messages after which the results are written, so that a restart repeats at most these.
const WRITTEN_EVERY: usize = 20;
/// Seconds after which a server that was away is tried again; twice as many each time.
const TRIED_AFTER: u64 = 5;
/// The most seconds between two tries.
const TRIED_AFTER_MAX: u64 = 600;

/// What all messages of a list have in common.
struct Postmark<'a> {
    mail: &'a dyn ListMail,
    issuer: &'a str,
    title: &'a str,
    work: &'a ListWork,
}

impl ListWork {
    /// Mails some offers.
    pub(super) async fn mail(&self, mut stored: StoredList) -> Result<Onward> {
        let shared = &self.lists.shared;
        if stored.list.next >= stored.list.chunks {
            return self.turned(stored, ListState::Done).await;
        }
        let now = shared.clock.now();
        if now < stored.list.not_before {
            return Ok(Onward::Later);
        }
        let id = chunk_id(&self.at.id, stored.list.next);
        let read = shared.store.read(&self.at.tenant, CHUNK, &id).await?;
        let read = read.ok_or_else(|| Error::not_found("list-unknown"))?;
        let mut chunk: RowChunk = decode(&read.value)?;
        let is_away = self.send(&mut stored.list, &mut chunk).await?;
        let list = &mut stored.list;
        if is_away {
            let wait = TRIED_AFTER.saturating_mul(1 << list.away.min(10));
            list.not_before = now.plus(wait.min(TRIED_AFTER_MAX));
            list.away = list.away.saturating_add(1);
        } else {
            list.away = 0;
            if waiting(&mut chunk).next().is_none() {
                list.next = list.next.saturating_add(1);
            }
        }
        let batch = self.batch(&stored)?.update(CHUNK, &read, encode(&chunk)?);
        self.lists.committed(batch).await?;
        Ok(match is_away {
            true => Onward::Later,
            false => Onward::More,
        })
    }

    /// Sends the next messages of a chunk; returns whether the server was away.
    async fn send(&self, list: &mut ListRecord, chunk: &mut RowChunk) -> Result<bool> {
        let mail = self.lists.mail.get();
        let mail = mail.ok_or_else(|| Error::bad_request("list-mail-absent"))?;
        let roles = self.lists.roles_of(&self.at.tenant).await?;
        let issuer = roles.issuer()?;
        let types = issuer.types().all().await?;
        let name = issuer.name();
        let postmark = Postmark {
            mail: &**mail,
            issuer: &name,
            title: types.title(&list.new.type_id),
            work: self,
        };
        for (row, made) in waiting(chunk).take(WRITTEN_EVERY) {
            let state = match postmark.sent(row, made, list.new.tx_code).await {
                Ok(()) => MailState::Sent,
                Err(MailError::Refused) => MailState::Failed(Reason::new("list-mail-refused")),
                Err(MailError::Away(_)) if !self.is_late(made) => return Ok(true),
                Err(MailError::Away(_)) => MailState::Failed(Reason::new("list-mail-late")),
            };
            let count = match state {
                MailState::Sent => &mut list.mailed,
                MailState::Failed(_) => &mut list.mail_failed,
            };
            *count = count.saturating_add(1);
            made.mail = Some(state);
        }
        Ok(false)
    }

    /// Whether an offer is over, so that its mail would come too late.
    fn is_late(&self, made: &RowOffer) -> bool {
        let now = self.lists.shared.clock.now().rfc3339();
        // Both are in UTC and have the same form.
        made.expires <= now
    }
}

impl Postmark<'_> {
    async fn sent(
        &self,
        row: &ListRow,
        made: &RowOffer,
        has_code: bool,
    ) -> std::result::Result<(), MailError> {
        let letter = OfferLetter {
            issuer: self.issuer,
            title: self.title,
            uri: &made.uri,
            expires: &made.expires,
            has_code,
            wallet: self.work.lists.wallet.as_ref(),
        };
        // The same message has the same identifier, by which mail programs recognise it.
        let id = sha256_parts(&[b"offer\0", made.id.as_bytes()]);
        let message = MailMessage {
            to: row.email.as_deref().unwrap_or_default(),
            subject: &letter.subject(),
            text: &letter.text(),
            id: &base64url_encode(&id),
        };
        let sent = self.mail.send(message).await;
        if let Err(error) = &sent {
            let list = &self.work.at.id;
            tracing::warn!(list, line = row.line, %error, "an offer was not mailed");
        }
        sent
    }
}

/// The rows whose offers are still to be mailed.
fn waiting(chunk: &mut RowChunk) -> impl Iterator<Item = (&ListRow, &mut RowOffer)> {
    let rows = chunk.rows.iter().zip(&mut chunk.results);
    rows.filter_map(|(row, result)| match result {
        RowResult::Offered(made) if made.mail.is_none() && row.email.is_some() => Some((row, made)),
        _ => None,
    })
}
