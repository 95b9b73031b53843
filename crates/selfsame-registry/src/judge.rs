//! The rules of every transaction: network, nonce, size, quotas, signatures. Each rule is one predicate, asked both
//! when a transaction is checked and when it is applied. The modules below hold the rules of each kind of operation.

mod agreement;
mod anoncreds;
mod consumption;
mod delegation;
mod did;
mod governance;
mod member;
mod resource;
mod status;

use selfsame_crypto::time::UnixTime;
use selfsame_did::selfsame;

use crate::authority::{Act, Whose};
use crate::content::{Content, is_fragment};
use crate::delegation::GivenDelegation;
use crate::did::DidVersion;
use crate::history::{History, role_of};
use crate::identifier::Identifier;
use crate::operation::{Operation, Since};
use crate::proven::{ProvenSignatures, SignedBytes};
use crate::receipt::Receipt;
use crate::refusal::{
    AuthorFault, CheckError, DelegationFault, GovernanceFault, Refusal, SignatureFault,
};
use crate::rules::Rules;
use crate::state::{Overlay, StateError, StateKey, StateRead, Used, Writes, read};
use crate::transaction::{Signature, Transaction};

/// The block, the rules and the state that a transaction is checked against.
#[derive(Clone, Copy)]
pub(crate) struct Situation<'a> {
    pub(crate) rules: Rules,
    /// The newest machine this program has.
    pub(crate) known: u64,
    /// The machine that an operation came with.
    pub(crate) since: Since,
    pub(crate) network: &'a str,
    pub(crate) height: u64,
    pub(crate) time: UnixTime,
    /// The number the transaction gets in the log if it is accepted.
    pub(crate) seq_no: u64,
    /// Whether the author accepts the author agreement as it is in force.
    pub(crate) agreement: Result<(), Refusal>,
    pub(crate) proven: &'a ProvenSignatures,
    pub(crate) state: &'a dyn StateRead,
}

/// The outcome of a transaction that is not refused.
pub(crate) enum Admission {
    /// It was accepted before; nothing changes.
    Known(Receipt),
    /// It is accepted now.
    New(Receipt, Writes),
}

/// A quota: how many operations a window may have, and the key of the record that counts them.
struct Quota<'a> {
    key: StateKey<'a>,
    limit: u64,
}

/// A transaction while its operations are applied: the state after the operations so far.
struct JudgedStep<'a> {
    at: Situation<'a>,
    author: Identifier,
    /// Whether a member vouches for the transaction.
    endorsed: bool,
    receipt: Receipt,
    to: Overlay<'a>,
}

impl<'a> Situation<'a> {
    pub(crate) fn judge(&self, tx: &Transaction) -> Result<Admission, CheckError> {
        self.is_for_this_network(tx)?;
        self.has_its_operations(tx)?;
        if let Some(receipt) = self.nonce_is_new_or_the_same(tx)? {
            return Ok(Admission::Known(receipt));
        }
        self.has_an_allowed_size(tx)?;
        let used = self.author_has_quota_left(tx)?;
        self.is_signed_by_its_author(tx)?;
        self.is_signed_by_its_endorser(tx)?;
        let agreement = self.judge_acceptance(tx.body().agreement.as_ref())?;
        let mut step = JudgedStep {
            at: Situation { agreement, ..*self },
            author: tx.body().author,
            endorsed: tx.body().endorser.is_some(),
            receipt: self.receipt(tx),
            to: Overlay::new(self.state),
        };
        for (place, operation) in tx.body().operations.iter().enumerate() {
            step.take(place, operation)?;
        }
        let JudgedStep {
            receipt, mut to, ..
        } = step;
        to.put(
            &StateKey::Nonce(tx.body().author, tx.body().nonce),
            &receipt,
        );
        to.put(&StateKey::AuthorQuota(tx.body().author), &used);
        Ok(Admission::New(receipt, to.writes))
    }

    fn receipt(&self, tx: &Transaction) -> Receipt {
        Receipt {
            seq_no: self.seq_no,
            height: self.height,
            time: self.time,
            tx_hash: tx.hash(),
        }
    }

    fn is_for_this_network(&self, tx: &Transaction) -> Result<(), Refusal> {
        match tx.body().network == self.network {
            true => Ok(()),
            false => Err(Refusal::Network),
        }
    }

