//! A mock identity system, compatible with MOSIP's: for trying out, and for measuring sign-ins without a real one.
//!
//! Its one-time password is always [`OTP`], so anyone can sign in as anyone whom it knows.

mod claims;
mod embedded;
mod fault;
mod kyc;
mod person;
mod records;
mod remote;
pub mod wire;

use std::sync::Arc;
use std::time::Duration;

use selfsame_crypto::seal::SealingKey;
use selfsame_crypto::{KeyHandle, SecretString};
use selfsame_driver::clock::Clock;
use selfsame_driver::keys::{Keys, instance_key};
use selfsame_driver::{CpuPool, Result};
use selfsame_store::{Batch, Expect, Put, Store, StoreError, TenantId};
use serde::Deserialize;
use serde_json::{Map, Value};
use tokio::sync::OnceCell;

pub use fault::MockFault;
pub use person::MockPerson;
pub use remote::RemoteMock;

use crate::mask;
use records::{KycRecord, OtpTransaction};
use wire::{KycAuthRequest, KycAuthentication, KycExchangeRequest, OtpReceipt, SendOtpRequest};

/// The one-time password of everyone.
pub const OTP: &str = "111111";

/// The mock identity system of one instance.
#[derive(Clone)]
pub struct MockIdentities(Arc<MockParts>);

/// What it is made from.
pub struct MockResources {
    /// Its records.
    pub store: Store,
    /// Its keys.
    pub keys: Keys,
    /// Its time and randomness.
    pub clock: Clock,
    /// The pool in which it signs.
    pub work: CpuPool,
}

/// Its settings.
#[derive(Clone, Debug)]
pub struct MockConfig {
    /// The `iss` of the claims that it signs.
    pub issuer: String,
    /// How long each answer to a sign-in is held back, as a real system would take.
    pub delay: Duration,
    /// What it signs claims with.
    pub algorithm: MockAlgorithm,
    /// Whether its one-time password is shown on the screen of the person who asks.
    pub codes_on_screen: bool,
}

/// What the mock identity system signs claims with.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq)]
pub enum MockAlgorithm {
    /// RSA, as MOSIP's does.
    #[default]
    #[serde(rename = "RS256")]
    Rs256,
    /// ECDSA.
    #[serde(rename = "ES256")]
    Es256,
}

struct MockParts {
    resources: MockResources,
    config: MockConfig,
    /// Its people are of a tenant of its own.
    tenant: TenantId,
    /// Names records of people without revealing whose they are.
    naming: OnceCell<SealingKey>,
    signing: OnceCell<KeyHandle>,
}

type MockAnswer<T> = std::result::Result<T, MockFault>;

impl MockIdentities {
    /// The mock identity system in this store.
    ///
    /// # Errors
    /// None that can happen.
    pub fn new(config: MockConfig, resources: MockResources) -> Result<Self> {
        Ok(Self(Arc::new(MockParts {
            resources,
            config,
            tenant: TenantId::parse("mock-identity-system")?,
            naming: OnceCell::new(),
            signing: OnceCell::new(),
        })))
    }

    /// Adds a person.
    ///
    /// # Errors
    /// `invalid_individual_id`, `duplicate_individual_id`, and the store's.
    pub async fn create(&self, members: Map<String, Value>) -> MockAnswer<()> {
        let person = MockPerson::new(members)?;
        let id = self.person_id(person.individual_id()).await?;
        let put = Put::new(records::PERSON, &id, person.encoded()?);
        let batch = self.batch().expect(records::PERSON, &id, Expect::Absent);
        match self.store().commit(batch.put(put)).await {
            Err(StoreError::Conflict { .. }) => Err(MockFault::Refused("duplicate_individual_id")),
            other => Ok(other.map(drop)?),
        }
    }

