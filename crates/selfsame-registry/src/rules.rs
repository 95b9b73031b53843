//! The rules a transaction is judged by: each one predicate, in the order they are asked. Checking
//! a transaction and applying it ask the same ones.

use selfsame_crypto::time::UnixTime;

use crate::content::{Content, is_uri};
use crate::genesis::Rules;
use crate::refusal::{AuthorFault, CheckError, Refusal, SignatureFault};
use crate::state::{Anchor, DidVersion, Key, Present, Receipt, StateError, StateRead, Used, read};
use crate::transaction::{Operation, Transaction};

/// What a transaction is judged against.
#[derive(Clone, Copy)]
pub(crate) struct Situation<'a> {
    pub(crate) rules: Rules,
    pub(crate) network: &'a str,
    pub(crate) time: UnixTime,
    pub(crate) state: &'a dyn StateRead,
}

/// What comes of a transaction that is not refused.
pub(crate) enum Admission {
    /// It was accepted before; nothing changes.
    Known(Receipt),
    /// It is accepted now.
    New(Change),
}

/// What an accepted transaction changes, besides the marks every one leaves.
pub(crate) enum Change {
    /// A version of a DID; none of content once deactivated.
    Did {
        version: u64,
        content: Option<Content>,
    },
    /// A version of a status list.
    List { version: u64 },
}

impl Situation<'_> {
    pub(crate) fn judge(&self, tx: &Transaction) -> Result<Admission, CheckError> {
        self.is_for_this_network(tx)?;
        if let Some(receipt) = self.nonce_is_new_or_the_same(tx)? {
            return Ok(Admission::Known(receipt));
        }
        self.author_has_quota_left(tx)?;
        let change = match &tx.body().operation {
            Operation::CreateDid(content) => self.creation(tx, content)?,
            Operation::UpdateDid { version, content } => self.update(tx, *version, content)?,
            Operation::DeactivateDid { version } => self.deactivation(tx, *version)?,
            Operation::AnchorStatus { .. } => self.anchoring(tx)?,
        };
        Ok(Admission::New(change))
    }

    fn creation(&self, tx: &Transaction, content: &Content) -> Result<Change, CheckError> {
        self.network_has_creations_left()?;
        self.author_does_not_exist(tx)?;
        content.check(&self.rules).map_err(Refusal::Content)?;
        identifier_belongs_to_first_key(tx, content)?;
        is_signed_by_keys_of(tx, content)?;
        first_key_signs(tx, content)?;
        Ok(Change::Did {
            version: 1,
            content: Some(content.clone()),
        })
    }

    fn update(
        &self,
        tx: &Transaction,
        version: u64,
        content: &Content,
    ) -> Result<Change, CheckError> {
        let (present, keys) = self.author_is_active(tx)?;
        follows(present, version)?;
        content.check(&self.rules).map_err(Refusal::Content)?;
        is_signed_by_keys_of(tx, &keys)?;
        Ok(Change::Did {
            version,
            content: Some(content.clone()),
        })
    }

    fn deactivation(&self, tx: &Transaction, version: u64) -> Result<Change, CheckError> {
        let (present, keys) = self.author_is_active(tx)?;
        follows(present, version)?;
        is_signed_by_keys_of(tx, &keys)?;
        Ok(Change::Did {
            version,
            content: None,
        })
    }

    fn anchoring(&self, tx: &Transaction) -> Result<Change, CheckError> {
        let Operation::AnchorStatus { list, issued, .. } = &tx.body().operation else {
            return Err(StateError("an anchoring that is none".to_owned()).into());
        };
        let (_, keys) = self.author_is_active(tx)?;
        is_uri(list, &self.rules).map_err(Refusal::Content)?;
        self.is_not_from_the_future(*issued)?;
        let version = self.list_is_newer(tx, list, *issued)?;
        is_signed_by_keys_of(tx, &keys)?;
        Ok(Change::List { version })
    }

    fn is_for_this_network(&self, tx: &Transaction) -> Result<(), Refusal> {
        match tx.body().network == self.network {
            true => Ok(()),
            false => Err(Refusal::Network),
        }
    }

    fn nonce_is_new_or_the_same(&self, tx: &Transaction) -> Result<Option<Receipt>, CheckError> {
        let nonce = Key::Nonce(tx.body().author, tx.body().nonce);
        match read::<Receipt>(self.state, nonce)? {
            Some(receipt) if receipt.tx_hash == tx.hash() => Ok(Some(receipt)),
            Some(_) => Err(Refusal::NonceUsed.into()),
            None => Ok(None),
        }
    }

    fn author_has_quota_left(&self, tx: &Transaction) -> Result<(), CheckError> {
        let used = self.used(Key::AuthorQuota(tx.body().author))?;
        self.is_below(used, self.rules.author_quota)
    }

    fn network_has_creations_left(&self) -> Result<(), CheckError> {
        let used = self.used(Key::CreationQuota)?;
        self.is_below(used, self.rules.creation_quota)
    }

    fn is_below(&self, used: Used, quota: u64) -> Result<(), CheckError> {
        if used.count < quota {
            return Ok(());
        }
        let into_window = self
            .time
            .0
            .checked_rem(self.rules.quota_window)
            .unwrap_or(0);
        let retry_after = self.rules.quota_window.saturating_sub(into_window);
        Err(Refusal::Quota { retry_after }.into())
    }

    /// What is used of a quota in the window this block is in.
    pub(crate) fn used(&self, quota: Key) -> Result<Used, StateError> {
        let window = self
            .time
            .0
            .checked_div(self.rules.quota_window)
            .unwrap_or(0);
        Ok(match read::<Used>(self.state, quota)? {
            Some(used) if used.window == window => used,
            _ => Used { window, count: 0 },
        })
    }

    fn author_does_not_exist(&self, tx: &Transaction) -> Result<(), CheckError> {
        match read::<Present>(self.state, Key::Did(tx.body().author))? {
            None => Ok(()),
            Some(_) => Err(Refusal::Author(AuthorFault::Exists).into()),
        }
    }

    /// The author's present version and content.
    fn author_is_active(&self, tx: &Transaction) -> Result<(u64, Content), CheckError> {
        let author = tx.body().author;
        let present = read::<Present>(self.state, Key::Did(author))?
            .ok_or(Refusal::Author(AuthorFault::Unknown))?;
        if present.deactivated {
            return Err(Refusal::Author(AuthorFault::Deactivated).into());
        }
        let version = read::<DidVersion>(self.state, Key::DidVersion(author, present.version))?;
        match version.and_then(|version| version.content) {
            Some(content) => Ok((present.version, content)),
            None => Err(StateError("an active DID has no content".to_owned()).into()),
        }
    }

    fn is_not_from_the_future(&self, issued: UnixTime) -> Result<(), Refusal> {
        match issued <= self.time.plus(self.rules.max_clock_skew) {
            true => Ok(()),
            false => Err(Refusal::Future),
        }
    }

    /// Gives the version of the list this anchoring makes.
    fn list_is_newer(
        &self,
        tx: &Transaction,
        list: &str,
        issued: UnixTime,
    ) -> Result<u64, CheckError> {
        let author = tx.body().author;
        let Some(present) = read::<Present>(self.state, Key::List(author, list))? else {
            return Ok(1);
        };
        let anchor = read::<Anchor>(self.state, Key::ListVersion(author, list, present.version))?
            .ok_or_else(|| StateError("a status list's version is missing".to_owned()))?;
        match issued > anchor.issued {
            true => Ok(present.version.saturating_add(1)),
            false => Err(Refusal::NotNewer.into()),
        }
    }
}

