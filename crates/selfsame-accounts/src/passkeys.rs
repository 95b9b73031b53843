//! The passkeys of accounts: added, named, listed, removed, and signed in with.

use selfsame_crypto::seal::SealingKey;
use selfsame_crypto::time::UnixTime;
use selfsame_crypto::{SecretString, encoding, hash};
use selfsame_driver::keys::instance_key;
use selfsame_driver::record::{decode, encode};
use selfsame_driver::{Error, ErrorKind, Result};
use selfsame_passkeys::{
    Assertion, AssertionResponse, Creation, CreationOptions, NewPasskey, Passkey, PasskeyChallenge,
    PasskeyError, RegistrationResponse, RelyingParty, RequestOptions,
};
use selfsame_store::{Batch, Expect, Page, Put, Record, StoreError, Tag, TenantId};
use serde::{Deserialize, Serialize};

use crate::{Account, Accounts, NewSession, Person, Realm, Whence, account_id};

/// The kind of the records of challenges that were answered.
const ANSWERED: &str = "passkey_answered";
const NAME_MAX: usize = 60;
/// The passkeys of one account.
const PASSKEYS_MAX: usize = 20;
/// The name that authenticators show for the instance.
const SITE: &str = "Selfsame";

/// A passkey of an account, as its person sees it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct PasskeyView {
    /// The id of its record.
    pub id: String,
    /// The name that its person gave it.
    pub name: String,
    /// When it was added.
    pub added: UnixTime,
    /// When it was last signed in with.
    pub used: Option<UnixTime>,
    /// Whether it is on several devices of its person.
    pub is_copied: bool,
}

/// A person who has signed in with a passkey.
pub struct PasskeySignIn {
    /// Their new session.
    pub session: NewSession,
    /// The address of their account.
    pub email: String,
}

/// The person whose passkey answered.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct PasskeyOwner {
    /// The tenant of their account, by which it is known for good.
    pub tenant: TenantId,
    /// The address of their account.
    pub email: String,
}

/// A passkey as it is kept.
#[derive(Deserialize, Serialize)]
struct KeptPasskey {
    /// The id of the account's record.
    account: String,
    /// The tenant of the account that it was added to. The account of an address can be deleted and created anew.
    tenant: TenantId,
    name: String,
    added: UnixTime,
    used: Option<UnixTime>,
    passkey: Passkey,
}

impl Realm {
    /// The kind of the records of passkeys.
    const fn passkey(self) -> &'static str {
        match self {
            Self::Wallets => "passkey",
            Self::Operators => "operator_passkey",
        }
    }

    /// The purpose of the key that seals challenges and makes user handles.
    const fn passkey_key(self) -> &'static str {
        match self {
            Self::Wallets => "passkeys",
            Self::Operators => "passkeys of operators",
        }
    }
}

impl KeptPasskey {
    fn put(&self, kind: &'static str) -> Result<Put> {
        let put = Put::new(kind, record_id(&self.passkey.id), encode(self)?);
        Ok(put.tag(of_account(&self.account)))
    }

    fn view(self, id: &str) -> PasskeyView {
        PasskeyView {
            id: id.to_owned(),
            name: self.name,
            added: self.added,
            used: self.used,
            is_copied: self.passkey.backed_up,
        }
    }
}

impl Accounts {
    /// Whether browsers have passkeys at the origin of this instance: it needs a domain, and https unless it is on this
    /// machine.
    #[must_use]
    pub fn has_passkeys(&self) -> bool {
        self.site().is_ok()
    }

    /// The passkeys of a person, in the order in which they were added.
    ///
    /// # Errors
    /// The store's.
    pub async fn passkeys(&self, person: &Person) -> Result<Vec<PasskeyView>> {
        let mut views = Vec::new();
        for record in self.kept(&account_id(&person.email)).await? {
            let kept: KeptPasskey = decode(&record.value)?;
            if kept.tenant == person.tenant {
                views.push(kept.view(&record.id));
            }
        }
        Ok(views)
    }

