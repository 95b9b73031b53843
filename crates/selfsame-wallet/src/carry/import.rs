//! Takes in credentials from an export. Each is judged alone, and all that are accepted are committed together. The same
//! credential is taken in once, however often it is sent.

use std::collections::HashSet;
use std::sync::Arc;

use selfsame_credential::{Format, Held};
use selfsame_crypto::seal::SealingKey;
use selfsame_crypto::time::UnixTime;
use selfsame_crypto::{KeyHandle, PrivateKey, Secret, encoding};
use selfsame_driver::{Error, ErrorKind, Reason, Result};
use selfsame_openid4vc::wallet::ReceivedCredential;
use selfsame_store::{Batch, Expect, Page, StoreError, TenantId};

use super::{bound_to, for_keys, sealing_key};
use crate::Wallet;
use crate::cards::{CARD, CARD_BYTES_MAX, CardRecord, Look, tags};
use crate::view::Person;
use crate::view::carried::{
    CarriedCredential, CarriedCredentials, CarriedKey, TakenCredential, TakenCredentials,
};

/// If other requests take in the same credentials, this many attempts are made.
const RACES_MAX: usize = 4;
/// Bytes of a card's id.
const ID_BYTES: usize = 16;

/// A credential that can be taken in.
#[derive(Clone)]
struct Fit {
    card: CardRecord,
    key: Option<FitKey>,
}

/// The key of a credential that can be taken in.
#[derive(Clone)]
struct FitKey {
    secret: Arc<PrivateKey>,
    /// Whether the person made it.
    own: bool,
}

/// What is known of a row.
#[derive(Clone)]
enum JudgedRow {
    Fit(Box<Fit>),
    Refused(Reason),
}

/// What the rows of one request become.
struct Intake {
    taken: Vec<TakenCredential>,
    fit: Vec<Fit>,
}

impl Wallet {
    /// Takes credentials into a person's wallet. Their issuers' signatures are not verified here: like the status, that is
    /// done when a card is shown.
    ///
    /// # Errors
    /// `BadRequest` for no credential, for more than [`CarriedCredentials::ROWS_MAX`], and for a malformed sealing key;
    /// `Full` if the wallet has no room for all of them.
    pub async fn take_in(
        &self,
        person: &Person,
        carried: CarriedCredentials,
    ) -> Result<TakenCredentials> {
        let rows = carried.credentials;
        if !(1..=CarriedCredentials::ROWS_MAX).contains(&rows.len()) {
            let maximum = CarriedCredentials::ROWS_MAX;
            return Err(Error::bad_request("carried-rows").with("maximum", &maximum));
        }
        let key = carried.sealing_key.as_ref().map(sealing_key).transpose()?;
        // Cards of former versions are found once they have their tags.
        while !self.is_tagged(&person.tenant).await? {}
        let ids = self.shared.instance_key("carried cards").await?;
        let tenant = person.tenant.clone();
        let now = self.shared.clock.now();
        let judge = move || {
            let open = key.map(for_keys);
            let judge = RowJudge {
                tenant: &tenant,
                ids: &ids,
                open: open.as_ref(),
                now,
            };
            rows.into_iter().map(|row| judge.row(row)).collect()
        };
        let judged: Vec<JudgedRow> = self.shared.reading.run(judge).await?;
        for _ in 0..RACES_MAX {
            let intake = self.intake(person, &judged).await?;
            if let Some(taken) = self.commit_intake(person, intake).await? {
                return Ok(taken);
            }
        }
        Err(Error::new(ErrorKind::Conflict, "changed-meanwhile"))
    }

    /// Tells the credentials that are in the wallet already from those that are not.
    async fn intake(&self, person: &Person, judged: &[JudgedRow]) -> Result<Intake> {
        let store = &self.shared.store;
        let mut intake = Intake {
            taken: Vec::with_capacity(judged.len()),
            fit: Vec::new(),
        };
        let mut seen = HashSet::new();
        for one in judged {
            intake.taken.push(match one {
                JudgedRow::Refused(why) => TakenCredential::refused(why.clone()),
                JudgedRow::Fit(fit) => {
                    let tag = tags::of_credential(&fit.card.raw);
                    let page = Page::newest(1);
                    let there = store.find(&person.tenant, CARD, &tag, &page).await?;
                    if !seen.insert(fit.card.id.as_str()) || !there.is_empty() {
                        TakenCredential::known()
                    } else {
                        intake.fit.push(Fit::clone(fit));
                        TakenCredential::stored(&fit.card.id)
                    }
                }
            });
        }
        let more = intake.fit.len();
        if more > 0 {
            self.quotas.has_room_for_cards(person, more).await?;
        }
        Ok(intake)
    }