    fn has_its_operations(&self, tx: &Transaction) -> Result<(), Refusal> {
        match tx.since(self.since) <= self.rules.machine_version {
            true => Ok(()),
            false => Err(Refusal::Governance(GovernanceFault::OperationUnknown)),
        }
    }

    fn nonce_is_new_or_the_same(&self, tx: &Transaction) -> Result<Option<Receipt>, CheckError> {
        let nonce = StateKey::Nonce(tx.body().author, tx.body().nonce);
        match read::<Receipt>(self.state, &nonce)? {
            Some(receipt) if receipt.tx_hash == tx.hash() => Ok(Some(receipt)),
            Some(_) => Err(Refusal::NonceUsed.into()),
            None => Ok(None),
        }
    }

    fn has_an_allowed_size(&self, tx: &Transaction) -> Result<(), Refusal> {
        match u64::try_from(tx.to_bytes().len()) {
            Ok(length) if length <= self.rules.max_transaction_bytes => Ok(()),
            _ => Err(Refusal::TooLarge),
        }
    }

    /// Every operation counts. Gives the quota's use after this transaction.
    fn author_has_quota_left(&self, tx: &Transaction) -> Result<Used, CheckError> {
        let quota = Quota {
            key: StateKey::AuthorQuota(tx.body().author),
            limit: self.rules.author_quota,
        };
        let operations = u64::try_from(tx.body().operations.len()).unwrap_or(u64::MAX);
        self.uses(self.state, quota, operations)
    }

    /// The use of a quota after `count` more operations in this block's window.
    fn uses(
        &self,
        state: &dyn StateRead,
        quota: Quota<'_>,
        count: u64,
    ) -> Result<Used, CheckError> {
        let length = self.rules.quota_window;
        let window = self.time.0.checked_div(length).unwrap_or(0);
        let before = match read::<Used>(state, &quota.key)? {
            Some(used) if used.window == window => used.count,
            _ => 0,
        };
        let count = before.saturating_add(count);
        if count <= quota.limit {
            return Ok(Used { window, count });
        }
        let into_window = self.time.0.checked_rem(length).unwrap_or(0);
        let retry_after = length.saturating_sub(into_window);
        Err(Refusal::Quota { retry_after }.into())
    }

    /// By the keys the author has now. A transaction that creates its author is signed by the keys it creates it with.
    fn is_signed_by_its_author(&self, tx: &Transaction) -> Result<(), CheckError> {
        let author = content_of(self.state, tx.body().author);
        let first = match tx.body().operations.first() {
            Some(Operation::CreateDid(content)) => Some(content),
            _ => None,
        };
        match (author, first) {
            (Err(CheckError::Refused(Refusal::Author(AuthorFault::Unknown))), Some(content)) => {
                first_key_signs(tx, content)?;
                Ok(self.is_signed(tx, tx.signatures(), content)?)
            }
            (Ok(_) | Err(CheckError::Refused(_)), Some(_)) => {
                Err(Refusal::Author(AuthorFault::Exists).into())
            }
            (author, _) => Ok(self.is_signed(tx, tx.signatures(), &author?)?),
        }
    }

    fn is_signed_by_its_endorser(&self, tx: &Transaction) -> Result<(), CheckError> {
        let Some(endorser) = tx.body().endorser else {
            return Ok(());
        };
        if role_of(self.state, endorser)?.is_none() {
            return Err(Refusal::Endorser.into());
        }
        let content = content_of(self.state, endorser)?;
        Ok(self.is_signed(tx, tx.endorsements(), &content)?)
    }

    /// Every signature is good and by a key with capabilityInvocation; there is at least one.
    fn is_signed(
        &self,
        tx: &Transaction,
        signatures: &[Signature],
        content: &Content,
    ) -> Result<(), Refusal> {
        let signed = SignedBytes {
            hash: tx.hash(),
            bytes: tx.unsigned_bytes(),
        };
        let mut seen: Vec<&str> = Vec::new();
        for signature in signatures {
            if seen.contains(&signature.key.as_str()) {
                return Err(Refusal::Signature(SignatureFault::Repeated));
            }
            seen.push(&signature.key);
            let key = content
                .invocation_key(&signature.key)
                .ok_or(Refusal::Signature(SignatureFault::UnknownKey))?;
            self.proven.verify(key, &signed, signature)?;
        }
        match seen.is_empty() {
            true => Err(Refusal::Signature(SignatureFault::UnknownKey)),
            false => Ok(()),
        }
    }