    /// Begins to add a passkey, after the person has given their password: a session alone must not be enough to get in
    /// for ever. Returns what the browser is asked.
    ///
    /// # Errors
    /// Those of [`Accounts::confirm`]; `Conflict` where browsers have no passkeys; `Full` beyond 20 passkeys.
    pub async fn begin_passkey(
        &self,
        person: &Person,
        password: SecretString,
        whence: &Whence,
    ) -> Result<CreationOptions> {
        let site = self.site()?;
        self.confirm(person, password, whence).await?;
        let kept = self.kept(&account_id(&person.email)).await?;
        if kept.len() >= PASSKEYS_MAX {
            return Err(
                Error::new(ErrorKind::Full, "passkeys-too-many").with("maximum", &PASSKEYS_MAX)
            );
        }
        let existing = kept.iter().map(|record| {
            let kept: KeptPasskey = decode(&record.value)?;
            Ok(kept.passkey)
        });
        let existing: Vec<Passkey> = existing.collect::<Result<_>>()?;
        let key = self.passkey_key().await?;
        let new = NewPasskey {
            user_handle: &handle(&key, &person.tenant),
            account: &person.email,
            existing: &existing,
        };
        let challenge = PasskeyChallenge::new(&key, &adding(person), &self.parts.clock.ctx());
        Ok(CreationOptions::of(&site, &new, &challenge))
    }

    /// Adds the passkey that was created.
    ///
    /// # Errors
    /// `BadRequest` for a name or an answer that cannot be used, also one to a challenge that was answered or is not
    /// this session's; `Conflict` for a passkey that is there already.
    pub async fn add_passkey(
        &self,
        person: &Person,
        name: &str,
        response: &RegistrationResponse,
    ) -> Result<()> {
        let (name, now) = (named(name)?, self.parts.clock.now());
        let challenge = response.challenge().map_err(unusable)?;
        let key = self.passkey_key().await?;
        let challenge = PasskeyChallenge::opened(&key, &adding(person), &challenge, now);
        let challenge = challenge.map_err(unusable)?;
        let creation = Creation {
            challenge: challenge.bytes(),
            response,
        };
        let passkey = self.site()?.registered(&creation).map_err(unusable)?;
        let (kind, id) = (self.realm.passkey(), record_id(&passkey.id));
        let kept = KeptPasskey {
            account: account_id(&person.email),
            tenant: person.tenant.clone(),
            name,
            added: now,
            used: None,
            passkey,
        };
        let batch = answered(&challenge).expect(kind, &id, Expect::Absent);
        match self.parts.store.commit(batch.put(kept.put(kind)?)).await {
            Ok(_) => {
                tracing::info!(passkey = id, "passkey added");
                Ok(())
            }
            Err(StoreError::Conflict { kind, .. }) if kind == ANSWERED => {
                Err(unusable(PasskeyError::Challenge))
            }
            Err(StoreError::Conflict { .. }) => {
                Err(Error::new(ErrorKind::Conflict, "passkey-exists"))
            }
            Err(other) => Err(other.into()),
        }
    }

    /// Gives a passkey another name.
    ///
    /// # Errors
    /// `BadRequest` for an unusable name, `NotFound` if the person has no such passkey.
    pub async fn rename_passkey(&self, person: &Person, id: &str, name: &str) -> Result<()> {
        let name = named(name)?;
        let (record, kept) = self.own(person, id).await?;
        let kept = KeptPasskey { name, ..kept };
        let batch = Batch::new(TenantId::instance());
        let batch = batch.update(self.realm.passkey(), &record, encode(&kept)?);
        self.parts.store.commit(batch).await?;
        Ok(())
    }

    /// Removes a passkey.
    ///
    /// # Errors
    /// `NotFound` if the person has no such passkey.
    pub async fn remove_passkey(&self, person: &Person, id: &str) -> Result<()> {
        self.own(person, id).await?;
        let batch = Batch::new(TenantId::instance()).delete(self.realm.passkey(), id);
        self.parts.store.commit(batch).await?;
        tracing::info!(passkey = id, "passkey removed");
        Ok(())
    }

