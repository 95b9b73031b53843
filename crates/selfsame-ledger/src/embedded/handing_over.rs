//! The end of an embedded registry: its last block hands the network over to other validators.

use std::io::Write;
use std::sync::Arc;

use selfsame_crypto::{KeyHandle, PrivateKey};
use selfsame_driver::{Error, ErrorKind, Reason, Result};
use selfsame_proof::validators::ValidatorSet;
use selfsame_registry::network::Role;
use selfsame_registry::{Genesis, Identifier, Operation, Receipt, UnsignedTransaction};

use super::Embedded;
use crate::archive;
use crate::archive::Archived;
use crate::ledger::Ledger;
use crate::network::tenant;
use crate::registry::{Registry, ServedRegistry};

/// The name of a member's key in their DID of the genesis.
const FIRST_KEY: &str = "key-1";

/// Checks that the registry's only validator still has this key.
pub(super) fn is_still_here(ledger: &Ledger, key: &KeyHandle) -> Result<()> {
    let set = ledger.machine().validators(ledger);
    let set = set.map_err(Error::internal)?;
    match set.validators() {
        [validator] if KeyHandle::of(&validator.key) == *key => Ok(()),
        _ => Err(Error::new(ErrorKind::Gone, "registry-moved")),
    }
}

impl Embedded {
    /// Hands the network over: from the next block on these validators sign, and this registry can't be opened again.
    /// The last checkpoint that it signs leads readers to them; [`Embedded::export`] contains it.
    ///
    /// # Errors
    /// `Forbidden` if no key of a trustee of the network is here, else the error that prevented the block.
    pub async fn hand_over(&self, to: &ValidatorSet) -> Result<Receipt> {
        let machine = self.ledger.machine();
        let now = machine.validators(&self.ledger).map_err(Error::internal)?;
        let operation = Operation::ChangeValidators {
            add: to.validators().to_vec(),
            remove: now
                .validators()
                .iter()
                .map(|validator| validator.name.clone())
                .collect(),
        };
        let trustee = self.trustee().await?;
        let id = Identifier::of_key(trustee.public())
            .ok_or_else(|| Error::internal("a member's key has no identifier"))?;
        // The height is a nonce that no other handover has.
        let nonce = self.ledger.head()?.height;
        let unsigned = UnsignedTransaction::new(machine.network(), id, nonce, operation);
        let signature = trustee.sign(unsigned.signing_bytes());
        let signature = signature.map_err(Error::internal)?;
        let transaction = unsigned
            .signed(FIRST_KEY, &signature)
            .map_err(Error::internal)?;
        let handed_over = self.submit(&transaction).await;
        handed_over.map_err(|error| match error.is_refusal() {
            true => Error {
                reason: Reason::new("handover-refused").because(error.reason),
                ..error
            },
            false => error,
        })
    }

    /// Writes the whole registry as one stream, with the checkpoint that proves it.
    ///
    /// # Errors
    /// `Internal` if the ledger can't be read or the stream can't be written.
    pub async fn export(&self, to: &mut (dyn Write + Send)) -> Result<Archived> {
        let checkpoint = self.status().await?.checkpoint;
        archive::export(&self.ledger, &checkpoint, to)
    }

    /// The key of the network's trustee.
    ///
    /// # Errors
    /// `Forbidden` if no key of a trustee is here.
    pub async fn trustee(&self) -> Result<Arc<PrivateKey>> {
        let mut members = self.own_genesis().members().iter();
        let missing = || Error::new(ErrorKind::Forbidden, "trustee-key-absent");
        let trustee = members
            .find(|member| member.role == Role::Trustee)
            .ok_or_else(missing)?;
        let key = KeyHandle::of(&trustee.key);
        let unsealed = self.signer.keys.unsealed(&tenant()?, &key).await;
        unsealed.map_err(|_| missing())
    }

    /// The network's genesis.
    #[must_use]
    pub fn own_genesis(&self) -> &Genesis {
        self.ledger.genesis()
    }
}
