//! What is noted of a connection: which side of transactions this agent and its peer are, and who the endorser is.

use selfsame_anoncreds_wallet::endorse::Endorser;
use selfsame_anoncreds_wallet::endorse::did_beside;
use selfsame_core::dids::Author;
use selfsame_driver::{Error, ErrorKind, Result};
use selfsame_store::TenantId;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::endorsements::Endorsements;
use crate::protocol::{TransactionJob, TransactionMessage, TransactionRole};
use crate::terms::EndorsementRole;

/// The members of a connection's notes, by ACA-Py's names.
const JOBS: &str = "transaction_jobs";
const INFO: &str = "endorser_info";

/// Who does what on a connection.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct TransactionJobs {
    /// This agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transaction_my_job: Option<TransactionJob>,
    /// Its peer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transaction_their_job: Option<TransactionJob>,
}

/// The endorser at the other end of a connection.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct EndorserInfo {
    /// Its DID.
    pub endorser_did: String,
    /// Its name.
    pub endorser_name: Option<String>,
}

impl Endorsements {
    /// Sets what this agent does on a connection, and tells its peer.
    ///
    /// # Errors
    /// `NotFound` if there is no such connection; `Forbidden` if it is not ready; the store's.
    pub async fn set_role(
        &self,
        tenant: &TenantId,
        connection: &str,
        job: TransactionJob,
    ) -> Result<TransactionJobs> {
        let jobs = TransactionJobs {
            transaction_my_job: Some(job),
            ..self.jobs(tenant, connection).await?
        };
        self.note(tenant, connection, ConnectionNote::jobs(jobs))
            .await?;
        let message = TransactionMessage::Job(job);
        self.tell_peer(tenant, connection, &message).await?;
        Ok(jobs)
    }

    /// Notes what the peer says that it does.
    pub(crate) async fn hear_job(
        &self,
        tenant: &TenantId,
        connection: &str,
        job: TransactionJob,
    ) -> Result<()> {
        let jobs = TransactionJobs {
            transaction_their_job: Some(job),
            ..self.jobs(tenant, connection).await?
        };
        self.note(tenant, connection, ConnectionNote::jobs(jobs))
            .await
    }

    /// Notes who the endorser at the other end of an author's connection is.
    ///
    /// # Errors
    /// `NotFound` if there is no such connection; `Forbidden` if this agent is no author there; the store's.
    pub async fn set_endorser(
        &self,
        tenant: &TenantId,
        connection: &str,
        info: EndorserInfo,
    ) -> Result<EndorserInfo> {
        self.must_be(tenant, connection, TransactionRole::Author)
            .await?;
        let noted = ConnectionNote {
            name: INFO,
            value: json!(info),
        };
        self.note(tenant, connection, noted).await?;
        Ok(info)
    }

    /// The endorser of an author: on this connection, or on the one with the alias that the settings name.
    ///
    /// # Errors
    /// `BadRequest` if there is no such connection; `Forbidden` if the endorser's DID is not known.
    pub async fn endorser(&self, author: &Author, connection: Option<&str>) -> Result<Endorser> {
        let tenant = &author.tenant;
        let connection_id = match connection {
            Some(connection) => connection.to_owned(),
            None => self.usual_connection(tenant).await?,
        };
        let noted = self.connections().notes(tenant, &connection_id).await?;
        let info = noted.get(INFO).cloned().map(serde_json::from_value);
        let info: Option<EndorserInfo> = info.and_then(std::result::Result::ok);
        let usual = self.terms(tenant).public_did.clone();
        let did = info.map(|info| info.endorser_did).or(usual);
        let unknown = || Error::new(ErrorKind::Forbidden, "endorsement-info-missing");
        Ok(Endorser {
            did: did_beside(&author.did, &did.ok_or_else(unknown)?)?,
            connection_id,
        })
    }

    /// Whether the settings of an agent make it an author.
    #[must_use]
    pub fn is_author(&self, tenant: &TenantId) -> bool {
        self.terms(tenant).role == EndorsementRole::Author
    }

    /// The newest connection with the alias that the settings name.
    pub(crate) async fn usual_connection(&self, tenant: &TenantId) -> Result<String> {
        let none = || Error::bad_request("endorsement-connection-none");
        let alias = self.terms(tenant).alias.clone().ok_or_else(none)?;
        let found = self.connections().named(tenant, &alias).await?;
        found.ok_or_else(none)
    }

    /// Refuses what only the other side of a connection may do.
    pub(crate) async fn must_be(
        &self,
        tenant: &TenantId,
        connection: &str,
        role: TransactionRole,
    ) -> Result<()> {
        let jobs = self.jobs(tenant, connection).await?;
        let usual = match self.terms(tenant).role {
            EndorsementRole::Author => Some(TransactionJob::Author),
            EndorsementRole::Endorser => Some(TransactionJob::Endorser),
            EndorsementRole::None => None,
        };
        let own = jobs.transaction_my_job.or(usual);
        // A peer that has not said what it does may be the other side.
        let theirs = jobs.transaction_their_job;
        match role {
            TransactionRole::Author
                if own == Some(TransactionJob::Author)
                    && theirs.is_none_or(|theirs| theirs == TransactionJob::Endorser) =>
            {
                Ok(())
            }
            TransactionRole::Endorser if own == Some(TransactionJob::Endorser) => Ok(()),
            TransactionRole::Author => {
                Err(Error::new(ErrorKind::Forbidden, "endorsement-no-author"))
            }
            TransactionRole::Endorser => {
                Err(Error::new(ErrorKind::Forbidden, "endorsement-no-endorser"))
            }
        }
    }

    async fn jobs(&self, tenant: &TenantId, connection: &str) -> Result<TransactionJobs> {
        let noted = self.connections().notes(tenant, connection).await?;
        let jobs = noted.get(JOBS).cloned().map(serde_json::from_value);
        Ok(jobs.and_then(std::result::Result::ok).unwrap_or_default())
    }

    async fn note(&self, tenant: &TenantId, connection: &str, noted: ConnectionNote) -> Result<()> {
        let noted = Map::from_iter([(noted.name.to_owned(), noted.value)]);
        self.connections().note(tenant, connection, noted).await
    }
}

/// What is noted of a connection.
struct ConnectionNote {
    name: &'static str,
    value: Value,
}

impl ConnectionNote {
    fn jobs(jobs: TransactionJobs) -> Self {
        Self {
            name: JOBS,
            value: json!(jobs),
        }
    }
}