    /// What a browser is asked at sign-in. Only `browser`, which names it, can use the answer. Nothing is kept.
    ///
    /// # Errors
    /// `Conflict` where browsers have no passkeys, and the store's.
    pub async fn ask_passkey(&self, browser: &str) -> Result<RequestOptions> {
        let site = self.site()?;
        let key = self.passkey_key().await?;
        let challenge = PasskeyChallenge::new(&key, &signing_in(browser), &self.parts.clock.ctx());
        Ok(RequestOptions::of(&site, &challenge))
    }

    /// Signs a person in with a passkey, which verifies them by itself: no password is needed.
    ///
    /// # Errors
    /// Those of [`Accounts::prove_by_passkey`].
    pub async fn sign_in_with_passkey(
        &self,
        browser: &str,
        response: &AssertionResponse,
        whence: &Whence,
    ) -> Result<PasskeySignIn> {
        let owner = self.prove_by_passkey(browser, response, whence).await?;
        let session = self.open_session(owner.tenant, owner.email.clone()).await?;
        Ok(PasskeySignIn {
            session,
            email: owner.email,
        })
    }

    /// Checks what a passkey answered without signing anybody in.
    ///
    /// # Errors
    /// `Unauthenticated` for an answer that is refused, whatever is wrong with it; `TooMany` after fifty
    /// in an hour from one address, or ten from a device known to the account.
    pub async fn prove_by_passkey(
        &self,
        browser: &str,
        response: &AssertionResponse,
        whence: &Whence,
    ) -> Result<PasskeyOwner> {
        let instance = TenantId::instance();
        let id = record_id(response.id().map_err(refused)?);
        let store = &self.parts.store;
        let found = store.read(&instance, self.realm.passkey(), &id).await?;
        let found = match found {
            Some(record) => Some((decode::<KeptPasskey>(&record.value)?, record)),
            None => None,
        };
        let now = self.parts.clock.now();
        let account = found.as_ref().map_or("", |(kept, _)| &kept.account);
        let known = whence.device(&self.device_key().await?, account, now);
        let attempt = self.attempts.begin(whence.keys_of_passkeys(known), now)?;
        let proven = match &found {
            Some((kept, record)) => self.proven_by(browser, response, kept, record).await,
            None => Err(refused(PasskeyError::OtherPasskey)),
        };
        match proven {
            Ok(account) => {
                attempt.was_right();
                Ok(PasskeyOwner {
                    tenant: account.tenant,
                    email: account.email,
                })
            }
            Err(error) => {
                if error.kind == ErrorKind::Unauthenticated {
                    attempt.was_wrong(now);
                }
                Err(error)
            }
        }
    }

    /// The account of this passkey, if the answer is its own. The challenge is used up.
    async fn proven_by(
        &self,
        browser: &str,
        response: &AssertionResponse,
        kept: &KeptPasskey,
        record: &Record,
    ) -> Result<Account> {
        let (now, key) = (self.parts.clock.now(), self.passkey_key().await?);
        let challenge = response.challenge().map_err(refused)?;
        let challenge = PasskeyChallenge::opened(&key, &signing_in(browser), &challenge, now);
        let challenge = challenge.map_err(refused)?;
        let passkey = self.site()?.proven(&Assertion {
            challenge: challenge.bytes(),
            user_handle: &handle(&key, &kept.tenant),
            passkey: &kept.passkey,
            response,
        });
        let used = KeptPasskey {
            account: kept.account.clone(),
            tenant: kept.tenant.clone(),
            name: kept.name.clone(),
            added: kept.added,
            used: Some(now),
            passkey: passkey.map_err(refused)?,
        };
        let account = self.account(&kept.account).await?;
        let account = account.filter(|account| account.tenant == kept.tenant);
        let account = account.ok_or_else(|| refused(PasskeyError::OtherPasskey))?;
        let batch = answered(&challenge).update(self.realm.passkey(), record, encode(&used)?);
        match self.parts.store.commit(batch).await {
            Ok(_) => Ok(account),
            Err(StoreError::Conflict { .. }) => Err(refused(PasskeyError::Challenge)),
            Err(other) => Err(other.into()),
        }
    }