    /// The DID of an identifier in this network.
    fn did(&self, id: Identifier) -> String {
        selfsame::prefix(self.network) + &id.to_string()
    }
}

impl JudgedStep<'_> {
    fn take(&mut self, place: usize, operation: &Operation) -> Result<(), CheckError> {
        match operation {
            Operation::CreateDid(content) => self.create_did(place, content),
            Operation::UpdateDid { version, content } => self.update_did(*version, content),
            Operation::DeactivateDid { version } => {
                self.deactivate_did(*version)?;
                self.end_role()
            }
            Operation::AnchorStatus {
                list,
                digest,
                issued,
            } => self.anchor_status(list, *digest, *issued),
            Operation::RegisterDid {
                subject,
                key,
                consent,
            } => self.register_did(*subject, key, consent.as_ref()),
            Operation::SetRole { subject, role } => self.set_role(*subject, *role),
            Operation::Schema { json } => self.publish_schema(json),
            Operation::CredentialDefinition(definition) => self.publish_definition(definition),
            Operation::RevocationRegistry { json } => self.publish_registry(json),
            Operation::RevocationEntry(entry) => self.change_registry(entry),
            Operation::Resource(resource) => self.publish_resource(resource),
            Operation::Delegate(delegation) => self.delegate(delegation),
            Operation::WithdrawDelegation { name } => self.withdraw_delegation(name),
            Operation::Consume(consume) => self.consume(consume),
            Operation::SetAgreement(agreement) => self.set_agreement(agreement.as_ref()),
            Operation::ChangeValidators { add, remove } => self.change_validators(add, remove),
            Operation::ChangeRules { from_height, rules } => self.change_rules(*from_height, rules),
        }
    }

    /// The author's present version, after the operations before this one.
    fn active_author(&self) -> Result<u64, CheckError> {
        active(&self.to, self.author)
    }

    /// Whether what belongs to `owner` is the author's own.
    fn whose(&self, owner: Identifier) -> Whose {
        match owner == self.author {
            true => Whose::Own,
            false => Whose::Other,
        }
    }

    /// Whether the author may do this, by the table of acts and the author agreement.
    fn authorise(&self, act: Act, whose: Whose) -> Result<(), CheckError> {
        if act.needs_agreement() {
            self.at.agreement.map_err(CheckError::Refused)?;
        }
        let role = role_of(&self.to, self.author)?;
        match act.is_allowed(role, whose, self.at.rules.mode, self.endorsed) {
            true => Ok(()),
            false => Err(Refusal::NotAllowed { act }.into()),
        }
    }

    fn delegation_of(&self, issuer: Identifier, name: &str) -> Result<GivenDelegation, CheckError> {
        // The name becomes part of a key of the state.
        let given = match is_fragment(name) {
            true => read(&self.to, &StateKey::Delegation(issuer, name))?,
            false => None,
        };
        given.ok_or_else(|| Refusal::Delegation(DelegationFault::Unknown).into())
    }
}

/// The present version of a DID that is not deactivated.
fn active(state: &dyn StateRead, id: Identifier) -> Result<u64, CheckError> {
    match History::<DidVersion>::new(state, StateKey::Did(id)).present()? {
        None => Err(Refusal::Author(AuthorFault::Unknown).into()),
        Some(present) if present.deactivated => {
            Err(Refusal::Author(AuthorFault::Deactivated).into())
        }
        Some(present) => Ok(present.version),
    }
}

/// The present content of a DID that is not deactivated.
fn content_of(state: &dyn StateRead, id: Identifier) -> Result<Content, CheckError> {
    let version = active(state, id)?;
    let history = History::<DidVersion>::new(state, StateKey::Did(id));
    match history.version(version)?.content {
        Some(content) => Ok(content),
        None => Err(StateError("an active DID has no content".to_owned()).into()),
    }
}

/// The first key of a new DID has to sign, so that a DID is created only by the owner of its key.
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