    /// Commits what is taken in; `None` if another request has taken in one of the credentials meanwhile.
    async fn commit_intake(
        &self,
        person: &Person,
        intake: Intake,
    ) -> Result<Option<TakenCredentials>> {
        let Intake { taken, fit } = intake;
        let tenant = &person.tenant;
        let mut batch = Batch::new(tenant.clone());
        let mut keys = HashSet::new();
        for Fit { card, key } in fit {
            let id = card.id.clone();
            if let (Some(handle), Some(key)) = (&card.key, key)
                && keys.insert(handle.as_str().to_owned())
            {
                batch = self.shared.keys.adopt(tenant, &key.secret, batch)?;
                if key.own {
                    batch = self.own_key(person, &key.secret, batch).await?;
                }
            }
            let (put, note, _) = card.into_put()?;
            batch = batch.expect(CARD, &id, Expect::Absent).put(put).put(note);
        }
        match self.shared.store.commit(batch).await {
            Ok(_) => Ok(Some(TakenCredentials { items: taken })),
            Err(StoreError::Conflict { .. }) => Ok(None),
            Err(other) => Err(other.into()),
        }
    }
}

/// Judges rows, without the store.
struct RowJudge<'a> {
    tenant: &'a TenantId,
    /// The key that ids are made with: an id says nothing of its credential.
    ids: &'a SealingKey,
    /// Opens the keys of credentials.
    open: Option<&'a SealingKey>,
    now: UnixTime,
}

impl RowJudge<'_> {
    fn row(&self, row: CarriedCredential) -> JudgedRow {
        match self.fit(row) {
            Ok(fit) => JudgedRow::Fit(Box::new(fit)),
            Err(reason) => JudgedRow::Refused(reason),
        }
    }

    fn fit(&self, row: CarriedCredential) -> std::result::Result<Fit, Reason> {
        let format: Format = row
            .format
            .parse()
            .map_err(|_| Reason::new("carried-format-unknown").with("format", &row.format))?;
        if row.credential.len() > CARD_BYTES_MAX {
            return Err(Reason::new("carried-too-long").with("maximum", &CARD_BYTES_MAX));
        }
        if row.key != tags::key_of(&row.credential) {
            return Err(Reason::new("carried-changed"));
        }
        let held = Held::parse(&row.credential, format)
            .map_err(|error| Reason::new("carried-malformed").with("detail", &error))?;
        let look = match row.look.is_null() {
            true => Look::default(),
            false => serde_json::from_value::<Look>(row.look)
                .map_err(|error| Reason::new("carried-malformed").with("detail", &error))?,
        };
        let key = match &row.holder {
            Some(holder) => self.key(&row.key, holder, &held)?,
            None => None,
        };
        let added = row.added.as_deref().and_then(UnixTime::parse_rfc3339);
        let received = ReceivedCredential {
            configuration_id: String::new(),
            format,
            raw: row.credential,
            key: key.as_ref().map(|key| KeyHandle::of(key.secret.public())),
            kid: row.holder.and_then(|holder| holder.kid),
            issuer: Some(row.issuer).filter(|issuer| !issuer.is_empty()),
        };
        let card = CardRecord::made(received, look.checked(), &held);
        let card = CardRecord {
            id: self.id(&row.key),
            added: added.unwrap_or(self.now).min(self.now),
            ..card
        };
        Ok(Fit { card, key })
    }

    /// The key that the credential is bound to, if it has come along.
    fn key(
        &self,
        credential: &str,
        holder: &CarriedKey,
        held: &Held,
    ) -> std::result::Result<Option<FitKey>, Reason> {
        let Some(sealed) = &holder.sealed else {
            return Ok(None);
        };
        let open = self.open.ok_or(Reason::new("carried-key-sealed"))?;
        let unopened = || Reason::new("carried-key-unopened");
        let sealed = encoding::base64url_decode(sealed).map_err(|_| unopened())?;
        let secret = open.open(&bound_to(credential), &sealed);
        let secret = Secret::new(secret.map_err(|_| unopened())?);
        let secret = PrivateKey::from_pkcs8(secret.expose()).map_err(|_| unopened())?;
        let confirmed = held.holder_key();
        let fits =
            confirmed.is_none_or(|key| KeyHandle::of(&key) == KeyHandle::of(secret.public()));
        match fits {
            true => Ok(Some(FitKey {
                secret: Arc::new(secret),
                own: holder.own,
            })),
            false => Err(Reason::new("carried-key-of-another")),
        }
    }

    fn id(&self, key: &str) -> String {
        let mac = self
            .ids
            .mac(format!("{} {key}", self.tenant.as_str()).as_bytes());
        encoding::base64url_encode(mac.get(..ID_BYTES).unwrap_or_default())
    }
}
