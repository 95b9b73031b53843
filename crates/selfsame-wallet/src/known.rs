//! Issuers' documents as the wallet keeps them: read and checked once, and small.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use selfsame_driver::Result;
use selfsame_driver::record::{decode, encode};
use selfsame_oauth::ServerMetadata;
use selfsame_openid4vc::wire::metadata::{ConfigurationEntry, IssuerMetadata};
use selfsame_openid4vc::wire::offer::CredentialOffer;

/// An issuer's documents, read and checked. They are kept as JSON, which takes a tenth of the memory of typed members;
/// the credential configurations one by one, since an offer names few of them, and an issuer may have hundreds.
pub(crate) struct KnownIssuer {
    /// Without configurations.
    issuer: Box<[u8]>,
    server: Box<[u8]>,
    /// In the order of their identifiers.
    configurations: Box<[KnownConfiguration]>,
    /// Whether they were fetched for an offer of a credential that they do not describe.
    pub lacks: bool,
}

struct KnownConfiguration {
    id: Box<str>,
    entry: Box<[u8]>,
}

/// An issuer's documents, as far as an offer needs them.
pub(crate) struct OfferingIssuer {
    /// With the configurations that are offered.
    pub issuer: IssuerMetadata,
    pub server: ServerMetadata,
}

impl KnownIssuer {
    /// The documents, which were fetched for an offer that they describe or do not.
    ///
    /// # Errors
    /// `Internal` if they cannot be JSON.
    pub fn new(mut issuer: IssuerMetadata, server: &ServerMetadata, lacks: bool) -> Result<Self> {
        let described = std::mem::take(&mut issuer.credential_configurations_supported);
        let mut configurations = Vec::with_capacity(described.len());
        for (id, entry) in described {
            let (id, entry) = (id.into(), encode(&entry)?.into());
            configurations.push(KnownConfiguration { id, entry });
        }
        Ok(Self {
            issuer: encode(&issuer)?.into(),
            server: encode(server)?.into(),
            configurations: configurations.into(),
            lacks,
        })
    }

    /// The documents with the configurations that an offer names.
    ///
    /// # Errors
    /// `Internal` if they cannot be read again.
    pub fn offering(&self, offer: &CredentialOffer) -> Result<OfferingIssuer> {
        let mut issuer: IssuerMetadata = decode(&self.issuer)?;
        let mut offered = BTreeMap::new();
        for id in &offer.credential_configuration_ids {
            if let Some(entry) = self.configuration(id)? {
                offered.insert(id.clone(), entry);
            }
        }
        issuer.credential_configurations_supported = offered;
        let server = decode(&self.server)?;
        Ok(OfferingIssuer { issuer, server })
    }

    fn configuration(&self, id: &str) -> Result<Option<ConfigurationEntry>> {
        let all = &self.configurations;
        let place = all.binary_search_by(|one| (*one.id).cmp(id)).ok();
        let found = place.and_then(|place| all.get(place));
        found.map(|known| decode(&known.entry)).transpose()
    }

    /// The memory that they take, in bytes.
    pub fn weight(&self) -> usize {
        let of = |known: &KnownConfiguration| {
            let texts = known.id.len().saturating_add(known.entry.len());
            texts.saturating_add(size_of::<KnownConfiguration>())
        };
        let both = self.issuer.len().saturating_add(self.server.len());
        let configurations: usize = self.configurations.iter().map(of).sum();
        both.saturating_add(configurations)
    }
}

/// The documents that the last offers needed, as they were read. Offers of one issuer follow each other.
#[derive(Default)]
pub(crate) struct RecentIssuers(Mutex<VecDeque<RecentIssuer>>);

struct RecentIssuer {
    known: Arc<KnownIssuer>,
    offered: Vec<String>,
    offering: Arc<OfferingIssuer>,
}

impl RecentIssuers {
    const MOST: usize = 8;