    /// Replaces the members of a person that are given and not null.
    ///
    /// # Errors
    /// `invalid_individual_id` for a person who is not known, and the store's.
    pub async fn update(&self, members: Map<String, Value>) -> MockAnswer<()> {
        let changes = MockPerson::new(members)?;
        let id = self.person_id(changes.individual_id()).await?;
        loop {
            let read = self.store().read(self.tenant(), records::PERSON, &id);
            let record = read.await?.ok_or(MockFault::UNKNOWN_PERSON)?;
            let person = MockPerson::decode(&record.value)?.with(&changes);
            let batch = self.batch();
            let batch = batch.update(records::PERSON, &record, person.encoded()?);
            match self.store().commit(batch).await {
                Err(StoreError::Conflict { .. }) => {}
                other => return Ok(other.map(drop)?),
            }
        }
    }

    /// A person, as they were created and updated. The password is its digest.
    ///
    /// # Errors
    /// `invalid_individual_id` for a person who is not known, and the store's.
    pub async fn person(&self, individual_id: &str) -> MockAnswer<MockPerson> {
        let id = self.person_id(individual_id).await?;
        let read = self.store().read(self.tenant(), records::PERSON, &id);
        let record = read.await?.ok_or(MockFault::UNKNOWN_PERSON)?;
        Ok(MockPerson::decode(&record.value)?)
    }

    /// Pretends to send a one-time password.
    ///
    /// # Errors
    /// `invalid_transaction_id`, `invalid_individual_id`, `invalid_otp_channel`, `no_email_mobile_found`, and the store's.
    pub async fn send_otp(&self, order: &SendOtpRequest) -> MockAnswer<OtpReceipt> {
        let sent = self.otp_sent(order).await;
        self.hold_back().await;
        sent
    }

    async fn otp_sent(&self, order: &SendOtpRequest) -> MockAnswer<OtpReceipt> {
        order.check()?;
        let person = self.person(&order.individual_id).await?;
        let receipt = receipt(order, &person)?;
        let at = OtpTransaction::of(&order.transaction_id, &order.individual_id);
        let put = Put::new(records::OTP, self.transaction_id(&at).await?, Vec::new());
        let put = put.expires(self.clock().now().plus(records::SECONDS));
        self.store()
            .commit(self.batch().put(put).deferred())
            .await?;
        Ok(receipt)
    }

    /// Checks the challenges of a person for a relying party.
    ///
    /// # Errors
    /// `invalid_individual_id`, `auth_failed`, `invalid_transaction` for a one-time password that was not sent or is used,
    /// and the store's.
    pub async fn kyc_auth(
        &self,
        relying_party: &str,
        request: &KycAuthRequest,
    ) -> MockAnswer<KycAuthentication> {
        let authenticated = self.authenticated(relying_party, request).await;
        self.hold_back().await;
        authenticated
    }

    async fn authenticated(
        &self,
        relying_party: &str,
        request: &KycAuthRequest,
    ) -> MockAnswer<KycAuthentication> {
        let person = self.person(&request.individual_id).await?;
        let mut batch = self.batch();
        if let Some(otp) = &request.otp {
            batch = self.spend_otp(request, otp, batch).await?;
        }
        if !kyc::is_proven(request, &person)? {
            return Ok(KycAuthentication::failed());
        }
        let token = self.clock().ctx().token("kyc token");
        let subject = kyc::subject(&request.individual_id, relying_party);
        let record = KycRecord {
            transaction: request.transaction_id.clone(),
            individual_id: request.individual_id.clone(),
            subject: subject.clone(),
        };
        let put = Put::new(
            records::KYC,
            records::token_id(&token),
            selfsame_driver::record::encode(&record)?,
        );
        let batch = batch.put(put.expires(self.clock().now().plus(records::SECONDS)));
        match self.store().commit(batch).await {
            // Another request has spent the same one-time password.
            Err(StoreError::Conflict { .. }) => return Err(MockFault::NO_TRANSACTION),
            other => other?,
        };
        Ok(KycAuthentication::succeeded(token, subject))
    }