fn follows(present: u64, version: u64) -> Result<(), Refusal> {
    match present.checked_add(1) == Some(version) {
        true => Ok(()),
        false => Err(Refusal::Version { present }),
    }
}

fn identifier_belongs_to_first_key(tx: &Transaction, content: &Content) -> Result<(), Refusal> {
    match content.keys.first() {
        Some(key) if tx.body().author.belongs_to(&key.public) => Ok(()),
        _ => Err(Refusal::Identifier),
    }
}

/// Every signature is good and by a key with capabilityInvocation; there is at least one, since
/// a transaction without signatures cannot be read.
fn is_signed_by_keys_of(tx: &Transaction, content: &Content) -> Result<(), Refusal> {
    let mut seen: Vec<&str> = Vec::new();
    for signature in tx.signatures() {
        if seen.contains(&signature.key.as_str()) {
            return Err(Refusal::Signature(SignatureFault::Repeated));
        }
        seen.push(&signature.key);
        let key = content
            .invocation_key(&signature.key)
            .ok_or(Refusal::Signature(SignatureFault::UnknownKey))?;
        key.verify(
            key.key_type().default_algorithm(),
            tx.unsigned_bytes(),
            &signature.bytes,
        )
        .map_err(|_| Refusal::Signature(SignatureFault::Bad))?;
    }
    match seen.is_empty() {
        true => Err(Refusal::Signature(SignatureFault::UnknownKey)),
        false => Ok(()),
    }
}

/// Nobody registers the DID of a key that is not his.
fn first_key_signs(tx: &Transaction, content: &Content) -> Result<(), Refusal> {
    let first = content.keys.first().map(|key| key.id.as_str());
    match tx
        .signatures()
        .iter()
        .any(|signature| Some(signature.key.as_str()) == first)
    {
        true => Ok(()),
        false => Err(Refusal::Signature(SignatureFault::FirstKeyMissing)),
    }
}
