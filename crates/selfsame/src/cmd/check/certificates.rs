//! The certificates of the listener for hosts of organisations, which the settings file lists.

use std::path::Path;

use selfsame_core::organisation::{HOST, HostName, ReservedHost};
use selfsame_driver::record::decode;
use selfsame_network::checkup::{CheckedPart, Checkup};
use selfsame_store::backend::{Place, STORE_FILE};
use selfsame_store::offline::{FileRow, StoreFile};
use selfsame_store::{StoreError, TenantId};
use selfsame_terminal::exit::Failure;
use selfsame_terminal::master_key::Custody;
use selfsame_terminal::next_key;

use crate::database::Database;
use crate::settings::TlsSettings;
use crate::tls::faults;

/// The name of the certificates, in place of a file's.
pub const CERTIFICATES: &str = "certificates";
const RENEW: &str = "renew the certificates that are named, or add one under [[tls.hosts]], and send the instance SIGHUP (docs/organisations.md)";
const ELSEWHERE: &str = "the settings list none ([[tls.hosts]]): an authority ([tls.acme]) or a proxy gives them, or the listener's own certificate is for all hosts";

/// Where the hosts of organisations are.
pub struct HostSource<'a> {
    /// The data directory.
    pub data: &'a Path,
    /// The source of the master key.
    pub custody: &'a Custody,
    /// The database with the records, if they are in one.
    pub database: Option<&'a Database>,
}

impl HostSource<'_> {
    /// Adds the result for the certificates that the settings list.
    ///
    /// # Errors
    /// If a certificate or the records can't be read.
    pub async fn look(
        &self,
        settings: Option<TlsSettings>,
        checkup: &mut Checkup,
    ) -> Result<(), Failure> {
        let is_ordered = settings.as_ref().is_some_and(|tls| tls.acme.is_some());
        let listed = settings.map(|tls| tls.hosts).unwrap_or_default();
        let mut part = CheckedPart {
            file: CERTIFICATES,
            what: "hosts",
            seen: 0,
            damage: Vec::new(),
            untold: 0,
            note: None,
        };
        if listed.is_empty() {
            part.note = Some(ELSEWHERE);
        } else {
            let hosts = match is_ordered {
                true => Vec::new(),
                false => self.hosts().await?,
            };
            part.seen = listed.iter().map(|one| one.names.len() as u64).sum();
            part.damage = faults(&listed, &hosts)?;
        }
        if !part.damage.is_empty() {
            checkup.sound = false;
            checkup.next.push(RENEW.to_owned());
        }
        checkup.parts.push(part);
        Ok(())
    }

    async fn hosts(&self) -> Result<Vec<HostName>, Failure> {
        let values = match self.database {
            Some(database) => database.values(self.data, self.custody, HOST).await?,
            None => {
                let vault = next_key::kept_vault(self.custody, self.data)?;
                let values = StoreFile::open(&self.data.join(STORE_FILE), vault).and_then(in_file);
                values.map_err(|error| Failure::environment(error.to_string()))?
            }
        };
        let hosts = values.iter().map(|value| decode::<ReservedHost>(value));
        let hosts = hosts.map(|reserved| Ok(reserved?.host));
        hosts.collect()
    }
}

/// The values of the records of hosts in a file.
fn in_file(file: StoreFile) -> Result<Vec<Vec<u8>>, StoreError> {
    let mut ids = Vec::new();
    file.rows(|row| {
        if let FileRow::Record(Place { kind, id, .. }, ..) = row
            && kind == HOST
        {
            ids.push(id);
        }
        Ok(())
    })?;
    let mut values = Vec::new();
    for id in ids {
        values.extend(file.read(&TenantId::instance(), HOST, &id)?);
    }
    Ok(values)
}