    /// The documents with the configurations that an offer names.
    ///
    /// # Errors
    /// Those of [`KnownIssuer::offering`].
    pub fn offering(
        &self,
        known: &Arc<KnownIssuer>,
        offer: &CredentialOffer,
    ) -> Result<Arc<OfferingIssuer>> {
        let offered = &offer.credential_configuration_ids;
        let is_this =
            |one: &&RecentIssuer| Arc::ptr_eq(&one.known, known) && one.offered == *offered;
        let recent = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = recent().iter().find(is_this) {
            return Ok(found.offering.clone());
        }
        let offering = Arc::new(known.offering(offer)?);
        let mut recent = recent();
        recent.truncate(Self::MOST.saturating_sub(1));
        recent.push_front(RecentIssuer {
            known: known.clone(),
            offered: offered.clone(),
            offering: offering.clone(),
        });
        Ok(offering)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn documents(configurations: usize) -> (IssuerMetadata, ServerMetadata) {
        let claim = |number: usize| json!({"path": [format!("claim_{number}")], "mandatory": true, "display": [{"name": format!("Claim {number}"), "locale": "en"}]});
        let claims: Vec<Value> = (0..5).map(claim).collect();
        let entry = |number: usize| {
            let entry = json!({"format": "dc+sd-jwt", "vct": format!("https://types.example/{number}"), "credential_metadata": {"display": [{"name": "Staff pass", "locale": "en"}], "claims": claims}});
            (format!("pass_{number}"), entry)
        };
        let entries: serde_json::Map<String, Value> = (0..configurations).map(entry).collect();
        let issuer = json!({"credential_issuer": "https://issuer.example", "credential_endpoint": "https://issuer.example/credential", "nonce_endpoint": "https://issuer.example/nonce", "display": [{"name": "The issuer"}], "credential_configurations_supported": entries});
        let url = "https://issuer.example/token".parse().unwrap();
        let server = ServerMetadata::pre_authorized("https://issuer.example", url);
        (serde_json::from_value(issuer).unwrap(), server)
    }

    fn offer(ids: &[&str]) -> CredentialOffer {
        let offer = json!({"credential_issuer": "https://issuer.example", "credential_configuration_ids": ids});
        serde_json::from_value(offer).unwrap()
    }

    #[test]
    fn an_offer_gets_the_configurations_that_it_names_and_all_else() {
        let (issuer, server) = documents(3);
        let known = KnownIssuer::new(issuer.clone(), &server, false).unwrap();
        let read = known.offering(&offer(&["pass_2", "pass_7"])).unwrap();
        assert_eq!(read.server, server);
        assert_eq!(read.issuer.display, issuer.display);
        assert_eq!(read.issuer.nonce_endpoint, issuer.nonce_endpoint);
        assert_eq!(
            read.issuer.configuration("pass_2"),
            issuer.configuration("pass_2")
        );
        assert_eq!(read.issuer.credential_configurations_supported.len(), 1);
    }

    #[test]
    fn documents_are_read_once_for_offers_alike_and_again_once_they_are_fetched_again() {
        let (issuer, server) = documents(3);
        let known = || Arc::new(KnownIssuer::new(issuer.clone(), &server, false).unwrap());
        let (first, recent) = (known(), RecentIssuers::default());
        let read =
            |known: &Arc<KnownIssuer>, ids: &[&str]| recent.offering(known, &offer(ids)).unwrap();
        let one = read(&first, &["pass_1"]);
        assert!(Arc::ptr_eq(&one, &read(&first, &["pass_1"])));
        assert!(!Arc::ptr_eq(&one, &read(&first, &["pass_2"])));
        assert!(!Arc::ptr_eq(&one, &read(&known(), &["pass_1"])));
        for _ in 0..RecentIssuers::MOST {
            read(&known(), &["pass_1"]);
        }
        assert!(!Arc::ptr_eq(&one, &read(&first, &["pass_1"])));
        assert_eq!(recent.0.lock().unwrap().len(), RecentIssuers::MOST);
    }

    #[test]
    fn the_documents_take_hardly_more_memory_than_their_text() {
        let (issuer, server) = documents(5);
        let text = encode(&issuer).unwrap().len() + encode(&server).unwrap().len();
        let known = KnownIssuer::new(issuer, &server, false).unwrap();
        assert!(known.weight() < text + 300, "{} of {text}", known.weight());
    }
}