    /// The claims of a person who was authenticated, as a JWS for a client. The token is used up.
    ///
    /// # Errors
    /// `mock-ida-006` for a token that is unknown, used or over, and the store's.
    pub async fn kyc_exchange(
        &self,
        client_id: &str,
        request: &KycExchangeRequest,
        subject: Option<&str>,
    ) -> MockAnswer<SecretString> {
        let id = records::token_id(&request.kyc_token);
        let read = self.store().read(self.tenant(), records::KYC, &id).await?;
        let record = read.ok_or(MockFault::UNKNOWN_TOKEN)?;
        let known: KycRecord = selfsame_driver::record::decode(&record.value)?;
        if known.transaction != request.transaction_id
            || known.individual_id != request.individual_id
        {
            return Err(MockFault::UNKNOWN_TOKEN);
        }
        let person = self.person(&known.individual_id).await?;
        let claims = claims::of(&person, &request.claims(), &request.locales());
        let batch = self
            .batch()
            .expect(records::KYC, &id, Expect::Version(record.version));
        match self.store().commit(batch.delete(records::KYC, &id)).await {
            Err(StoreError::Conflict { .. }) => return Err(MockFault::UNKNOWN_TOKEN),
            other => other?,
        };
        let subject = subject.unwrap_or(&known.subject);
        let signed = self.signed(claims, subject, client_id).await?;
        self.hold_back().await;
        Ok(signed)
    }

    /// Adds to the batch that the one-time password of a transaction is used up.
    async fn spend_otp(
        &self,
        request: &KycAuthRequest,
        otp: &str,
        batch: Batch,
    ) -> MockAnswer<Batch> {
        if request.transaction_id.is_empty() {
            return Err(MockFault::Refused("invalid_transaction_id"));
        }
        let at = OtpTransaction::of(&request.transaction_id, &request.individual_id);
        let id = self.transaction_id(&at).await?;
        let version = self.store().version(self.tenant(), records::OTP, &id);
        let version = version.await?.ok_or(MockFault::NO_TRANSACTION)?;
        if !selfsame_crypto::hash::ct_eq(otp.as_bytes(), OTP.as_bytes()) {
            return Err(MockFault::WRONG);
        }
        let batch = batch.expect(records::OTP, &id, Expect::Version(version));
        Ok(batch.delete(records::OTP, &id))
    }

    async fn hold_back(&self) {
        if !self.0.config.delay.is_zero() {
            tokio::time::sleep(self.0.config.delay).await;
        }
    }

    async fn person_id(&self, individual_id: &str) -> Result<String> {
        Ok(records::named(
            self.naming().await?,
            "person",
            individual_id,
        ))
    }

    async fn transaction_id(&self, at: &OtpTransaction<'_>) -> Result<String> {
        Ok(records::named(
            self.naming().await?,
            "transaction",
            &at.text(),
        ))
    }

    async fn naming(&self) -> Result<&SealingKey> {
        let purpose = "people of the mock identity system";
        let key = || instance_key(self.store(), self.clock(), purpose);
        self.0.naming.get_or_try_init(key).await
    }

    fn store(&self) -> &Store {
        &self.0.resources.store
    }

    fn clock(&self) -> &Clock {
        &self.0.resources.clock
    }

    fn tenant(&self) -> &TenantId {
        &self.0.tenant
    }

    fn batch(&self) -> Batch {
        Batch::new(self.0.tenant.clone())
    }
}

/// Where the password was sent, as far as the person has the addresses that were asked for.
fn receipt(order: &SendOtpRequest, person: &MockPerson) -> MockAnswer<OtpReceipt> {
    let mut receipt = OtpReceipt {
        transaction_id: order.transaction_id.clone(),
        ..OtpReceipt::default()
    };
    for channel in &order.otp_channels {
        match channel.to_ascii_lowercase().as_str() {
            "email" => receipt.masked_email = person.text("email").map(mask::email),
            "phone" | "mobile" => receipt.masked_mobile = person.text("phone").map(mask::phone),
            _ => return Err(MockFault::Refused("invalid_otp_channel")),
        }
    }
    match (&receipt.masked_email, &receipt.masked_mobile) {
        (None, None) => Err(MockFault::Refused("no_email_mobile_found")),
        _ => Ok(receipt),
    }
}

#[cfg(test)]
mod tests;