    /// Adds the deletion of all passkeys of the account with this address to a batch.
    pub(crate) async fn without_passkeys(&self, batch: Batch, account: &str) -> Result<Batch> {
        let records = self.kept(account).await?.into_iter();
        let kind = self.realm.passkey();
        Ok(records.fold(batch, |batch, record| batch.delete(kind, &record.id)))
    }

    async fn kept(&self, account: &str) -> Result<Vec<Record>> {
        let page = Page::first(PASSKEYS_MAX.saturating_add(1));
        let (instance, tag) = (TenantId::instance(), of_account(account));
        let store = &self.parts.store;
        let found = store.find(&instance, self.realm.passkey(), &tag, &page);
        Ok(found.await?)
    }

    async fn own(&self, person: &Person, id: &str) -> Result<(Record, KeptPasskey)> {
        let (instance, store) = (TenantId::instance(), &self.parts.store);
        let record = store.read(&instance, self.realm.passkey(), id).await?;
        let record = record.ok_or_else(unknown)?;
        let kept: KeptPasskey = decode(&record.value)?;
        match kept.tenant == person.tenant {
            true => Ok((record, kept)),
            false => Err(unknown()),
        }
    }

    fn site(&self) -> Result<RelyingParty> {
        let site = RelyingParty::at(&self.parts.origin, SITE);
        site.ok_or_else(|| Error::new(ErrorKind::Conflict, "passkeys-nowhere"))
    }

    async fn passkey_key(&self) -> Result<SealingKey> {
        let purpose = self.realm.passkey_key();
        instance_key(&self.parts.store, &self.parts.clock, purpose).await
    }
}

/// The name of a passkey, as it was typed without spaces around it.
fn named(name: &str) -> Result<String> {
    let name = name.trim();
    let fits = (1..=NAME_MAX).contains(&name.chars().count());
    match fits && !name.chars().any(char::is_control) {
        true => Ok(name.to_owned()),
        false => Err(Error::bad_request("passkey-name-malformed").with("maximum", &NAME_MAX)),
    }
}

/// The batch that uses a challenge up.
fn answered(challenge: &PasskeyChallenge) -> Batch {
    let id = encoding::base64url_encode(&hash::sha256(challenge.bytes()));
    let put = Put::new(ANSWERED, &id, Vec::new()).expires(challenge.ends);
    let batch = Batch::new(TenantId::instance());
    batch.expect(ANSWERED, &id, Expect::Absent).put(put)
}

/// What an account is called towards authenticators. It tells nothing of the person.
fn handle(key: &SealingKey, tenant: &TenantId) -> [u8; 32] {
    key.mac(format!("user handle\0{tenant}").as_bytes())
}

fn adding(person: &Person) -> Vec<u8> {
    format!("add\0{}", person.session).into_bytes()
}

fn signing_in(browser: &str) -> Vec<u8> {
    format!("sign in\0{browser}").into_bytes()
}

/// The id of the record of the passkey with this id, which may be too long for one.
fn record_id(passkey: &str) -> String {
    encoding::base64url_encode(&hash::sha256_parts(&[b"passkey\0", passkey.as_bytes()]))
}

fn of_account(account: &str) -> Tag {
    Tag::hashed("account", account)
}

/// The refusal of a passkey that cannot be added.
fn unusable(cause: PasskeyError) -> Error {
    tracing::warn!(reason = %cause, "passkey not added");
    match cause {
        PasskeyError::Challenge => Error::bad_request("passkey-outdated"),
        _ => Error::bad_request("passkey-unusable"),
    }
}

/// The refusal of a sign-in. It is the same whatever is wrong.
fn refused(cause: PasskeyError) -> Error {
    tracing::warn!(reason = %cause, "sign-in refused");
    Error::new(ErrorKind::Unauthenticated, "passkey-refused")
}

fn unknown() -> Error {
    Error::new(ErrorKind::NotFound, "passkey-unknown")
}
