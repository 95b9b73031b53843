//! DIDs of the method `web`, whose documents are hosted here.

use selfsame_did::{Did, Document, Representation};
use selfsame_driver::{Error, Result};
use selfsame_webvh::parallel;
use serde_json::Value;
use url::Url;

use crate::dids::record::DidRecord;
use crate::dids::{Dids, ended};
use crate::shared::{Shared, below};

/// The path below the origin where `did:web` documents are hosted.
pub const HOSTED: &str = "dids";

impl Dids {
    /// The document hosted below the origin at `path`, which is [`HOSTED`], a slash and a name.
    ///
    /// # Errors
    /// `NotFound` if there is no DID, `Gone` once it is deactivated.
    pub async fn document(&self, path: &str) -> Result<Value> {
        let did = did(&self.shared, path).map_err(|_| absent())?;
        let own = match self.own(&did).await? {
            Some(own) => Some(own),
            None => self.own(&self.log_of(&did).await?.1.did).await?,
        };
        let record = own.ok_or_else(absent)?.record;
        let document = match (record.deactivated, record.did == did) {
            (true, _) => return Err(ended()),
            (false, true) => record.hosted()?,
            (false, false) => parallel(&record.hosted()?).map_err(Error::internal)?,
        };
        Ok(document.to_value(Representation::Did))
    }
}

impl DidRecord {
    /// The document that is hosted for a `did:web`.
    pub fn hosted(&self) -> Result<Document> {
        let mut document = Document::new(self.did.clone());
        for (key, is_current) in self.keys_newest_first() {
            let added = document.add_key(&key.fragment, &key.public()?, is_current);
            added.map_err(Error::internal)?;
        }
        Ok(document)
    }
}

pub(super) fn did(shared: &Shared, path: &str) -> Result<Did> {
    of_url(below(&shared.config.origin, path)?.as_str())
}

/// The DID whose document is hosted below this URL.
pub(super) fn of_url(url: &str) -> Result<Did> {
    let url = Url::parse(url).map_err(Error::internal)?;
    selfsame_did::web::did_for(&url)
        .map_err(|error| Error::bad_request("did-web-origin").with("detail", &error))
}

pub(super) fn absent() -> Error {
    Error::not_found("did-web-absent")
}
